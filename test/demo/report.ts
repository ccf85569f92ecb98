// What the demo prints: headings, tables, the bar's frames, and promises with the measured figures.
// Writes to standard output, in colour only if that is a terminal with 24-bit colour.

import type { Screen } from "../support/led-picture.ts";
import { colourLines, plainLines } from "./half-blocks.ts";

const INDENT = "  ";
const GAP = "  ";

export interface Moment {
	readonly caption: string;
	readonly screen: Screen;
}

export type Row = readonly string[];

export class Report {
	readonly #hasColours = process.stdout.isTTY && process.stdout.getColorDepth() === 24;
	/** The promises that were not kept. */
	readonly broken: string[] = [];

	line(text = ""): void {
		process.stdout.write(text === "" ? "\n" : `${INDENT}${text}\n`);
	}

	heading(text: string): void {
		process.stdout.write(`\n${this.#style("1", text)}\n\n`);
	}

	/** Each column is as wide as its widest cell. @param right the columns to align to the right */
	table(rows: readonly Row[], right: readonly number[] = []): void {
		const widths: number[] = [];
		for (const row of rows) for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
		for (const row of rows) {
			const cells = row.map((cell, at) =>
				right.includes(at) ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0),
			);
			this.line(cells.join(GAP).trimEnd());
		}
	}

	/** Side by side, as many as fit. */
	moments(moments: readonly Moment[]): void {
		const width = moments[0]?.screen.width ?? 0;
		// Output without a width is a file or a CI log.
		const fitting = Math.max(1, Math.floor(((process.stdout.columns ?? 80) - INDENT.length) / (width + GAP.length)));
		for (let at = 0; at < moments.length; at += fitting) {
			const shown = moments.slice(at, at + fitting);
			this.line();
			this.line(
				shown
					.map(({ caption }) => this.#style("2", caption.padEnd(width)))
					.join(GAP)
					.trimEnd(),
			);
			const pictures = shown.map(({ screen }) => (this.#hasColours ? colourLines(screen) : plainLines(screen)));
			for (const row of pictures[0]?.keys() ?? []) {
				const line = pictures.map((picture) => picture[row] ?? "").join(GAP);
				this.line(this.#hasColours ? line : line.trimEnd());
			}
		}
		this.line();
	}

	/** @param found what this run measured; printed whether the promise is kept or not */
	promise(text: string, isKept: boolean, found: string): void {
		const mark = isKept ? this.#style("32", "✓") : this.#style("31", "✗");
		this.line(`${mark} ${text.padEnd(34)}${GAP}${found}`);
		if (!isKept) this.broken.push(`${text}: ${found}`);
	}

	#style(code: string, text: string): string {
		return this.#hasColours ? `\x1b[${code}m${text}\x1b[0m` : text;
	}
}

/** As in `1.25 s`. */
export function seconds(ms: number): string {
	return `${(ms / 1000).toFixed(2)} s`;
}

/** As in `84 ms`, or `0.12 ms` if it is less than ten. */
export function milliseconds(ms: number): string {
	return `${ms < 10 ? ms.toFixed(2) : Math.round(ms)} ms`;
}

export function median(values: readonly number[]): number {
	const sorted = values.toSorted((a, b) => a - b);
	const middle = Math.floor(sorted.length / 2);
	return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}
