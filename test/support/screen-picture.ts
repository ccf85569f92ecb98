// A terminal's screen as an SVG picture for the documentation. Pure.

import type { Cell } from "./terminal.ts";

const CELL_WIDTH = 8;
const CELL_HEIGHT = 17;
const BASELINE = 13;

/** One `text` per word, stretched to its columns, so that every monospaced font lines up and no space is lost. */
export function screenSvg(cells: readonly (readonly Cell[])[]): string {
	const width = (cells[0]?.length ?? 0) * CELL_WIDTH;
	const height = cells.length * CELL_HEIGHT;
	const background = cells[0]?.[0]?.bg ?? "#000000";
	return [
		`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
		`<rect width="100%" height="100%" fill="${background}"/>`,
		`<g font-family="ui-monospace,Menlo,Consolas,monospace" font-size="13">`,
		...cells.flatMap((row, line) => runsOf(row).map((run) => runSvg(run, line * CELL_HEIGHT, background))),
		"</g></svg>\n",
	]
		.filter((part) => part !== "")
		.join("\n");
}

interface Run extends Pick<Cell, "fg" | "bg" | "bold"> {
	column: number;
	columns: number;
	text: string;
}

function runsOf(row: readonly Cell[]): Run[] {
	const runs: Run[] = [];
	for (const [column, { char, fg, bg, bold }] of row.entries()) {
		const last = runs.at(-1);
		const isLikeLast = last?.fg === fg && last.bg === bg && last.bold === bold;
		const isSameWord = (char === " ") === (last?.text.at(-1) === " ");
		// The second half of a wide character belongs to the first.
		const joins = last && (char === "" || (isLikeLast && isSameWord));
		if (joins) {
			last.columns++;
			last.text += char;
		} else runs.push({ column, columns: 1, text: char, fg, bg, bold });
	}
	return runs;
}

function runSvg({ column, columns, text, fg, bg, bold }: Run, y: number, background: string): string {
	const x = column * CELL_WIDTH;
	const width = columns * CELL_WIDTH;
	const box =
		bg === background ? "" : `<rect x="${x}" y="${y}" width="${width}" height="${CELL_HEIGHT}" fill="${bg}"/>`;
	if (text.trim() === "") return box;
	const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
	const weight = bold ? ` font-weight="bold"` : "";
	return `${box}<text x="${x}" y="${y + BASELINE}" textLength="${width}" fill="${fg}"${weight}>${escaped}</text>`;
}
