// A table of what was broken on purpose and what came of it. Prints; knows nothing of pi or of the bar.

import Table from "cli-table3";

export interface FaultRow {
	readonly cells: readonly (string | number)[];
	/** One sentence for each promise that was not kept; the row has passed when there is none. */
	readonly failures: readonly string[];
	/** What this machine lacks for it; the row has neither passed nor failed. */
	readonly notRun?: string;
}

export interface FaultTable {
	readonly title: string;
	/** Of the cells; the verdict is added. */
	readonly columns: readonly string[];
	readonly rows: readonly FaultRow[];
}

const WIDEST_VERDICT = 100;

/** Prints the table and returns how many rows failed. */
export function printTable({ title, columns, rows }: FaultTable): number {
	const widest = Math.max(
		...rows.map((row) =>
			Math.max(
				...verdictOf(row)
					.split("\n")
					.map(({ length }) => length),
			),
		),
	);
	const table = new Table({
		head: [...columns, "verdict"],
		colWidths: [...columns.map(() => null), widest > WIDEST_VERDICT ? WIDEST_VERDICT : null],
		style: { head: [], border: [] },
		wordWrap: true,
	});
	for (const row of rows) table.push([...row.cells, verdictOf(row)]);
	console.log(`\n${title}\n${table.toString()}`);
	return rows.filter(({ failures }) => failures.length > 0).length;
}

function verdictOf({ failures, notRun }: FaultRow): string {
	if (notRun !== undefined) return `not run: ${notRun}`;
	return failures.length === 0 ? "ok" : failures.join("\n");
}
