import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { printSession } from "../support/print-session.ts";

test("a command or a picture of the user's own that cannot be used is refused when it is set", async () => {
	const { session, settings } = printSession();
	const before = readFileSync(settings, "utf8");
	await expect(session.save({ command: "/nowhere/busybar" })).rejects.toThrow("/nowhere/busybar does not exist");
	await expect(session.save({ pattern: "/nowhere/frames" })).rejects.toThrow("/nowhere/frames does not exist");
	await expect(session.save({ patternError: "/nowhere/one.anim" })).rejects.toThrow("/nowhere/one.anim does not exist");
	expect(readFileSync(settings, "utf8")).toBe(before);
});

test("what a run has asked for last is in the log when pi ends", async () => {
	const { session, cacheFolder } = printSession();
	session.policy.turnEnded({ index: 0, outcome: "completed", calledTools: false }, false);
	session.policy.settled(false);
	await session.end(true);
	const rows = readFileSync(join(cacheFolder, "alerts.jsonl"), "utf8").trim().split("\n");
	expect(rows.map((row) => JSON.parse(row))).toMatchObject([
		{ reason: "turn 0", outcome: "skipped" },
		{ reason: "turn 0 (final)", outcome: "skipped" },
	]);
});
