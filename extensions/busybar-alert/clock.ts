/** Time as the alert cycle sees it, so that tests can pass in their own clock. Touches timers and the system clock. */

import { uptime } from "node:os";

export interface Clock {
	/** Milliseconds that never jump. */
	monotonicMs(): number;
	/** Milliseconds since the machine started, including sleep. The same for all processes, whatever the wall clock does. */
	sinceBootMs(): number;
	/** Wall-clock time, milliseconds since the Unix epoch. */
	now(): number;
	/** Calls `run` once after `ms`; returns a function that cancels it. Never keeps the process alive. */
	after(ms: number, run: () => void): () => void;
}

export const systemClock: Clock = {
	monotonicMs: () => performance.now(),
	sinceBootMs: () => uptime() * 1_000,
	now: () => Date.now(),
	after(ms, run) {
		const timer = setTimeout(run, ms).unref();
		return () => clearTimeout(timer);
	},
};
