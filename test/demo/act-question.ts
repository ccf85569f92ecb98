// Act: pi asks its user in the middle of a run, and the bar says so until the answer is given.

import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { brightest, Film } from "../pictures/film.ts";
import { EXTENSION, untilLit } from "../support/pi-desk.ts";
import { KEY } from "../support/terminal.ts";
import { milliseconds, seconds } from "./report.ts";
import { eventAt, HOLD_SECONDS, LAUNCHER, type Stage } from "./stage.ts";

const ASKING = fileURLToPath(new URL("../support/asking-extension.ts", import.meta.url));
/** Longer than any other alert would stay. */
const THINKING_MS = HOLD_SECONDS * 1_000 + 1_500;
/** From the answer to the end of the question on the bar: a clear, or the verdict drawn over it, and a look. */
const GOES_WITHIN_MS = 1_500;

const SCRIPT = [
	{ text: "I need to know.", toolCalls: [{ name: "ask", args: { kind: "select" } }] },
	{ text: "Then left it is." },
];

export async function question(stage: Stage): Promise<void> {
	const { bar, desk, report } = stage;
	const film = new Film(bar);
	const pi = await stage.startPi({ script: SCRIPT, extensions: [LAUNCHER, EXTENSION, ASKING] });
	const running = pi.prompt("please ask me");
	await pi.terminal.waitForText("Which one?");
	await untilLit(bar);
	await delay(THINKING_MS);
	const isStillLit = (await bar.state()).lit.front;
	pi.terminal.write(KEY.enter);
	const events = await running;
	await desk.logged("fired turn 1");
	await film.stop();

	const fired = desk.log().findLast((row) => row.outcome === "fired" && row.alert === "question");
	const shots = fired?.outcome === "fired" ? film.showing(fired.anim) : [];
	const [first, last] = [shots.at(0), shots.at(-1)];
	const screen = brightest(shots);
	if (!first || !last || !screen) throw new Error(`The question was not on the bar.\n${desk.story().join("\n")}`);
	const startedMs = eventAt(events, "input");
	const askedMs = eventAt(events, "ui_prompt_start");
	const answeredMs = eventAt(events, "ui_prompt_end");
	report.table(
		[
			["time", "pi", "BUSY Bar"],
			[seconds(0), "takes the prompt", ""],
			[seconds(askedMs - startedMs), "asks: Which one?", ""],
			[seconds(first.atMs - startedMs), "", `question, ${milliseconds(first.atMs - askedMs)} after it was asked`],
			[seconds(answeredMs - startedMs), "gets its answer", ""],
			[seconds(last.atMs - startedMs), "", "question, for the last time"],
		],
		[0],
	);
	report.moments([{ caption: "question: pi waits for you", screen }]);
	stage.picture("question", screen);
	report.promise(
		"On the bar until it is answered",
		isStillLit && last.atMs >= answeredMs - 200,
		`${seconds(answeredMs - first.atMs)}, other alerts stay ${HOLD_SECONDS} s`,
	);
	report.promise(
		"Gone when it is answered",
		last.atMs - answeredMs < GOES_WITHIN_MS,
		`${milliseconds(Math.max(0, last.atMs - answeredMs))} after the answer`,
	);
	await pi.quit();
}
