/** A list that is filtered by typing, with details of the selected row below it. Draws in pi only. */

import { getSelectListTheme } from "@earendil-works/pi-coding-agent";
import {
	Input,
	SelectList,
	type TuiMouseEvent,
	type TuiMouseEventResult,
	truncateToWidth,
	visibleWidth,
} from "@earendil-works/pi-tui";
import { cut, wrap } from "./fit.ts";
import type { Host } from "./screen.ts";

/** How a list finds and shows its rows. `width` is that of a row, without arrow and margin. */
export interface RowKind<Row> {
	label(row: Row): string;
	/** What else the filter looks at, besides the label. */
	keywords(row: Row): string;
	/** At most `width` columns. Plain text if selected, because pi then colours the whole line. */
	draw(row: Row, width: number, isSelected: boolean): string;
	/** What the row itself has no room for. */
	detail(row: Row, width: number): string;
}

/** A row of this width has room for columns. */
export const WIDE = 56;
const ARROW = 2;
const MARGIN = 2;
/** With this many rows there is room for a blank line above the detail. */
const ROOMY = 10;

export class FilterList<Row> {
	readonly input = new Input();
	/** Called when the user clicks the selected row. */
	onChoose: () => void = () => undefined;
	readonly #host: Host;
	readonly #rows: readonly Row[];
	readonly #kind: RowKind<Row>;
	#matching: readonly Row[];
	#selected = 0;
	/** Built again when its rows or its height have changed. */
	#list: SelectList | undefined;
	#visibleRows = 0;

	constructor(host: Host, rows: readonly Row[], kind: RowKind<Row>) {
		this.#host = host;
		this.#rows = rows;
		this.#kind = kind;
		this.#matching = rows;
	}

	get selected(): Row | undefined {
		return this.#matching[this.#selected];
	}

	/** Call this when something about the rows has changed. Keeps the filter and the selection. */
	refresh(): void {
		const { selected } = this;
		this.#filter();
		if (selected !== undefined) this.#selected = Math.max(0, this.#matching.indexOf(selected));
	}

	/** Handles every key except those that choose and go back. */
	handleInput(data: string): void {
		const { keys } = this.#host;
		// pi's own list has no paging before 1.0.
		if (keys.matches(data, "tui.select.up") || keys.matches(data, "tui.select.down")) {
			this.#current().handleInput(data);
		} else if (keys.matches(data, "tui.select.pageUp")) this.#move(-this.#visibleRows);
		else if (keys.matches(data, "tui.select.pageDown")) this.#move(this.#visibleRows);
		else {
			const before = this.input.getValue();
			this.input.handleInput(data);
			if (this.input.getValue() !== before) this.#filter();
		}
	}

	handleMouse(event: TuiMouseEvent): TuiMouseEventResult | undefined {
		return this.#current().handleMouse({ ...event, y: event.y - 1 });
	}

	/** The filter (or `instead`), the list, the detail. */
	render(width: number, rows: number, instead?: string): string[] {
		const rowWidth = Math.max(1, width - ARROW - MARGIN);
		const hasDetails = this.#rows.some((row) => this.#kind.detail(row, rowWidth) !== "");
		const detailRows = hasDetails ? detailRowsOf(rowWidth, rows) : 0;
		const listRows = Math.max(1, Math.min(this.#rows.length, rows - 1 - detailRows));
		const list = this.#listLines(width, listRows);
		return [
			instead ?? this.#inputLine(width),
			...list,
			...Array<string>(listRows - list.length).fill(""),
			...this.#detailLines(rowWidth, detailRows),
		];
	}

	#inputLine(width: number): string {
		const line = this.input.render(width)[0] ?? "";
		if (this.input.getValue() !== "") return line;
		const hint = "  type to filter";
		return visibleWidth(hint) + 6 > width ? line : `${truncateToWidth(line, 4, "")}${this.#host.theme.fg("dim", hint)}`;
	}

	#listLines(width: number, rows: number): readonly string[] {
		const visibleRows = Math.max(1, this.#matching.length > rows ? rows - 1 : rows);
		if (visibleRows !== this.#visibleRows) this.#list = undefined;
		this.#visibleRows = visibleRows;
		// pi's list adds its position below its rows.
		if (this.#matching.length > 0) return this.#current().render(width).slice(0, rows);
		const empty = this.#rows.length === 0 ? "Nothing here yet" : `Nothing matches "${this.input.getValue()}"`;
		return [this.#host.theme.fg("muted", cut(`  ${empty}`, width))];
	}

	/** Always `rows` lines, so that nothing jumps when the selection moves. */
	#detailLines(width: number, rows: number): string[] {
		if (rows === 0) return [];
		const { theme, keys } = this.#host;
		const { selected } = this;
		const space = rows > 2 ? [""] : [];
		const room = rows - space.length;
		const lines = selected === undefined ? [] : wrap(this.#kind.detail(selected, width), width, room, keys);
		const coloured = lines.map((line) => (line === "" ? "" : theme.fg("dim", `  ${line}`)));
		return [...space, ...coloured, ...Array<string>(room - lines.length).fill("")];
	}

	#filter(): void {
		const typed = this.input.getValue().trim().toLowerCase();
		const words = typed.split(/\s+/);
		const has = (text: string) => words.every((word) => text.toLowerCase().includes(word));
		const { label, keywords } = this.#kind;
		const found = this.#rows.filter((row) => has(`${label(row)} ${keywords(row)}`));
		// Enter takes the first row: labels that start with what was typed come before those that contain it.
		const rank = (name: string) => (name.toLowerCase().startsWith(typed) ? 0 : has(name) ? 1 : 2);
		this.#matching = found.toSorted((one, other) => rank(label(one)) - rank(label(other)));
		this.#selected = 0;
		this.#list = undefined;
	}

	#move(by: number): void {
		this.#selected = Math.max(0, Math.min(this.#matching.length - 1, this.#selected + by));
		this.#current().setSelectedIndex(this.#selected);
	}

	#current(): SelectList {
		if (this.#list) return this.#list;
		const items = this.#matching.map((row, index) => ({ value: String(index), label: this.#kind.label(row) }));
		const list = new SelectList(items, this.#visibleRows, getSelectListTheme(), {
			truncatePrimary: ({ item, maxWidth, isSelected }) => {
				const row = this.#matching[Number(item.value)];
				return row === undefined ? "" : this.#kind.draw(row, maxWidth, isSelected);
			},
		});
		list.setSelectedIndex(this.#selected);
		list.onSelectionChange = ({ value }) => {
			this.#selected = Number(value);
		};
		list.onSelect = () => this.onChoose();
		this.#list = list;
		return list;
	}
}

/** How many of a screen's rows the detail gets. */
function detailRowsOf(width: number, rows: number): number {
	if (rows >= ROOMY) return width < WIDE ? 4 : 3;
	return rows >= 6 ? 2 : 0;
}
