/**
 * Whether the user is at this terminal: listens beside pi to stdin, takes nothing from it and changes nothing about it.
 * Writes to the terminal only to switch focus reports on, where pi does not, and off again.
 */

import type { EventEmitter } from "node:events";
import type { Readable } from "node:stream";
import type { Clock } from "../clock.ts";
import { type TerminalEvent, TerminalInput } from "./input.ts";

const REPORTS_ON = "\x1b[?1004h";
const REPORTS_OFF = "\x1b[?1004l";
/** A terminal that went to sleep or lost its connection reports nothing; its last word counts only so long. */
const TRUSTED_MS = 10 * 60_000;
/** As long as pi itself waits over SSH before what began like a sequence is the Escape key. */
const SEQUENCE_WAIT_MS = 100;

/** What was last known, for the next instance in the same process. */
export interface KnownFocus {
	/** undefined: the terminal has not said. */
	readonly focused: boolean | undefined;
	/** The clock's `monotonicMs` of the last key or report. */
	readonly seenMs: number;
}

export interface TerminalPresenceOptions {
	readonly stdin: Readable;
	/** Must have written when it returns: what follows may be the end of the process. May throw. */
	readonly write: (text: string) => void;
	readonly clock: Clock;
	/** Whether pi switches focus reports on and off itself; asked again each time it takes over the terminal. */
	readonly piReportsFocus: () => boolean;
	/** The user pressed a key or turned to this terminal; at most once per chunk of input. */
	readonly onPresence: () => void;
	readonly known?: KnownFocus;
	/** Its `exit` is the last moment to switch reports off. Default: this process. */
	readonly exits?: EventEmitter;
}

export class TerminalPresence {
	readonly #options: TerminalPresenceOptions;
	readonly #exits: EventEmitter;
	readonly #input = new TerminalInput();
	#known: KnownFocus;
	#wantsReports = false;
	/** Whether it was us who switched them on. */
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

	/** True only if a report, or a key after one, said so within the last ten minutes. */
	get focused(): boolean {
		const { focused, seenMs } = this.#known;
		return focused === true && this.#options.clock.monotonicMs() - seenMs <= TRUSTED_MS;
	}

	get known(): KnownFocus {
		return this.#known;
	}

	/** Without reports from anywhere the focus stays unknown. May be called at any time and again. */
	wantReports(wanted: boolean): void {
		if (this.#isStopped) return;
		this.#wantsReports = wanted;
		if (wanted) this.#switchOn();
		else this.#switchOff();
	}

	/** Ends everything; safe to call twice. */
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

	/** Before pi reads, a listener of ours would start the stream. */
	#listen(): void {
		if (this.#listens || this.#options.stdin.readableFlowing !== true) return;
		this.#listens = true;
		this.#options.stdin.on("data", this.#onData);
	}

	// pi pauses stdin, at once, whenever it leaves the terminal to a shell, an editor or the end; still in raw mode.
	readonly #onPause = (): void => {
		this.#switchOff();
		this.#cancelWait();
		// Whoever has the terminal now gets the reports.
		this.#known = { ...this.#known, focused: undefined };
	};

	// Comes one tick late, when pi may have paused again; `#switchOn` looks.
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
			// An error here would be pi's: it ends pi, or keeps the key from it.
		}
	}

	#switchOn(): void {
		if (this.#reportsOn || this.#options.stdin.readableFlowing !== true) return;
		try {
			if (this.#options.piReportsFocus()) return;
			this.#options.write(REPORTS_ON);
			this.#reportsOn = true;
		} catch {
			// pi's objects may be stale and the terminal gone: the focus stays unknown, and alerts are shown.
		}
	}

	readonly #switchOff = (): void => {
		if (!this.#reportsOn) return;
		try {
			this.#options.write(REPORTS_OFF);
			this.#reportsOn = false;
		} catch {
			// The terminal is gone, and its reports with it.
		}
	};
}
