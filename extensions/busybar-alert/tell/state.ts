/** The state of alerts as text, for the footer and for `/busybar-alert`. Pure. */

import type { FailureKind } from "../cli/failures.ts";
import { muteText } from "../when/mute.ts";

export interface StateFacts {
	readonly enabled: boolean;
	/** In milliseconds since the Unix epoch; undefined when no mute is saved. */
	readonly mutedUntilMs: number | undefined;
	readonly isMutedHere: boolean;
	/** The reason of the alert that is on its way or on the bar, such as `turn 3`. */
	readonly alerting: string | undefined;
	/** How the last alert failed. */
	readonly problem: FailureKind | undefined;
}

export interface AlertState {
	/** What follows `busybar:` in the footer. */
	readonly footer: string;
	/** What follows `BUSY Bar alerts:`. */
	readonly sentence: string;
	/** Whether the footer shows a failure. */
	readonly isProblem: boolean;
}

export function stateOf(
	{ enabled, mutedUntilMs, isMutedHere, alerting, problem }: StateFacts,
	nowMs: number,
): AlertState {
	const muted = enabled ? muteText(mutedUntilMs, isMutedHere, nowMs) : undefined;
	const silence = enabled ? muted : "off";
	if (alerting !== undefined) {
		const alert = `alerting (${alerting})`;
		return { footer: alert, sentence: `${silence ?? "on"}, ${alert}`, isProblem: false };
	}
	if (silence !== undefined) return { footer: muted ? "muted" : "off", sentence: silence, isProblem: false };
	if (problem) return { footer: problem, sentence: `on, last problem: ${problem}`, isProblem: true };
	return { footer: "on", sentence: "on", isProblem: false };
}
