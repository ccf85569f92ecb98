// What became of the verdicts of a crowd, from the bar's own journal and the pis' log. Pure.
// Times are milliseconds since the Unix epoch: the bar's, the log's and ours are those of one machine.

import { basename } from "node:path";
import type { JournalEntry } from "../../busybar/simulate/journal.ts";
import type { LogRow } from "../../extensions/busybar-alert/log.ts";
import type { Life } from "./crowd-lives.ts";

/** What was watched of a crowd on one bar. */
export interface Watched {
	readonly lives: readonly Life[];
	readonly rows: readonly LogRow[];
	readonly journal: readonly JournalEntry[];
	/** From when to when a BUSY timer ran. */
	readonly busy: readonly (readonly [fromMs: number, toMs: number])[];
	readonly holdSeconds: number;
}

export interface Verdicts {
	readonly asked: number;
	readonly shown: number;
	/** Shown after a busy or absent bar. */
	readonly late: number;
	/** Neither shown nor overtaken nor withdrawn nor owed. */
	readonly lost: readonly string[];
	readonly owed: readonly string[];
	/** Their pi was killed before they were decided. */
	readonly died: number;
	/** Logged as shown, but the bar has taken no such draw. */
	readonly untrue: readonly string[];
	/** How long each was lit, and what ended that too early, if it was not its own pi or the BUSY timer. */
	readonly lit: readonly { readonly ms: number; readonly what: string; readonly cutBy: string | undefined }[];
	readonly wrongClears: readonly string[];
	/** The longest that a picture stayed when nobody wanted it any more. */
	readonly longestLeftMs: number;
	readonly left: readonly string[];
	readonly longestWaitMs: number;
	readonly refusedUploads: number;
}

/** Something that changed what the bar shows. */
interface Act {
	readonly atMs: number;
	readonly kind: "draw" | "clear" | "busy" | "expiry";
	/** The pi for which it was done; empty for the bar itself. */
	readonly by: string;
	readonly picture: string | undefined;
}

/** An alert that its pi wants on the bar. */
interface Want {
	readonly by: Life;
	readonly alert: LogRow["alert"];
	readonly picture: string;
	readonly reason: string;
	readonly fromMs: number;
	untilMs: number;
}

const DRAW = "/api/display/draw";
const UPLOAD = "/api/assets/upload";
/** The bar's file name begins with as much of ours, and ends with a hash. */
const NAME_LENGTH = 17;
/** Steps of one pi and another's look at them are not told apart more finely. */
const SLACK_MS = 500;

export function judge({ lives, rows, journal, busy, holdSeconds }: Watched): Verdicts {
	const acts = actsOf(journal, busy);
	const fates = lives.map((life) => fatesOf(life, rowsOf(life, rows)));
	const untrue: string[] = [];
	const wants: Want[] = [];
	const lit: { ms: number; what: string; cutBy: string | undefined }[] = [];
	for (const life of lives) {
		for (const row of rowsOf(life, rows)) {
			if (row.outcome !== "fired") continue;
			const what = `${life.name} ${row.alert} ${row.reason}`;
			const atMs = Date.parse(row.ts);
			const draw = acts.findLast(
				(act) => act.kind === "draw" && act.by === life.name && act.atMs <= atMs + 50 && isOf(act.picture, row.anim),
			);
			if (!draw?.picture) {
				untrue.push(what);
				continue;
			}
			const before = wants.findLast(({ by }) => by === life);
			if (before) before.untilMs = Math.min(before.untilMs, draw.atMs);
			const untilMs =
				row.alert === "question"
					? (life.asked.find(
							({ alert, reason, atMs: askedMs, answeredMs }) =>
								alert === "question" &&
								reason === row.reason &&
								(answeredMs ?? Infinity) > draw.atMs - SLACK_MS &&
								askedMs <= draw.atMs,
						)?.answeredMs ?? Number.POSITIVE_INFINITY)
					: draw.atMs + holdSeconds * 1_000;
			wants.push({ by: life, alert: row.alert, picture: draw.picture, reason: row.reason, fromMs: draw.atMs, untilMs });
			if (row.alert === "turn") continue;
			const { ms, cutBy } = litOf(draw, acts, life.name);
			const isWithdrawn = untilMs <= draw.atMs + ms + SLACK_MS;
			lit.push({ what, ms, cutBy: isWithdrawn ? undefined : cutBy });
		}
	}
	const lost = fates.flatMap((fate) => fate.lost);
	return {
		asked: lives.reduce((sum, { asked }) => sum + asked.length, 0),
		shown: lit.length,
		late: rows.filter((row) => row.outcome === "fired" && row.lateMs !== undefined).length,
		lost,
		owed: fates.flatMap((fate) => fate.owed),
		died: fates.reduce((sum, { died }) => sum + died, 0),
		untrue,
		lit,
		wrongClears: wrongClears(acts, wants),
		...leftLit(acts, wants, holdSeconds),
		longestWaitMs: Math.max(0, ...fates.flatMap((fate) => fate.waitsMs)),
		refusedUploads: journal.filter(({ path, status }) => path === UPLOAD && status === 508).length,
	};
}

function rowsOf({ pid }: Life, rows: readonly LogRow[]): LogRow[] {
	return rows.filter((row) => row.pid === pid);
}

function isOf(picture: string | undefined, anim: string): boolean {
	return picture?.startsWith(basename(anim, ".anim").slice(0, NAME_LENGTH)) === true;
}

/** When the bar did what it was asked for: it answers at once then. Expiries are put in between. */
function actsOf(journal: readonly JournalEntry[], busy: Watched["busy"]): Act[] {
	const asked: (Act & { expiresMs?: number })[] = busy.map(([atMs]) => ({
		atMs,
		kind: "busy",
		by: "",
		picture: undefined,
	}));
	for (const { path, method, status, at, ms = 0, query, body } of journal) {
		if (path !== DRAW || status !== 200) continue;
		const by = query.pi ?? "";
		const element = (body as { elements?: { path?: string; timeout?: number }[] } | undefined)?.elements?.[0];
		const atMs = at + ms;
		if (method === "DELETE") asked.push({ atMs, kind: "clear", by, picture: undefined });
		else {
			const expiresMs = element?.timeout ? atMs + element.timeout * 1_000 : Number.POSITIVE_INFINITY;
			asked.push({ atMs, kind: "draw", by, picture: element?.path, expiresMs });
		}
	}
	asked.sort((one, other) => one.atMs - other.atMs);
	const acts: Act[] = [];
	let expiresMs = Number.POSITIVE_INFINITY;
	for (const act of asked) {
		if (expiresMs < act.atMs) acts.push({ atMs: expiresMs, kind: "expiry", by: "", picture: undefined });
		acts.push(act);
		expiresMs = act.expiresMs ?? Number.POSITIVE_INFINITY;
	}
	if (Number.isFinite(expiresMs)) acts.push({ atMs: expiresMs, kind: "expiry", by: "", picture: undefined });
	return acts;
}

/** How long the picture stayed from this draw on, whoever drew it again. */
function litOf(draw: Act, acts: readonly Act[], own: string): { ms: number; cutBy: string | undefined } {
	const end = acts.slice(acts.indexOf(draw) + 1).find(({ picture }) => picture !== draw.picture);
	if (!end) return { ms: Number.POSITIVE_INFINITY, cutBy: undefined };
	const cutBy = end.by === own || end.kind === "busy" ? undefined : `${end.kind} of ${end.by || "the bar"}`;
	return { ms: end.atMs - draw.atMs, cutBy };
}

function wrongClears(acts: readonly Act[], wants: readonly Want[]): string[] {
	let isDark = true;
	return acts.flatMap((act) => {
		const wasDark = isDark;
		isDark = act.picture === undefined;
		if (act.kind !== "clear" || wasDark) return [];
		const { atMs, by } = act;
		const robbed = wants.find(
			(want) => want.by.name !== by && want.fromMs < atMs && want.untilMs > atMs + SLACK_MS && want.by.endedMs > atMs,
		);
		return robbed
			? [`${by} cleared ${robbed.by.name} ${robbed.alert} ${robbed.reason} after ${atMs - robbed.fromMs} ms`]
			: [];
	});
}

/** A drawing that no row tells of was made again for another pi, or its pi was killed before it could write one. */
function leftLit(acts: readonly Act[], wants: readonly Want[], holdSeconds: number) {
	let longestLeftMs = 0;
	const left: string[] = [];
	let lit: { picture: string; wantedMs: number } | undefined;
	for (const act of acts) {
		if (lit && act.picture !== lit.picture) {
			const { picture, wantedMs } = lit;
			const wanted = Math.max(
				wantedMs,
				...wants.filter((want) => want.picture === picture && want.fromMs <= act.atMs).map(({ untilMs }) => untilMs),
			);
			longestLeftMs = Math.max(longestLeftMs, act.atMs - wanted);
			if (act.atMs - wanted > 5_000 + SLACK_MS)
				left.push(`${picture} for ${act.atMs - wanted} ms until ${act.kind} of ${act.by}`);
			lit = undefined;
		}
		if (act.kind === "draw" && act.picture !== undefined) {
			const wantedMs = act.atMs + holdSeconds * 1_000;
			lit = { picture: act.picture, wantedMs: Math.max(lit?.wantedMs ?? 0, wantedMs) };
		}
	}
	return { longestLeftMs, left };
}

interface Fates {
	readonly lost: string[];
	readonly owed: string[];
	readonly waitsMs: number[];
	died: number;
}

/** Follows each verdict that this pi asked for through the rows that it wrote. */
function fatesOf(life: Life, rows: readonly LogRow[]): Fates {
	const open = life.asked.map((asked) => ({ asked, isOwed: false }));
	const fates: Fates = { lost: [], owed: [], waitsMs: [], died: 0 };
	const close = (index: number) => void open.splice(index, 1);
	for (const row of rows) {
		if (row.alert === "turn" || row.outcome === "cleared") continue;
		const reason = row.reason.replace(" (final)", "");
		const index = open.findIndex(({ asked }) => asked.alert === row.alert && asked.reason === reason);
		const found = open[index];
		if (!found) continue;
		const { asked } = found;
		const told = `${life.name} ${asked.alert} ${asked.reason}`;
		if (row.outcome === "fired") {
			if (row.lateMs === undefined) fates.waitsMs.push(Date.parse(row.ts) - asked.atMs);
			close(index);
		} else if (row.outcome === "error") {
			if (row.kind === "preempted" || row.kind === "unreachable") found.isOwed = true;
			else {
				fates.lost.push(`${told}: ${row.kind} ${row.error}`);
				close(index);
			}
		} else if (row.gate === "backoff") found.isOwed = true;
		else {
			const isNewer = life.asked.some((other) => other !== asked && other.atMs >= asked.atMs);
			const isWanted = asked.answeredMs === undefined && !life.backMs.some((atMs) => atMs >= asked.atMs);
			if (row.gate === "superseded" ? !isNewer : row.gate === "withdrawn" ? isWanted : true) {
				fates.lost.push(`${told}: ${row.gate}`);
			}
			close(index);
		}
	}
	for (const { asked, isOwed } of open) {
		const told = `${life.name} ${asked.alert} ${asked.reason}`;
		if (life.endedMs < Number.POSITIVE_INFINITY) fates.died += 1;
		else if (isOwed) fates.owed.push(told);
		else fates.lost.push(`${told}: no row`);
	}
	return fates;
}
