/** The simulated bar's clock: a parameter, so that tests can move it by hand. */

export interface Clock {
	/** Milliseconds since the Unix epoch. */
	now(): number;
	/** Calls `run` once after the delay. Returns a function that cancels it. */
	after(delayMs: number, run: () => void): () => void;
}

/** Node shortens longer timers to 1 ms, which would end an element at once instead of in a month. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The clock of the machine. Its timers do not keep the process alive. */
export const systemClock: Clock = {
	now: () => Date.now(),
	after(delayMs, run) {
		const timer = setTimeout(run, Math.min(delayMs, LONGEST_TIMER_MS));
		timer.unref();
		return () => clearTimeout(timer);
	},
};
