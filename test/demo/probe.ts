// Records what pi does and when: the two halves of a stopwatch, with the measured extensions loaded between them.
// Appends to the file named in PI_DEMO_EVENTS.

import { appendFileSync, readFileSync } from "node:fs";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

/** One event of pi. */
export interface PiEvent {
	readonly type: string;
	/** Milliseconds since the Unix epoch, with fractions: when pi called the first handler. */
	readonly atMs: number;
	/**
	 * How long pi waited for the handlers in between. pi awaits handlers one by one, in load order. On Linux, time in which
	 * all processors were busy with other processes does not count.
	 */
	readonly waitedMs: number;
	/** Only for `turn_end`. */
	readonly turnIndex?: number;
}

const EVENTS = [
	"session_start",
	"input",
	"agent_start",
	"tool_execution_start",
	"ui_prompt_start",
	"ui_prompt_end",
	"turn_end",
	"agent_settled",
];
const STARTED = Symbol.for("pi-busybar-alert.demo.started");

/** The first half, loaded before the measured extensions. */
export function startStopwatch(pi: ExtensionAPI): void {
	const process = globalThis as { [STARTED]?: Instant };
	listen(pi, () => {
		process[STARTED] = { queuedMs: queuedMs(), atMs: performance.now() };
	});
}

/** The second half, loaded after them. */
export function stopStopwatch(pi: ExtensionAPI): void {
	const process = globalThis as { [STARTED]?: Instant };
	listen(pi, ({ type, turnIndex }) => {
		const stopped = { atMs: performance.now(), queuedMs: queuedMs() };
		const started = process[STARTED] ?? stopped;
		const waitedMs = Math.max(0, stopped.atMs - started.atMs - (stopped.queuedMs - started.queuedMs));
		const event = { type, atMs: performance.timeOrigin + started.atMs, waitedMs, turnIndex };
		appendFileSync(eventsFile(), `${JSON.stringify(event)}\n`);
	});
}

interface Instant {
	readonly atMs: number;
	/** How long this thread had waited for a processor until then. */
	readonly queuedMs: number;
}

/** How long this thread has been ready to run so far, without a processor. 0 if the system does not tell. */
export function queuedMs(): number {
	try {
		const [, nanoseconds] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, "latin1").split(" ");
		return Number(nanoseconds) / 1e6;
	} catch {
		return 0;
	}
}

/** The events that a process has written so far. */
export function readEvents(file: string): PiEvent[] {
	const lines = readFileSync(file, { encoding: "utf8", flag: "a+" }).split("\n");
	// The last line is empty, or still being written.
	return lines.slice(0, -1).map((line) => JSON.parse(line) as PiEvent);
}

function eventsFile(): string {
	const file = process.env.PI_DEMO_EVENTS;
	if (file === undefined) throw new Error("PI_DEMO_EVENTS must name the file for pi's events.");
	return file;
}

function listen(pi: ExtensionAPI, handler: (event: { type: string; turnIndex?: number }) => void): void {
	// The overloads of `on` do not accept event names that are data.
	const on = pi.on.bind(pi) as unknown as (type: string, handler: (event: { type: string }) => void) => void;
	for (const type of EVENTS) on(type, handler);
}
