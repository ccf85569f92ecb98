/** The bar's BUSY timer, as `/api/busy/snapshot` reads and sets it. Touches only the clock it is given. */

import { isRecord } from "../json.ts";
import type { Clock } from "./clock.ts";

const SETTINGS = { theme: "on_air", show_work_phase_only: false, trigger_smart_home: false };

export class BusyTimer {
	readonly #clock: Clock;
	readonly #changed: (active: boolean) => void;
	#snapshot: Record<string, unknown> = { type: "NOT_STARTED", busy_bar_settings: SETTINGS };
	#setAtMs: number;
	#cancelEnd = (): void => undefined;

	/** Calls `changed` whenever a timer may have started or ended; a paused one is still active. */
	constructor(clock: Clock, changed: (active: boolean) => void) {
		this.#clock = clock;
		this.#changed = changed;
		this.#setAtMs = clock.now();
	}

	get isActive(): boolean {
		return this.#snapshot.type !== "NOT_STARTED";
	}

	snapshot(): { snapshot: Record<string, unknown>; snapshot_timestamp_ms: number } {
		return { snapshot: this.#snapshot, snapshot_timestamp_ms: this.#setAtMs };
	}

	/** False if the body is not a snapshot. A SIMPLE timer ends by itself; an INTERVAL timer runs until it is replaced. */
	set(body: unknown): boolean {
		const snapshot = isRecord(body) ? body.snapshot : undefined;
		if (!isRecord(snapshot) || !isSnapshot(snapshot)) return false;
		this.#cancelEnd();
		this.#cancelEnd = () => undefined;
		this.#snapshot = { busy_bar_settings: SETTINGS, ...snapshot };
		this.#setAtMs = this.#clock.now();
		const leftMs = snapshot.time_left_ms;
		if (snapshot.type === "SIMPLE" && snapshot.is_paused !== true && typeof leftMs === "number") {
			this.#cancelEnd = this.#clock.after(leftMs, () => this.stop());
		}
		this.#changed(this.isActive);
		return true;
	}

	start(): void {
		this.set({ snapshot: { type: "INFINITE", card_id: "00000000-0000-0000-0000-000000000000", is_paused: false } });
	}

	stop(): void {
		this.set({ snapshot: { type: "NOT_STARTED" } });
	}
}

function isSnapshot(snapshot: Record<string, unknown>): boolean {
	const paused = typeof snapshot.is_paused === "boolean" && typeof snapshot.card_id === "string";
	switch (snapshot.type) {
		case "NOT_STARTED":
			return true;
		case "INFINITE":
			return paused;
		case "SIMPLE":
			return paused && typeof snapshot.time_left_ms === "number";
		case "INTERVAL":
			return paused && typeof snapshot.current_interval_time_left_ms === "number";
		default:
			return false;
	}
}
