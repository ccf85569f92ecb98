/** The log's rows as sentences: what they add up to, the last ones, the last alert and the last silence. Pure. */

import type { LogRow } from "../log.ts";

/** Counts and times over all rows; one line for each fact. */
export function statsText(rows: readonly LogRow[]): string {
	const [oldest] = rows;
	if (!oldest) return "No alert was asked for yet.";
	const fired = rows.filter((row) => row.outcome === "fired");
	const drawTimesMs = fired.flatMap((row) => row.ms ?? []).sort((a, b) => a - b);
	const [p50, p95] = [percentile(drawTimesMs, 50), percentile(drawTimesMs, 95)];
	const draw = p50 === undefined ? "" : `, draw p50 ${p50} ms, p95 ${p95} ms`;
	const skipped = rows.flatMap((row) => (row.outcome === "skipped" ? [{ name: row.gate, row }] : []));
	const errors = rows.flatMap((row) => (row.outcome === "error" ? [{ name: row.kind, row }] : []));
	const lines = [
		`Since ${localTime(oldest.ts)}: fired ${fired.length}${draw}`,
		`skipped ${counted(skipped)}`,
		`errors ${counted(errors)}`,
	];
	if (errors.some(({ name }) => name === "preempted")) {
		lines.push(
			"preempted: something of equal or higher priority was on the bar, or a BUSY timer ran, which nothing can override; " +
				"raising `priority` helps only against the former.",
		);
	}
	return lines.join("\n");
}

/** The last `count` rows, one line each. */
export function logText(rows: readonly LogRow[], count: number): string {
	if (rows.length === 0) return "The log is empty: no alert was asked for yet.";
	return rows
		.slice(-count)
		.map((row) => `${localTime(row.ts)}  ${row.outcome.padEnd(7)}  ${row.alert.padEnd(8)}  ${row.reason}${detail(row)}`)
		.join("\n");
}

/** The last alert and the last silence, a line each. */
export function lastText(rows: readonly LogRow[]): string {
	const alert = rows.findLast((row) => row.outcome === "fired" || row.outcome === "error");
	const silence = rows.findLast((row) => row.outcome === "skipped");
	const line = (row: LogRow | undefined) =>
		row ? `${localTime(row.ts)} ${row.alert}, ${row.reason}${detail(row)}` : "none yet";
	return `Last alert: ${line(alert)}\nLast silence: ${line(silence)}`;
}

function detail(row: LogRow): string {
	switch (row.outcome) {
		case "fired":
			return `, ${row.pattern}${row.ms === undefined ? "" : ` after ${row.ms} ms`}`;
		case "skipped":
			return `, ${row.gate}`;
		case "error":
			return `, ${row.kind}: ${row.error}`;
		case "cleared":
			return `, after ${(row.heldMs / 1_000).toFixed(1)} s`;
	}
}

/** `5: in_flight 3 (last: turn 7), debounce 2 (last: turn 4)`, the most frequent first. */
function counted(entries: readonly { readonly name: string; readonly row: LogRow }[]): string {
	if (entries.length === 0) return "0";
	const groups = Map.groupBy(entries, ({ name }) => name);
	const parts = [...groups]
		.sort(([, a], [, b]) => b.length - a.length)
		.map(([name, group]) => `${name} ${group.length} (last: ${group.at(-1)?.row.reason})`);
	return `${entries.length}: ${parts.join(", ")}`;
}

/** Nearest rank of a sorted list. */
function percentile(sorted: readonly number[], percent: number): number | undefined {
	return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)];
}

/** `2026-11-30 05:00:02` of an ISO time, where the user is. */
function localTime(iso: string): string {
	const date = new Date(iso);
	const two = (value: number) => String(value).padStart(2, "0");
	const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
	return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
