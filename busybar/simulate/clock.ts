/** Time as the simulated bar sees it. Handed in, so that tests can move it by hand. */

export interface Clock {
	/** Milliseconds since the Unix epoch. */
	now(): number;
	/** Runs once after the delay; the result cancels it. */
	after(delayMs: number, run: () => void): () => void;
}

/** Node cuts longer timers to 1 ms, which would end an element at once instead of in a month. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The machine's clock. Its timers never keep the process alive. */
export const systemClock: Clock = {
	now: () => Date.now(),
	after(delayMs, run) {
		const timer = setTimeout(run, Math.min(delayMs, LONGEST_TIMER_MS));
		timer.unref();
		return () => clearTimeout(timer);
	},
};
