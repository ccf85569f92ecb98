/** How long automatic alerts stay away from a bar, or a CLI, that is not there. Pure. */

const STEPS_MS = [30_000, 60_000, 120_000, 300_000] as const;

/** @param failures how many came before, without a success between them */
export function backoffMs(failures: number): number {
	return STEPS_MS[Math.min(failures, STEPS_MS.length - 1)] ?? 0;
}
