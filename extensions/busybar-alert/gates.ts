/** The gates: the rules that silence an alert, in order, as one pure function. */

import type { Alert } from "./alert.ts";

export type Gate = "nested" | "headless" | "pattern_off" | "backoff" | "in_flight" | "debounce";

/** What the gates look at beside the alert that is asked for. */
export interface Situation {
	/** This pi was started by another pi that still lives, or as a subagent. */
	readonly nested: boolean;
	/** pi runs in print or json mode. */
	readonly headless: boolean;
	/** The pattern setting of this alert is `off`. */
	readonly patternOff: boolean;
	/** The bar, or the way to it, was missing a moment ago. */
	readonly backingOff: boolean;
	/** An alert is on its way or on the bar. */
	readonly inFlight: boolean;
	/** Since the last alert began, on a monotonic clock; Infinity before the first. */
	readonly sinceLastAlertMs: number;
	readonly minIntervalMs: number;
}

/** The first gate that says no; undefined lets the alert through. */
export function gateOf(alert: Alert, situation: Situation): Gate | undefined {
	const turnOnly = alert === "turn";
	const gates: readonly [Gate, boolean][] = [
		["nested", situation.nested],
		["headless", situation.headless],
		["pattern_off", situation.patternOff],
		["backoff", situation.backingOff],
		["in_flight", turnOnly && situation.inFlight],
		["debounce", turnOnly && situation.sinceLastAlertMs < situation.minIntervalMs],
	];
	return gates.find(([, closed]) => closed)?.[0];
}
