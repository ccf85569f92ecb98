/**
 * Whether the user is at this terminal. Listens to stdin alongside pi, without taking or changing any input.
 * Writes to the terminal only to turn focus reports on and off, and only if pi does not do that itself.
 */

import type { EventEmitter } from "node:events";
import type { Readable } from "node:stream";
import type { Clock } from "../clock.ts";
import { type TerminalEvent, TerminalInput } from "./input.ts";

const REPORTS_ON = "\x1b[?1004h";
const REPORTS_OFF = "\x1b[?1004l";
/** A terminal that sleeps or has lost its connection reports nothing, so its last report counts only this long. */
const TRUSTED_MS = 10 * 60_000;
/** How long pi itself waits over SSH before it takes the beginning of a sequence for the Escape key. */
const SEQUENCE_WAIT_MS = 100;

/** What was last known; passed on to the next instance in the same process. */
export interface KnownFocus {
	/** undefined: not known, because the terminal has not reported it. */
	readonly focused: boolean | undefined;
	/** The clock's `monotonicMs` of the last key or report. */
	readonly seenMs: number;
}

export interface TerminalPresenceOptions {
	readonly stdin: Readable;
	/** Must write before it returns, because the process may end next. May throw. */
	readonly write: (text: string) => void;
	readonly clock: Clock;
	/** Whether pi itself turns focus reports on and off; asked again each time pi takes over the terminal. */
	readonly piReportsFocus: () => boolean;
	/** The user pressed a key or switched to this terminal; called at most once per chunk of input. */
	readonly onPresence: () => void;
	readonly known?: KnownFocus;
	/** Its `exit` event is the last moment to turn reports off. Default: this process. */
	readonly exits?: EventEmitter;
}

export class TerminalPresence {
	readonly #options: TerminalPresenceOptions;
	readonly #exits: EventEmitter;
	readonly #input = new TerminalInput();
	#known: KnownFocus;
	#wantsReports = false;
	/** Whether we turned them on. */
	#reportsOn = false;
	#listens = false;
	#isStopped = false;
	#cancelWait: () => void = () => undefined;

	constructor(options: TerminalPresenceOptions) {
		this.#options = options;
		this.#known = options.known ?? { focused: undefined, seenMs: 0 };
		this.#exits = options.exits ?? process;
		const { stdin } = options;
		stdin.on("pause", this.#onPause);
		stdin.on("resume", this.#onResume);
		this.#exits.on("exit", this.#switchOff);
		this.#listen();
	}

	/** True only if a report, or a key after a report, said so within the last ten minutes. */
	get focused(): boolean {
		const { focused, seenMs } = this.#known;
		return focused === true && this.#options.clock.monotonicMs() - seenMs <= TRUSTED_MS;
	}

	get known(): KnownFocus {
		return this.#known;
	}

	/** Without any reports, the focus stays unknown. May be called at any time, and repeatedly. */
	wantReports(wanted: boolean): void {
		if (this.#isStopped) return;
		this.#wantsReports = wanted;
		if (wanted) this.#switchOn();
		else this.#switchOff();
	}

	/** Stops listening; safe to call twice. */
	stop(): void {
		this.#isStopped = true;
		const { stdin } = this.#options;
		this.#wantsReports = false;
		this.#switchOff();
		this.#cancelWait();
		stdin.off("pause", this.#onPause);
		stdin.off("resume", this.#onResume);
		stdin.off("data", this.#onData);
		this.#exits.off("exit", this.#switchOff);
	}

	/** Before pi reads stdin, a listener of ours would start the stream. */
	#listen(): void {
		if (this.#listens || this.#options.stdin.readableFlowing !== true) return;
		this.#listens = true;
		this.#options.stdin.on("data", this.#onData);
	}

	// pi pauses stdin at once, still in raw mode, when it hands the terminal to a shell or an editor, and when it ends.
	readonly #onPause = (): void => {
		this.#switchOff();
		this.#cancelWait();
		// Another program may have the terminal now, and gets the reports.
		this.#known = { ...this.#known, focused: undefined };
	};

	// This comes one tick late. pi may have paused stdin again by then, which `#switchOn` checks.
	readonly #onResume = (): void => {
		this.#listen();
		if (this.#wantsReports) this.#switchOn();
	};

	readonly #onData = (chunk: string | Buffer): void => {
		this.#cancelWait();
		this.#take(this.#input.read(typeof chunk === "string" ? chunk : chunk.toString("latin1")));
		if (!this.#input.isUnfinished) return;
		this.#cancelWait = this.#options.clock.after(SEQUENCE_WAIT_MS, () => this.#take([this.#input.giveUp()]));
	};

	#take(events: readonly TerminalEvent[]): void {
		let { focused } = this.#known;
		for (const event of events) {
			if (event !== "key") focused = event === "focus-in";
			else if (focused === false) focused = true;
		}
		if (events.length === 0) return;
		this.#known = { focused, seenMs: this.#options.clock.monotonicMs() };
		if (events.every((event) => event === "focus-out")) return;
		try {
			this.#options.onPresence();
		} catch {
			// An error here would end pi, or keep the key from it.
		}
	}

	#switchOn(): void {
		if (this.#reportsOn || this.#options.stdin.readableFlowing !== true) return;
		try {
			if (this.#options.piReportsFocus()) return;
			this.#options.write(REPORTS_ON);
			this.#reportsOn = true;
		} catch {
			// pi's objects may be stale, or the terminal gone. The focus then stays unknown, and alerts are shown.
		}
	}

	readonly #switchOff = (): void => {
		if (!this.#reportsOn) return;
		try {
			this.#options.write(REPORTS_OFF);
			this.#reportsOn = false;
		} catch {
			// The terminal is gone, and so are its reports.
		}
	};
}
