/** The gates: the rules that can silence an alert, in order, as one pure function. */

import type { Alert } from "../settings.ts";

export type Gate =
	| "nested"
	| "headless"
	| "muted"
	| "quiet_hours"
	| "focused"
	| "short_run"
	| "pattern_off"
	| "backoff"
	| "in_flight"
	| "debounce"
	| "outranked";

/** What the gates look at, besides the alert. */
export interface Situation {
	/** This pi is a subagent, or was started by another pi that is still running. */
	readonly nested: boolean;
	/** pi runs in print or JSON mode, and the user wants no alerts from there. */
	readonly headless: boolean;
	readonly muted: boolean;
	/** The local time is within the user's quiet hours. */
	readonly quiet: boolean;
	/** The user wants no alerts while the terminal has the focus, and it has the focus. */
	readonly focused: boolean;
	/** Time since the run began, on a monotonic clock. */
	readonly runMs: number;
	readonly minRunSeconds: number;
	/** The pattern setting of this alert is `off`. */
	readonly patternOff: boolean;
	/** A moment ago the bar did not answer, or the CLI could not be started. */
	readonly backingOff: boolean;
	/** An alert is on its way or on the bar. */
	readonly inFlight: boolean;
	/** Time since the last alert began, on a monotonic clock; Infinity before the first. */
	readonly sinceLastAlertMs: number;
	readonly minIntervalMs: number;
	/** Another pi's question or error is on the bar. */
	readonly outranked: boolean;
}

/** The first gate that silences the alert; undefined if none does. */
export function gateOf(alert: Alert, situation: Situation): Gate | undefined {
	const isTurn = alert === "turn";
	const gates: readonly [Gate, boolean][] = [
		["nested", situation.nested],
		["headless", situation.headless],
		["muted", situation.muted],
		["quiet_hours", situation.quiet],
		["focused", situation.focused],
		["short_run", alert !== "question" && situation.runMs < situation.minRunSeconds * 1_000],
		["pattern_off", situation.patternOff],
		["backoff", situation.backingOff],
		["in_flight", isTurn && situation.inFlight],
		["debounce", isTurn && situation.sinceLastAlertMs < situation.minIntervalMs],
		["outranked", isTurn && situation.outranked],
	];
	return gates.find(([, closed]) => closed)?.[0];
}

/**
 * `HH:MM-HH:MM` in local time, including the start but not the end. If the end is earlier than the start, it lasts past
 * midnight. If both are the same, it is never quiet.
 */
export function isQuietAt(quietHours: string, date: Date): boolean {
	const minutes = quietHours.split("-").map((time) => {
		const [hours = Number.NaN, rest = Number.NaN] = time.split(":").map(Number);
		return hours * 60 + rest;
	});
	const [start = Number.NaN, end = Number.NaN] = minutes;
	// Wall-clock time is what people mean, even on the days when the clocks change.
	const now = date.getHours() * 60 + date.getMinutes();
	return start <= end ? start <= now && now < end : start > end && (now >= start || now < end);
}
