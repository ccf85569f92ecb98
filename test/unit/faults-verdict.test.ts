import { expect, test } from "vitest";
import { type Expected, failuresOf, type Seen } from "../faults/fault.ts";

const EXPECTED: Expected = {
	log: ["error turn 0 unreachable", "fired turn 1", "cleared turn 1"],
	notices: [/No BUSY Bar/],
	neverSaid: /secret/,
};
const KEPT: Seen = {
	story: EXPECTED.log,
	errors: ["No BUSY Bar at 127.0.0.1:1"],
	notices: ["No BUSY Bar at 127.0.0.1:1"],
	longestWaitMs: 50,
	longestWait: "turn_end",
	exits: ["0"],
	endMs: 2_000,
	stderr: "",
	beyondHoldSeconds: 5,
	shown: 1,
	hasShownNothing: false,
	left: [],
};

test("a row of the table of faults passes if every promise was kept", () => {
	expect(failuresOf(EXPECTED, KEPT)).toEqual([]);
	expect(failuresOf({ ...EXPECTED, killed: 1 }, { ...KEPT, exits: ["SIGKILL", "0"] })).toEqual([]);
	expect(failuresOf({ ...EXPECTED, log: [], or: [{ log: ["fired turn 0"] }, { log: EXPECTED.log }] }, KEPT)).toEqual(
		[],
	);
	const reversed = { ...KEPT, story: KEPT.story.toReversed() };
	expect(failuresOf({ ...EXPECTED, inAnyOrder: true }, reversed)).toEqual([]);
	const atEnd = { ...KEPT, story: [...KEPT.story, "skipped turn 0 withdrawn"] };
	expect(failuresOf({ ...EXPECTED, logAtEnd: ["skipped turn 0 withdrawn"] }, atEnd)).toEqual([]);
});

test.each<[string, Partial<Seen>]>([
	["pi waited 51 ms for the handler of turn_end", { longestWaitMs: 51 }],
	["pi ended with 1", { exits: ["1"] }],
	["pi ended with SIGKILL", { exits: ["SIGKILL"] }],
	["pi ended with still running", { exits: ["still running"] }],
	["pi wrote to stderr", { stderr: "Error: uncaught" }],
	["pi needed 2001 ms to end", { endMs: 2_001 }],
	["left behind: node busybar", { left: ["node busybar"] }],
	["lit 5.5 s beyond its hold", { beyondHoldSeconds: 5.5 }],
	["lit Infinity s beyond its hold", { beyondHoldSeconds: Number.POSITIVE_INFINITY }],
	["the bar took a picture that it cannot show", { hasShownNothing: true }],
	["1 alerts were not shown", { shown: 0 }],
	["the log says: fired turn 1; cleared turn 1; expected: error", { story: EXPECTED.log.slice(1) }],
	["the log says: cleared turn 1; fired turn 1; error", { story: EXPECTED.log.toReversed() }],
	["0 notices, expected 1", { notices: [] }],
	["2 notices, expected 1", { notices: [...KEPT.notices, ...KEPT.notices] }],
	["a notice says: All is well", { notices: ["All is well"] }],
	["it says: the secret", { errors: ["the secret"] }],
])("it fails with: %s", (failure, broken) => {
	expect(failuresOf(EXPECTED, { ...KEPT, ...broken })).toEqual([expect.stringContaining(failure)]);
});
