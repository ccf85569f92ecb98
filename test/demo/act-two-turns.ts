// Act: one prompt with two turns, and what the bar shows; then what an alert costs once the bar has the files.

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { JournalEntry } from "../../busybar/simulate/journal.ts";
import type { LogRow } from "../../extensions/busybar-alert/log.ts";
import { brightest, Film } from "../pictures/film.ts";
import { requests, untilDark } from "../support/pi-desk.ts";
import { waitUntil } from "../support/wait.ts";
import { median, milliseconds, seconds } from "./report.ts";
import { type ActingPi, eventAt, HOLD_SECONDS, type Stage } from "./stage.ts";

const BUSYBAR = fileURLToPath(new URL("../../busybar/bin.js", import.meta.url));
const DRAW = "POST /api/display/draw";
const REPEATS = 3;
/** Generous, because this measures few alerts on a machine that may be busy. */
const RATIO_LIMIT = 3;

const SCRIPT = [
	{ text: "Let me run the tests.", toolCalls: [{ name: "bash", args: { command: "sleep 1; echo 42 passed" } }] },
	{ text: "All 42 tests pass.", delayMs: 2500 },
	...Array(REPEATS).fill({ text: "Nothing has changed." }),
];

type FiredRow = Extract<LogRow, { outcome: "fired" }>;

export async function twoTurns(stage: Stage): Promise<void> {
	const { bar, desk, report } = stage;
	const film = new Film(bar);
	const pi = await stage.startPi({ script: SCRIPT });
	const events = await pi.prompt("please run the tests");
	await desk.logged("cleared turn 1");
	await untilDark(bar);
	await film.stop();

	const journal = await bar.journal();
	const [turnDraw, doneDraw] = journal.filter(isDraw);
	const turn = firedRow(desk.log(), "turn 0");
	const done = firedRow(desk.log(), "turn 1");
	if (!turnDraw || !doneDraw || !turn || !done) {
		throw new Error(`The bar was not drawn to twice.\n${desk.story().join("\n")}`);
	}
	const later = ({ pattern }: FiredRow, ms: number) =>
		`${pattern}, ${milliseconds(ms)} later, including building the file`;
	const startedMs = eventAt(events, "input");
	const turnEndMs = eventAt(events, "turn_end", 0);
	const doneEndMs = eventAt(events, "turn_end", 1);
	const darkMs = film.darkAfter(doneDraw.at);
	report.table(
		[
			["time", "pi", "BUSY Bar"],
			[seconds(0), "gets the prompt", ""],
			[seconds(eventAt(events, "tool_execution_start") - startedMs), "runs a tool", ""],
			[seconds(turnEndMs - startedMs), "ends turn 0", ""],
			[seconds(turnDraw.at - startedMs), "", later(turn, turnDraw.at - turnEndMs)],
			[seconds(doneEndMs - startedMs), "ends turn 1 and has finished", ""],
			[seconds(doneDraw.at - startedMs), "", later(done, doneDraw.at - doneEndMs)],
			[seconds((darkMs ?? Number.NaN) - startedMs), "", "dark"],
		],
		[0],
	);

	const turnShots = film.showing(turn.anim);
	const doneShots = film.showing(done.anim);
	const moments = [
		{ name: "turn", caption: `${turn.pattern}: pi carries on`, shots: turnShots },
		{ name: "done", caption: `${done.pattern}: the run has finished`, shots: doneShots },
	].flatMap(({ name, caption, shots }) => {
		const screen = brightest(shots);
		return screen ? [{ name, caption, screen }] : [];
	});
	report.moments(moments);
	for (const { name, screen } of moments) stage.picture(name, screen);

	const counts = countsOf(journal);
	const seen = (shots: readonly unknown[]) => `seen in ${shots.length} frames, pixel by pixel`;
	report.promise("A turn lights the bar", turnShots.length > 0, seen(turnShots));
	report.promise("The verdict replaces it", doneShots.length > 0, seen(doneShots));
	const litMs = (darkMs ?? Number.POSITIVE_INFINITY) - doneDraw.at;
	report.promise(
		`Dark after the hold time of ${HOLD_SECONDS} s`,
		litMs >= HOLD_SECONDS * 1000 && litMs < (HOLD_SECONDS + 5) * 1000,
		`${seconds(litMs)} after it was drawn`,
	);
	report.promise("Two files, two alerts, one clear", counts === "2 listings, 2 uploads, 2 draws, 1 clear", counts);
	await repeats(stage, pi, done);
	await pi.quit();
}

/** More verdicts with a file that the bar already has. Each one replaces the one before. */
async function repeats(stage: Stage, pi: ActingPi, done: FiredRow): Promise<void> {
	const { bar, desk, report } = stage;
	const before = (await bar.journal()).length;
	const delaysMs: number[] = [];
	for (let repeat = 1; repeat <= REPEATS; repeat++) {
		const events = await pi.prompt(`again, time ${repeat}`);
		const draws = await waitUntil("The draw of a verdict", 10_000, async () => {
			const found = (await bar.journal()).slice(before).filter(isDraw);
			return found.length === repeat && found;
		});
		delaysMs.push((draws.at(-1)?.at ?? Number.NaN) - eventAt(events, "turn_end"));
		const fired = () => desk.story().filter((row) => row === "fired turn 0").length === repeat + 1;
		await waitUntil("The log row of a verdict", 10_000, fired);
	}
	await untilDark(bar);
	const counts = countsOf((await bar.journal()).slice(before));
	const wanted = `${REPEATS} listings, 0 uploads, ${REPEATS} draws, 1 clear`;
	report.promise(`${REPEATS} more alerts, no uploads`, counts === wanted, counts);

	const bareMs = median(await bareShows(stage, done.anim));
	const delayMs = median(delaysMs);
	const ratio = delayMs / bareMs;
	report.promise(
		`At most ${RATIO_LIMIT} x \`busybar show\` alone`,
		ratio < RATIO_LIMIT,
		`x ${ratio.toFixed(2)}: ${milliseconds(delayMs)} instead of ${milliseconds(bareMs)}`,
	);
}

/** How long `busybar show` takes from its start until its draw arrives, in milliseconds; measured several times. */
async function bareShows({ bar, desk }: Stage, anim: string): Promise<number[]> {
	const target = ["--addr", bar.addr, "--application-name", "pi-turn-alert"];
	const drawing = ["--input", anim, "--display", "front", "--priority", "60", "--loop", "--expires-after", "7"];
	const run = (args: readonly string[]) =>
		promisify(execFile)(process.execPath, [BUSYBAR, ...args], { env: desk.home.env(), timeout: 10_000 });
	const delaysMs: number[] = [];
	for (let repeat = 0; repeat < REPEATS; repeat++) {
		const startedMs = Date.now();
		await run(["show", ...target, ...drawing]);
		const draw = (await bar.journal()).findLast(isDraw);
		delaysMs.push((draw?.at ?? Number.NaN) - startedMs);
	}
	await run(["clear", ...target]);
	return delaysMs;
}

function isDraw({ method, path }: JournalEntry): boolean {
	return `${method} ${path}` === DRAW;
}

function countsOf(journal: readonly JournalEntry[]): string {
	const all = requests(journal);
	const counted = Object.entries({
		listing: "GET /api/storage/list",
		upload: "POST /api/assets/upload",
		draw: DRAW,
		clear: "DELETE /api/display/draw",
	}).map(([name, request]) => {
		const count = all.filter((each) => each === request).length;
		return `${count} ${name}${count === 1 ? "" : "s"}`;
	});
	return counted.join(", ");
}

function firedRow(rows: readonly LogRow[], reason: string): FiredRow | undefined {
	return rows.find((row): row is FiredRow => row.outcome === "fired" && row.reason === reason);
}
