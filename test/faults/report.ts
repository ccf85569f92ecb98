// A table of what was broken on purpose and what came of it. Prints; knows nothing of pi or of the bar.

import Table from "cli-table3";

export interface FaultRow {
	readonly cells: readonly (string | number)[];
	/** One sentence for each promise that was not kept; the row has passed when there is none. */
	readonly failures: readonly string[];
}

export interface FaultTable {
	readonly title: string;
	/** Of the cells; the verdict is added. */
	readonly columns: readonly string[];
	readonly rows: readonly FaultRow[];
}

/** Prints the table and returns how many rows failed. */
export function printTable({ title, columns, rows }: FaultTable): number {
	const table = new Table({ head: [...columns, "verdict"], style: { head: [], border: [] }, wordWrap: true });
	for (const { cells, failures } of rows) table.push([...cells, failures.length === 0 ? "ok" : failures.join("\n")]);
	console.log(`\n${title}\n${table.toString()}`);
	return rows.filter(({ failures }) => failures.length > 0).length;
}
