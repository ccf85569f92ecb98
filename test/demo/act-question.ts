// Act: pi asks a question during a run, and the bar shows it until the user answers.

import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { brightest, Film } from "../pictures/film.ts";
import { EXTENSION, untilLit } from "../support/pi-desk.ts";
import { KEY } from "../support/terminal.ts";
import { milliseconds, seconds } from "./report.ts";
import { eventAt, HOLD_SECONDS, LAUNCHER, type Stage } from "./stage.ts";

const ASKING = fileURLToPath(new URL("../support/asking-extension.ts", import.meta.url));
/** Longer than any other alert stays. */
const THINKING_MS = HOLD_SECONDS * 1_000 + 1_500;
/** How soon after the answer the question is gone: cleared, or replaced by the verdict. */
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
			[seconds(0), "gets the prompt", ""],
			[seconds(askedMs - startedMs), "asks: Which one?", ""],
			[seconds(first.atMs - startedMs), "", `question, ${milliseconds(first.atMs - askedMs)} after pi asked`],
			[seconds(answeredMs - startedMs), "gets its answer", ""],
			[seconds(last.atMs - startedMs), "", "question, last seen"],
		],
		[0],
	);
	report.moments([{ caption: "question: pi is waiting for you", screen }]);
	stage.picture("question", screen);
	report.promise(
		"Shown until it is answered",
		isStillLit && last.atMs >= answeredMs - 200,
		`for ${seconds(answeredMs - first.atMs)}; other alerts stay for ${HOLD_SECONDS} s`,
	);
	report.promise(
		`Gone within ${GOES_WITHIN_MS / 1_000} s of the answer`,
		last.atMs - answeredMs < GOES_WITHIN_MS,
		`${milliseconds(Math.max(0, last.atMs - answeredMs))} later`,
	);
	await pi.quit();
}
