/** Time as the alert cycle sees it, so that tests can hand in their own. Touches timers and the system clock. */

import { uptime } from "node:os";

export interface Clock {
	/** Milliseconds that never jump: debounce, hold and back-off are measured with it. */
	monotonicMs(): number;
	/** Milliseconds since the machine started, sleep included: the same for every process, whatever the clock on the wall does. */
	sinceBootMs(): number;
	/** Wall-clock time, milliseconds since the Unix epoch. */
	now(): number;
	/** Calls `run` once after `ms`; returns its cancellation. Never keeps the process alive. */
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
