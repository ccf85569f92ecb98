// What was seen of a death, and the promises that it is held against. Pure.

import type { JournalEntry } from "../../busybar/simulate/journal.ts";
import type { LogRow } from "../../extensions/busybar-alert/log.ts";
import type { ExitStatus } from "../support/terminal.ts";
import { isClear, isDraw, type LitTime } from "./deaths-bar.ts";
import { type Death, STAGES } from "./deaths-pi.ts";
import type { FaultRow } from "./report.ts";

/** Times are milliseconds since the Unix epoch. */
export interface Seen {
	readonly death: Death;
	/** When pi was told to end. */
	readonly endMs: number;
	/** When it was gone, or had its next session. */
	readonly diedMs: number;
	/** Undefined if its session was replaced. */
	readonly exit: ExitStatus | undefined;
	/** When the next pi had started. */
	readonly nextMs: number | undefined;
	readonly journal: readonly JournalEntry[];
	readonly lit: readonly LitTime[];
	readonly log: readonly LogRow[];
	/** The command lines of processes that should have ended. */
	readonly leftBehind: readonly string[];
}

export const COLUMNS = [
	"how pi ended",
	"stage",
	"dark, s after the end",
	"s beyond the hold",
	"made dark by",
	"pi ended after",
	"last in the log",
	"true",
	"children left",
] as const;

const TIMER = "the bar's timer";
const BAR_MARGIN_MS = 5_000;
/** A question's lifetime on the bar, which is renewed while pi lives. */
const QUESTION_LIFETIME_MS = 45_000;
/** What a look at the bar and a timer of two busy processors may be late. */
const LATE_MS = 300;
/** From the bar's answer to a pi that knows it. */
const HEARD_MS = 1_000;
const END_LIMIT_MS = 2_000;
/** An alert that its user may have seen stays at least this long, or for its hold if that is less. */
const SEEN_MS = 3_000;

/** When the bar has to be dark. */
export function darkLimitMs(seen: Omit<Seen, "exit" | "log" | "leftBehind">): number {
	const byHoldMs = holdEndMs(seen) + BAR_MARGIN_MS;
	if (seen.death.stage === "question") return Math.min(byHoldMs, seen.diedMs + QUESTION_LIFETIME_MS + BAR_MARGIN_MS);
	// With such a CLI the bar itself ends nothing: only the next pi can.
	return seen.death.hasPlainCli ? Math.max(byHoldMs, (seen.nextMs ?? 0) + BAR_MARGIN_MS) : byHoldMs;
}

export function rowOf(seen: Seen): FaultRow {
	const { death, endMs, diedMs, exit, leftBehind } = seen;
	const darkMs = seen.lit.at(-1)?.toMs;
	return {
		cells: [
			death.how,
			STAGES[death.stage],
			darkMs === undefined ? "-" : seconds(darkMs - endMs),
			darkMs === undefined ? "-" : seconds(darkMs - holdEndMs(seen)),
			whoMadeItDark(seen),
			`${diedMs - endMs} ms, ${exit ? (exit.signal ?? `exit ${exit.code}`) : "next session"}`,
			lastWords(seen.log),
			truth(seen),
			leftBehind.length,
		],
		failures: failuresOf(seen),
	};
}

/** Of a row that has seen nothing. */
export function emptyRow({ how, stage }: Death, why: Pick<FaultRow, "failures" | "notRun">): FaultRow {
	const name = [how, STAGES[stage]];
	return { cells: [...name, ...COLUMNS.slice(name.length).map(() => "")], ...why };
}

function failuresOf(seen: Seen): string[] {
	const { death, endMs, diedMs, lit, leftBehind, journal } = seen;
	const failures: string[] = [];
	const last = lit.at(-1);
	const lateMs = (last?.toMs ?? 0) - darkLimitMs(seen);
	if (last && last.toMs === undefined) failures.push("still lit");
	if (lateMs > LATE_MS) failures.push(`lit ${seconds(lateMs)} s longer than it may be`);
	if (whoMadeItDark(seen) === TIMER && !mayExpire(death)) failures.push("nobody cleared the bar");
	if (diedMs - endMs > END_LIMIT_MS) failures.push(`pi needed ${diedMs - endMs} ms to end`);
	if (leftBehind.length > 0) failures.push(`left behind: ${leftBehind.join("; ")}`);
	const words = truth(seen);
	if (words.startsWith("no")) failures.push(`the log is wrong: ${words}`);
	if (death.isReplaced) return [...failures, ...failuresOfReplaced(seen)];
	const deadFromMs = death.isSudden ? endMs : diedMs;
	const drawn = journal.find((entry) => isDraw(entry) && entry.at > deadFromMs);
	if (drawn) failures.push(`a draw came ${seconds(drawn.at - deadFromMs)} s after pi's death`);
	return failures;
}

/** The alert goes on as if nothing had happened. */
function failuresOfReplaced({ death, lit, journal, log }: Seen): string[] {
	const clears = journal.filter(isClear).length;
	const rows = log.filter(({ outcome }) => outcome === "cleared").length;
	const failures = clears === 1 && rows === 1 ? [] : [`${clears} clears, ${rows} in the log`];
	const last = lit.at(-1);
	if (!last) return [...failures, "the alert was lost"];
	const litMs = (last.toMs ?? Number.POSITIVE_INFINITY) - last.fromMs;
	// A question is over with the session that asked it.
	const isShort = death.stage !== "question" && litMs < Math.min(SEEN_MS, death.holdSeconds * 1_000) - LATE_MS;
	return isShort ? [...failures, `lit for ${seconds(litMs)} s only`] : failures;
}

function holdEndMs({ death, endMs, journal, lit }: Pick<Seen, "death" | "endMs" | "journal" | "lit">): number {
	const drawn = lastDraw(journal);
	// A draw that waited at the bar is lit later than it came.
	return Math.max(drawn?.at ?? endMs, lit.at(-1)?.fromMs ?? 0) + death.holdSeconds * 1_000;
}

/** Who could have cleared the bar was killed, or cannot outlive a pi that gave up waiting for the bar. */
function mayExpire({ isSudden, container, mode, stage }: Death): boolean {
	return isSudden || (container !== undefined && (mode === "print" || stage === "sent" || stage === "parked"));
}

function whoMadeItDark({ death, lit, journal, log, endMs, diedMs }: Seen): string {
	const last = lit.at(-1);
	if (!last) return "nobody: never lit";
	const { toMs } = last;
	if (toMs === undefined) return "nobody";
	const litMs = Math.max(lastDraw(journal)?.at ?? 0, last.fromMs);
	const clear = journal.find((entry) => isClear(entry) && entry.at > litMs && entry.at <= toMs);
	if (!clear) return TIMER;
	const row = cleared(log);
	if (row?.leftBy !== undefined) return "the next pi";
	if (death.isReplaced) return "pi";
	if (clear.at < endMs) return "pi, before its end";
	return clear.at > (row?.detached ? Date.parse(row.ts) : diedMs) ? "a detached process" : "pi, as it ended";
}

function lastWords(log: readonly LogRow[]): string {
	const row = cleared(log);
	if (row) return row.leftBy !== undefined ? "cleared, leftBy" : row.detached ? "cleared detached" : "cleared";
	const last = log.at(-1);
	if (!last) return "none";
	return `none (${last.outcome === "skipped" ? `skipped ${last.gate}` : last.outcome})`;
}

/** Whether what the log says is so: `yes`, `no` and why, or `-` where nobody could say anything. */
function truth({ death, log, journal, lit }: Seen): string {
	const row = cleared(log);
	const clears = journal.filter(isClear);
	if (!row) {
		if (death.isSudden) return "-";
		if (log.length === 0) return "no: what became of the alert is missing";
		return clears.length === 0 ? "yes" : "no: the bar was cleared";
	}
	const saidMs = Date.parse(row.ts);
	const drawnMs = lastDraw(journal.filter(({ at }) => at < saidMs))?.at ?? 0;
	const hasAnswered = (byMs: number) =>
		clears.some(({ at, ms, unheard }) => ms !== undefined && !unheard && at > drawnMs && at + ms <= byMs);
	const wasLit = lit.some(({ fromMs }) => fromMs <= saidMs);
	if (row.detached && hasAnswered(saidMs - HEARD_MS)) return "no: it was done already";
	if (row.detached) return wasLit ? "yes" : "yes: it might have been lit";
	if (!wasLit) return "no: nothing was lit";
	return hasAnswered(saidMs) ? "yes" : "no: the bar had not said so";
}

function lastDraw(journal: readonly JournalEntry[]): JournalEntry | undefined {
	return journal.findLast((entry) => isDraw(entry) && entry.status === 200);
}

type ClearedRow = Extract<LogRow, { outcome: "cleared" }>;

function cleared(log: readonly LogRow[]): ClearedRow | undefined {
	return log.findLast((row): row is ClearedRow => row.outcome === "cleared");
}

function seconds(ms: number): string {
	return (ms / 1_000).toFixed(1);
}
