/** Formats the rows of a result as a table, JSON or JSON Lines. Pure. */

import { CommandError } from "./command-error.ts";
import { clean, oneOf } from "./options.ts";

export type Row = Readonly<Record<string, string | number | boolean | readonly string[]>>;

export interface OutputOptions {
	readonly format: "table" | "json" | "jsonl";
	/** 0 means all. */
	readonly maxOutputRows: number;
	/** Empty means all. A name that a row does not have is ignored, as in the Go CLI. */
	readonly outputFields: readonly string[];
}

/** The parser of `--format`. */
export function outputFormat(text: string): OutputOptions["format"] {
	if (text === "csv" || text === "tsv" || text === "yaml") {
		throw new CommandError(`--format ${text} needs the Go CLI; use table, json or jsonl.`);
	}
	return oneOf<OutputOptions["format"]>("--format", ["table", "json", "jsonl"])(text);
}

export async function formatRows(allRows: readonly Row[], options: OutputOptions): Promise<string> {
	const rows = allRows
		.slice(0, options.maxOutputRows === 0 ? undefined : options.maxOutputRows)
		.map((row) => selectFields(row, options.outputFields));
	if (options.format === "json") return `${JSON.stringify(rows, null, 2)}\n`;
	if (options.format === "jsonl") return rows.map((row) => `${JSON.stringify(row)}\n`).join("");

	const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
	if (columns.length === 0) return "";
	const { default: Table } = await import("cli-table3");
	const table = new Table({ head: columns, style: { head: [], border: [], compact: true } });
	for (const row of rows) table.push(columns.map((column) => cell(row[column] ?? "")));
	return `${table.toString()}\n`;
}

function selectFields(row: Row, fields: readonly string[]): Row {
	if (fields.length === 0) return row;
	return Object.fromEntries(
		fields.flatMap((field) => {
			const value = Object.hasOwn(row, field) ? row[field] : undefined;
			return value === undefined ? [] : [[field, value]];
		}),
	);
}

function cell(value: Row[string]): string {
	return clean(Array.isArray(value) ? value.join(", ") : String(value), 200);
}
