/** What the log's rows add up to. Pure. */

import type { LogRow } from "./log.ts";

export interface Stats {
	/** Of the oldest row; undefined when there is none. */
	readonly since: string | undefined;
	readonly fired: number;
	readonly skippedByGate: ReadonlyMap<string, number>;
	readonly errorsByKind: ReadonlyMap<string, number>;
	/** How long `busybar show` took, in milliseconds; undefined before the first. */
	readonly drawMs: { readonly p50: number; readonly p95: number } | undefined;
}

export function statsOf(rows: readonly LogRow[]): Stats {
	const skippedByGate = new Map<string, number>();
	const errorsByKind = new Map<string, number>();
	const drawTimesMs: number[] = [];
	let fired = 0;
	for (const row of rows) {
		if (row.outcome === "fired") {
			fired += 1;
			if (row.ms !== undefined) drawTimesMs.push(row.ms);
		}
		if (row.outcome === "skipped") skippedByGate.set(row.gate, (skippedByGate.get(row.gate) ?? 0) + 1);
		if (row.outcome === "error") errorsByKind.set(row.kind, (errorsByKind.get(row.kind) ?? 0) + 1);
	}
	drawTimesMs.sort((a, b) => a - b);
	const [p50, p95] = [percentile(drawTimesMs, 50), percentile(drawTimesMs, 95)];
	return {
		since: rows[0]?.ts,
		fired,
		skippedByGate,
		errorsByKind,
		drawMs: p50 === undefined || p95 === undefined ? undefined : { p50, p95 },
	};
}

/** Three lines at most, for a notice. */
export function statsText(stats: Stats): string {
	if (stats.since === undefined) return "No alert was asked for yet.";
	const counts = (map: ReadonlyMap<string, number>) => {
		const total = [...map.values()].reduce((sum, count) => sum + count, 0);
		const parts = [...map].sort(([, a], [, b]) => b - a).map(([name, count]) => `${name} ${count}`);
		return total === 0 ? "0" : `${total} (${parts.join(", ")})`;
	};
	const draw = stats.drawMs ? `, draw p50 ${stats.drawMs.p50} ms, p95 ${stats.drawMs.p95} ms` : "";
	const lines = [
		`Since ${stats.since}: fired ${stats.fired}${draw}`,
		`skipped ${counts(stats.skippedByGate)}, errors ${counts(stats.errorsByKind)}`,
	];
	if (stats.errorsByKind.has("preempted")) {
		lines.push(
			"preempted: something of equal or higher priority was on the bar, or a BUSY timer ran, which nothing can override; " +
				"raising `priority` helps only against the former.",
		);
	}
	return lines.join("\n");
}

/** Nearest rank of a sorted list. */
function percentile(sorted: readonly number[], percent: number): number | undefined {
	return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)];
}
