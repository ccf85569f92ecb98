// A clock that stands still until a test moves it.

import type { Clock as BarClock } from "../../busybar/simulate/clock.ts";
import type { Clock as AlertClock } from "../../extensions/busybar-alert/clock.ts";

export class ManualClock implements BarClock, AlertClock {
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

	sinceBootMs(): number {
		return this.#nowMs;
	}

	monotonicMs(): number {
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
		while (this.#runNext(endMs));
		this.#nowMs = endMs;
	}

	/** The same for code that awaits between its timers: everything that can go on does, before the time moves on. */
	async advanceAsync(ms: number): Promise<void> {
		const endMs = this.#nowMs + ms;
		await promisesToSettle();
		while (this.#runNext(endMs)) await promisesToSettle();
		this.#nowMs = endMs;
	}

	#runNext(endMs: number): boolean {
		const [next] = [...this.#timers]
			.filter(([, { dueMs }]) => dueMs <= endMs)
			.sort(([, a], [, b]) => a.dueMs - b.dueMs);
		if (next === undefined) return false;
		const [key, { dueMs, run }] = next;
		this.#timers.delete(key);
		this.#nowMs = dueMs;
		run();
		return true;
	}
}

/** An immediate comes after all microtasks, however many each starts. */
const promisesToSettle = () => new Promise<void>((resolve) => setImmediate(resolve));
