/** How long automatic alerts stay away from a bar, or a CLI, that is not there. Pure; takes the time as a parameter. */

import type { FailureKind } from "../cli/failures.ts";

const STEPS_MS = [30_000, 60_000, 120_000, 300_000] as const;
const ABSENT: ReadonlySet<FailureKind> = new Set(["unreachable", "not_found", "no_node"]);

export class Backoff {
	#failures = 0;
	#untilMs = Number.NEGATIVE_INFINITY;

	active(nowMs: number): boolean {
		return nowMs < this.#untilMs;
	}

	/** Only a failure to get through counts; a bar that refuses is there. */
	failed(kind: FailureKind, nowMs: number): void {
		if (!ABSENT.has(kind)) return;
		this.#untilMs = nowMs + (STEPS_MS[Math.min(this.#failures, STEPS_MS.length - 1)] ?? 0);
		this.#failures += 1;
	}

	/** A success, a manual test or a changed setting. */
	reset(): void {
		this.#failures = 0;
		this.#untilMs = Number.NEGATIVE_INFINITY;
	}
}
