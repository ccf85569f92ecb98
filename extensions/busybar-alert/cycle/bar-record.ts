/**
 * What all pis of this user know about one bar and application name: who wants what on it, what is on it, and whether it
 * answers. Pure types and rules. Times are milliseconds since the machine started.
 */

import type { FailureKind } from "../cli/failures.ts";
import type { ProcessIdentity } from "../processes.ts";
import type { Alert } from "../settings.ts";
import { backoffMs, LONGEST_BACKOFF_MS } from "./backoff.ts";
import type { AlertRequest } from "./request.ts";

/** One pi wants its alert on the bar. Holds all that another pi needs to draw it again, but never the access key. */
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

/** What a pi of this user last drew on the bar. */
export interface Shown extends Lease {
	/** When it was drawn; `sinceMs` is when its alert began. */
	readonly drawnMs: number;
	/** Since when the bar has shown this very picture, for whichever pi. */
	readonly upMs: number;
	/** When the bar ends it itself; null if the CLI lacks `--expires-after`. */
	readonly expiresMs: number | null;
	/** The bar has confirmed it. Otherwise the answer was lost, and it may be on the bar. */
	readonly isConfirmed: boolean;
}

/** One pi's alert that waits for its turn. */
export interface Wish extends Pick<Lease, "owner" | "alert" | "anim" | "display" | "sinceMs"> {
	/** When its pi last said so. */
	readonly toldMs: number;
}

/** The bar did not answer, or something else did in its place. */
export interface Outage {
	readonly kind: OutageKind;
	readonly failures: number;
	readonly lastTryMs: number;
	/** No automatic alert is tried until then. */
	readonly untilMs: number;
}

type OutageKind = "unreachable" | "not_a_bar";

export interface BarRecord {
	readonly addr: string;
	readonly applicationName: string;
	readonly leases: readonly Lease[];
	readonly wishes: readonly Wish[];
	readonly shown: Shown | undefined;
	readonly outage: Outage | undefined;
}

/** A verdict stays on the bar at least this long, unless its own pi has something newer. */
const VERDICT_AT_LEAST_MS = 3_000;
const OWED_TRY_EVERY_MS = 50_000;
/** The next draw begins this much earlier. It takes longer than that, and so comes before the clear. */
const NEXT_IS_DRAWN_EARLIER_MS = 50;
/** A picture that is drawn again for its pi after another one's alert stays at least this long. */
const DRAWN_AGAIN_AT_LEAST_MS = 1_000;
/** A pi that has not begun to draw this long after its turn came was killed or stopped, or no longer wants it. */
const TURN_TAKES_MS = 250;
/** A pi that has not said for this long that it waits does not. */
const WISH_LASTS_MS = 10_000;
/** Whoever waits says so this often. */
export const TELL_WISH_EVERY_MS = 5_000;
/** How long after a picture came up others may have it drawn again although another picture waits. */
const JOINED_WITHIN_MS = 1_000;
/** What is more urgent by one step goes before what has waited this much longer. */
const HEAD_START_MS = 3_000;
const URGENCY: readonly Alert[] = ["turn", "done", "error", "question"];

export function isSame(one: ProcessIdentity, other: ProcessIdentity): boolean {
	return one.pid === other.pid && one.started === other.started;
}

/** Times start again from 0 when the machine starts, so a record with a time in the future is from before that. */
export function isOfThisBoot({ leases, wishes, shown, outage }: BarRecord, nowMs: number): boolean {
	const past = [...[...leases, ...wishes].map(({ sinceMs }) => sinceMs), shown?.drawnMs ?? 0, outage?.lastTryMs ?? 0];
	return past.every((timeMs) => timeMs <= nowMs);
}

/** Undefined when nothing of ours can be on the bar any more. */
export function stillShown({ shown }: BarRecord, nowMs: number): Shown | undefined {
	return shown && (shown.expiresMs === null || shown.expiresMs > nowMs) ? shown : undefined;
}

/** Those of other pis. */
export function wishesOfOthers({ wishes }: BarRecord, self: ProcessIdentity, nowMs: number): readonly Wish[] {
	return wishes.filter(({ owner, toldMs }) => !isSame(owner, self) && nowMs < toldMs + WISH_LASTS_MS);
}

/** When the alert of `wish` may be drawn: after the verdicts that are lit have had their time, and in turn. */
export function turnMs(
	record: BarRecord,
	leasesOfOthers: readonly Lease[],
	wish: Omit<Wish, "toldMs">,
	nowMs: number,
): number {
	const shown = stillShown(record, nowMs);
	const isThere = shown?.isConfirmed === true && isSamePicture(shown, wish);
	const isOurs = shown !== undefined && isSame(shown.owner, wish.owner);
	const before = isOurs ? 0 : picturesBefore(wish, wishesOfOthers(record, wish.owner, nowMs));
	if (isThere && (before === 0 || nowMs < shown.upMs + JOINED_WITHIN_MS)) return nowMs;
	const seenMs = shown ? verdictsSeenMs(shown, leasesOfOthers, wish.owner) - NEXT_IS_DRAWN_EARLIER_MS : 0;
	return before === 0 ? seenMs : Math.max(seenMs, wish.sinceMs) + before * TURN_TAKES_MS;
}

/** When the verdicts of other pis will have been lit for their time. */
function verdictsSeenMs(shown: Shown, leasesOfOthers: readonly Lease[], self: ProcessIdentity): number {
	if (!shown.isConfirmed || shown.alert === "turn") return 0;
	// Others may have drawn the same picture shortly before.
	const same = leasesOfOthers.filter((lease) => isSamePicture(lease, shown));
	const seen = same.map(({ sinceMs, untilMs }) => Math.min(sinceMs + VERDICT_AT_LEAST_MS, untilMs));
	if (!isSame(shown.owner, self)) {
		const enoughMs = Math.max(shown.sinceMs + VERDICT_AT_LEAST_MS, shown.drawnMs + DRAWN_AGAIN_AT_LEAST_MS);
		seen.push(Math.min(enoughMs, shown.untilMs));
	}
	return Math.max(0, ...seen);
}

/** How many other pictures come first. */
function picturesBefore(wish: Omit<Wish, "toldMs">, others: readonly Wish[]): number {
	const rank = ({ alert, sinceMs }: Omit<Wish, "toldMs">) => sinceMs - URGENCY.indexOf(alert) * HEAD_START_MS;
	const before = others.filter((other) => !isSamePicture(other, wish) && rank(other) < rank(wish));
	return new Set(before.map(({ anim, display }) => `${display} ${anim}`)).size;
}

export function isSamePicture(one: Pick<Lease, "anim" | "display">, other: Pick<Lease, "anim" | "display">): boolean {
	return one.anim === other.anim && one.display === other.display;
}

/** What to show when an alert has ended: the most urgent of the leases; among equals, the newest. */
export function mostUrgent(leases: readonly Lease[], nowMs: number): Lease | undefined {
	const rank = ({ alert, sinceMs }: Lease) => URGENCY.indexOf(alert) * 1e12 + sinceMs;
	return leases.filter(({ untilMs }) => untilMs > nowMs).sort((one, other) => rank(other) - rank(one))[0];
}

/** Whether what a dead pi has on the bar may go: its hold is over, or it is a question, which nobody can answer any more. */
export function isLeftOver(shown: Shown, nowMs: number): boolean {
	return shown.alert === "question" || shown.untilMs <= nowMs;
}

/** Another pi's question or error, which a `turn` must not cover; undefined if there is none on the bar. */
export function outranksTurn(record: BarRecord, self: ProcessIdentity, nowMs: number): Shown | undefined {
	const shown = stillShown(record, nowMs);
	const isUrgent = shown?.alert === "question" || shown?.alert === "error";
	return isUrgent && !isSame(shown.owner, self) ? shown : undefined;
}

export function isBackingOff({ outage }: BarRecord, nowMs: number): boolean {
	// A damaged record must not silence alerts for ever.
	return outage !== undefined && nowMs < Math.min(outage.untilMs, outage.lastTryMs + LONGEST_BACKOFF_MS);
}

/** A manual test always tries. Of all owed verdicts on this machine, one a minute may try. */
export function maySkipBackoff({ isManual, owedSinceMs }: AlertRequest, { outage }: BarRecord, nowMs: number): boolean {
	// Something that is not the bar must not be offered the access key every minute.
	if (isManual || outage?.kind === "not_a_bar") return isManual;
	return owedSinceMs !== undefined && nowMs - (outage?.lastTryMs ?? 0) >= OWED_TRY_EVERY_MS;
}

/** Undefined after a success. @param failure how a draw ended */
export function outageAfter(
	before: Outage | undefined,
	failure: FailureKind | undefined,
	nowMs: number,
): Outage | undefined {
	if (failure === undefined) return undefined;
	if (failure !== "unreachable" && failure !== "not_a_bar") return before;
	const failures = before?.failures ?? 0;
	return { kind: failure, failures: failures + 1, lastTryMs: nowMs, untilMs: nowMs + backoffMs(failures) };
}
