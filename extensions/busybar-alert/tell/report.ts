/** The log's rows as text: totals, the last rows, the last alert and the last skipped alert. Pure. */

import type { LogRow } from "../log.ts";

/** Counts and times over all rows, one line for each fact. */
export function statsText(rows: readonly LogRow[]): string {
	const [oldest] = rows;
	if (!oldest) return "There have been no alerts yet.";
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
			"preempted: something of the same or a higher priority was on the bar, or a BUSY timer was running. " +
				"A higher priority helps only in the first case; nothing overrides a BUSY timer.",
		);
	}
	return lines.join("\n");
}

/** The last `count` rows, one line each. */
export function logText(rows: readonly LogRow[], count: number): string {
	if (rows.length === 0) return "The log is empty. There have been no alerts yet.";
	return rows
		.slice(-count)
		.map((row) => `${localTime(row.ts)}  ${row.outcome.padEnd(7)}  ${row.alert.padEnd(8)}  ${row.reason}${detail(row)}`)
		.join("\n");
}

/** The last alert and the last skipped alert, one line each. */
export function lastText(rows: readonly LogRow[]): string {
	const alert = rows.findLast((row) => row.outcome === "fired" || row.outcome === "error");
	const skipped = rows.findLast((row) => row.outcome === "skipped");
	const line = (row: LogRow | undefined) =>
		row ? `${localTime(row.ts)} ${row.alert}, ${row.reason}${detail(row)}` : "none yet";
	return `Last alert: ${line(alert)}\nLast skipped: ${line(skipped)}`;
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

/** As in `5: in_flight 3 (last: turn 7), debounce 2 (last: turn 4)`, the most frequent first. */
function counted(entries: readonly { readonly name: string; readonly row: LogRow }[]): string {
	if (entries.length === 0) return "0";
	const groups = Map.groupBy(entries, ({ name }) => name);
	const parts = [...groups]
		.sort(([, a], [, b]) => b.length - a.length)
		.map(([name, group]) => `${name} ${group.length} (last: ${group.at(-1)?.row.reason})`);
	return `${entries.length}: ${parts.join(", ")}`;
}

/** By nearest rank. */
function percentile(sorted: readonly number[], percent: number): number | undefined {
	return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)];
}

/** An ISO time as `2026-11-30 05:00:02` in the user's time zone. */
function localTime(iso: string): string {
	const date = new Date(iso);
	const two = (value: number) => String(value).padStart(2, "0");
	const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
	return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
