/**
 * What the pis of this user know together about one bar under one application name: who wants what on it, what is on
 * it, and whether it answers. Pure: types and rules. Times are milliseconds since the machine started.
 */

import type { ProcessIdentity } from "../processes.ts";
import type { Alert } from "../settings.ts";
import { backoffMs } from "./backoff.ts";
import type { AlertRequest } from "./request.ts";

/** One pi's wish to have its alert on the bar. Holds all that another pi needs to draw it again; never the access key. */
export interface Lease {
	readonly owner: ProcessIdentity;
	readonly alert: Alert;
	readonly reason: string;
	readonly session: string;
	readonly pattern: string;
	readonly anim: string;
	readonly display: AlertRequest["target"]["display"];
	readonly priority: number;
	readonly sinceMs: number;
	readonly untilMs: number;
}

/** The last drawing of ours that the bar took. */
export interface Shown extends Lease {
	/** When it was drawn; `sinceMs` is when its alert began. */
	readonly drawnMs: number;
	/** When the bar ends it by itself; null with a CLI that cannot let it expire. */
	readonly expiresMs: number | null;
	/** The bar has said so. Otherwise it may be on the bar: its answer was lost. */
	readonly isConfirmed: boolean;
}

/** The bar did not answer. */
export interface Outage {
	readonly failures: number;
	readonly lastTryMs: number;
	/** Automatic alerts stay away until then. */
	readonly untilMs: number;
}

export interface BarRecord {
	readonly addr: string;
	readonly applicationName: string;
	readonly leases: readonly Lease[];
	readonly shown: Shown | undefined;
	readonly outage: Outage | undefined;
}

/** What a verdict stays on the bar at least, unless its own pi has something newer. */
const VERDICT_AT_LEAST_MS = 3_000;
const URGENCY: readonly Alert[] = ["turn", "done", "error", "question"];

export function isSame(one: ProcessIdentity, other: ProcessIdentity): boolean {
	return one.pid === other.pid && one.started === other.started;
}

/** The machine's time began anew with its last start: what happened later than now happened before that. */
export function isOfThisBoot({ leases, shown, outage }: BarRecord, nowMs: number): boolean {
	const past = [...leases.map(({ sinceMs }) => sinceMs), shown?.drawnMs ?? 0, outage?.lastTryMs ?? 0];
	return past.every((timeMs) => timeMs <= nowMs);
}

/** Undefined when nothing of ours can be on the bar any more. */
export function stillShown({ shown }: BarRecord, nowMs: number): Shown | undefined {
	return shown && (shown.expiresMs === null || shown.expiresMs > nowMs) ? shown : undefined;
}

/** How long a new picture of `self` has to wait until the verdicts that other pis have on the bar were seen; 0 for none. */
export function waitForVerdictsMs(
	shown: Shown | undefined,
	leasesOfOthers: readonly Lease[],
	self: ProcessIdentity,
	nowMs: number,
): number {
	if (!shown?.isConfirmed || shown.alert === "turn") return 0;
	// The last to draw may have drawn again what others had drawn before.
	const same = leasesOfOthers.filter(({ anim, display }) => anim === shown.anim && display === shown.display);
	const drawn = same.map(({ sinceMs, untilMs }) => ({ drawnMs: sinceMs, untilMs }));
	if (!isSame(shown.owner, self)) drawn.push(shown);
	const left = drawn.map(({ drawnMs, untilMs }) => Math.min(drawnMs + VERDICT_AT_LEAST_MS, untilMs) - nowMs);
	return Math.max(0, ...left.map(Math.ceil));
}

/** What belongs on the bar when the alert before it ends: the most urgent of the leases, of equal ones the newest. */
export function mostUrgent(leases: readonly Lease[], nowMs: number): Lease | undefined {
	const rank = ({ alert, sinceMs }: Lease) => URGENCY.indexOf(alert) * 1e12 + sinceMs;
	return leases.filter(({ untilMs }) => untilMs > nowMs).sort((one, other) => rank(other) - rank(one))[0];
}

/** A pi that died in its hold is owed the rest of it, but for a question, which nobody can answer any more. */
export function isLeftOver(shown: Shown, nowMs: number): boolean {
	return shown.alert === "question" || shown.untilMs <= nowMs;
}

/** Whether another pi's question or error is on the bar, which a mere `turn` must not cover. */
export function outranksTurn(record: BarRecord, self: ProcessIdentity, nowMs: number): Shown | undefined {
	const shown = stillShown(record, nowMs);
	const isUrgent = shown?.alert === "question" || shown?.alert === "error";
	return isUrgent && !isSame(shown.owner, self) ? shown : undefined;
}

export function isBackingOff({ outage }: BarRecord, nowMs: number): boolean {
	return outage !== undefined && nowMs < outage.untilMs;
}

export function outageAfter(before: Outage | undefined, nowMs: number): Outage {
	const failures = before?.failures ?? 0;
	return { failures: failures + 1, lastTryMs: nowMs, untilMs: nowMs + backoffMs(failures) };
}
