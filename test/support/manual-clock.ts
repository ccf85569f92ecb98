// A clock that stands still until a test moves it.

import type { Clock } from "../../busybar/simulate/clock.ts";

export class ManualClock implements Clock {
	#nowMs: number;
	readonly #timers = new Map<symbol, { dueMs: number; run: () => void }>();

	constructor(startMs = 1_800_000_000_000) {
		this.#nowMs = startMs;
	}

	get pendingTimers(): number {
		return this.#timers.size;
	}

	now(): number {
		return this.#nowMs;
	}

	after(delayMs: number, run: () => void): () => void {
		const key = Symbol();
		this.#timers.set(key, { dueMs: this.#nowMs + delayMs, run });
		return () => this.#timers.delete(key);
	}

	/** Runs what falls due on the way, in its order, with the time it was due at. */
	advance(ms: number): void {
		const endMs = this.#nowMs + ms;
		for (;;) {
			const [next] = [...this.#timers]
				.filter(([, { dueMs }]) => dueMs <= endMs)
				.sort(([, a], [, b]) => a.dueMs - b.dueMs);
			if (next === undefined) break;
			const [key, { dueMs, run }] = next;
			this.#timers.delete(key);
			this.#nowMs = dueMs;
			run();
		}
		this.#nowMs = endMs;
	}
}
