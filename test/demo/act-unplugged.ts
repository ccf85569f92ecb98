// Act: the bar hangs, and then it is gone. What that costs pi, and what pi says about it.

import { EXTENSION } from "../support/pi-desk.ts";
import { median, milliseconds } from "./report.ts";
import { eventAt, LAUNCHER, type Stage } from "./stage.ts";

const PROMPTS = 3;
/** Generous, because a single measurement on a busy machine includes other work. */
const WAIT_LIMIT_MS = 50;
const DELAY_LIMIT_MS = 500;

const SCRIPT = Array(PROMPTS)
	.fill([{ text: "Let me look.", toolCalls: [{ name: "bash", args: { command: "true" } }] }, { text: "It is done." }])
	.flat();

/** The events that the alert extension handles while pi works. */
const HANDLED = ["session_start", "agent_start", "turn_end", "agent_settled"];

interface Measured {
	/** Milliseconds from prompt to settled. */
	readonly runMs: number;
	/** For each event: the longest time, in milliseconds, that pi waited for the extensions' handlers. */
	readonly waitsMs: readonly number[];
	readonly screen: string;
}

export async function unplugged(stage: Stage): Promise<void> {
	const { desk, report } = stage;
	const bar = await desk.bar();
	const without = await measure(stage, bar.addr, []);
	await bar.faults({ hang: true });
	const hanging = await measure(stage, bar.addr, [LAUNCHER, EXTENSION]);
	await bar.close();
	const gone = await measure(stage, bar.addr, [LAUNCHER, EXTENSION], /No BUSY Bar at/);

	const row = (name: string, { runMs, waitsMs }: Measured) => [name, milliseconds(runMs), ...waitsMs.map(milliseconds)];
	report.line("How long a prompt takes (median), and how long pi waits for the extensions (longest):");
	report.line();
	report.table(
		[["", "prompt", ...HANDLED], row("no extensions", without), row("bar hangs", hanging), row("bar gone", gone)],
		[1, 2, 3, 4, 5],
	);
	report.line();
	const notice = noticeOn(gone.screen);
	for (const [at, line] of notice.entries()) report.line(`${at === 0 ? "pi says:" : "        "} ${line}`);
	report.line();

	const costs = [hanging, gone].map(({ runMs }) => runMs - without.runMs);
	const longestWaitMs = Math.max(...hanging.waitsMs, ...gone.waitsMs);
	report.promise(
		`A prompt takes < ${DELAY_LIMIT_MS} ms longer`,
		Math.max(...costs) < DELAY_LIMIT_MS,
		`${costs.map(signed).join(" and ")} per prompt`,
	);
	report.promise(
		`pi waits < ${WAIT_LIMIT_MS} ms for extensions`,
		longestWaitMs < WAIT_LIMIT_MS,
		`${milliseconds(longestWaitMs)} at most; ${milliseconds(Math.max(...without.waitsMs))} without extensions`,
	);
	const notices = gone.screen.match(/No BUSY Bar at/g)?.length ?? 0;
	report.promise("One notice, not one per prompt", notices === 1, `${notices} after ${PROMPTS} prompts`);
}

async function measure(stage: Stage, addr: string, extensions: readonly string[], notice?: RegExp): Promise<Measured> {
	const pi = await stage.startPi({ script: SCRIPT, addr, extensions });
	const runsMs: number[] = [];
	for (let prompt = 1; prompt <= PROMPTS; prompt++) {
		const events = await pi.prompt(`please look, time ${prompt}`);
		runsMs.push(eventAt(events, "agent_settled") - eventAt(events, "input"));
		// So that the next prompts meet a failure that the user already knows.
		if (notice) await pi.terminal.waitForText(notice);
	}
	const screen = pi.terminal.screen().join("\n");
	const waitsMs = HANDLED.map((handled) =>
		Math.max(...pi.events.filter(({ type }) => type === handled).map(({ waitedMs }) => waitedMs)),
	);
	await pi.quit();
	return { runMs: median(runsMs), waitsMs, screen };
}

/** All lines of the notice, up to the empty line after it. */
function noticeOn(screen: string): string[] {
	const lines = screen.split("\n");
	const start = lines.findIndex((line) => line.includes("No BUSY Bar at"));
	const rest = start < 0 ? [] : lines.slice(start);
	const end = rest.findIndex((line) => line.trim() === "");
	return rest.slice(0, end < 0 ? rest.length : end).map((line) => line.trim());
}

function signed(ms: number): string {
	return `${ms < 0 ? "-" : "+"}${milliseconds(Math.abs(ms))}`;
}
