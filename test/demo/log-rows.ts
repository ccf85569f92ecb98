// The rows of alerts.jsonl as a readable table.

import type { LogRow } from "../../extensions/busybar-alert/log.ts";
import { milliseconds, type Row, seconds } from "./report.ts";

/** Combines rows that differ only in their time, with a count. */
export function logTable(rows: readonly LogRow[]): Row[] {
	const lines: { time: string; rest: string[]; count: number }[] = [];
	for (const row of rows) {
		const rest = [String(row.pid), row.outcome, row.alert, row.reason, detail(row)];
		const last = lines.at(-1);
		if (last && last.rest.join() === rest.join()) last.count += 1;
		else lines.push({ time: row.ts.slice(11, 23), rest, count: 1 });
	}
	return [
		["time (UTC)", "pid", "outcome", "alert", "reason", ""],
		...lines.map(({ time, rest, count }) => [
			time,
			...rest.slice(0, -1),
			`${rest.at(-1)}${count > 1 ? ` x ${count}` : ""}`,
		]),
	];
}

function detail(row: LogRow): string {
	switch (row.outcome) {
		case "fired":
			return [row.pattern, ...(row.ms === undefined ? [] : [milliseconds(row.ms)])].join(", ");
		case "skipped":
			return row.gate;
		case "error":
			return row.kind;
		case "cleared":
			return `after ${seconds(row.heldMs)}`;
	}
}
