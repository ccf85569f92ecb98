/** How long no automatic alert is tried after the bar, or the CLI, was not there. Pure. */

const STEPS_MS = [30_000, 60_000, 120_000, 300_000] as const;

export const LONGEST_BACKOFF_MS = STEPS_MS[3];

/** @param failures how many failures came before this one without a success in between */
export function backoffMs(failures: number): number {
	return STEPS_MS[Math.min(failures, STEPS_MS.length - 1)] ?? 0;
}
