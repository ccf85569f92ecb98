/** A list that is filtered by typing, and below it what there is to say about the selected row. Draws in pi only. */

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

/** What a list needs to know about its rows. Widths are those of a row, without arrow and margin. */
export interface RowKind<Row> {
	label(row: Row): string;
	/** What the filter finds it by, besides the label. */
	keywords(row: Row): string;
	/** At most `width` columns; plain text if selected, since pi colours the whole line then. */
	draw(row: Row, width: number, isSelected: boolean): string;
	/** What the row has no room for. */
	detail(row: Row, width: number): string;
}

/** Rows from here on have room for columns. */
export const WIDE = 56;
const ARROW = 2;
const MARGIN = 2;
/** With this many rows, a blank line sets the detail off. */
const ROOMY = 10;

export class FilterList<Row> {
	readonly input = new Input();
	/** The selected row is the user's choice, through the mouse. */
	onChoose: () => void = () => undefined;
	readonly #host: Host;
	readonly #rows: readonly Row[];
	readonly #kind: RowKind<Row>;
	#matching: readonly Row[];
	#selected = 0;
	/** Rebuilt when what it shows or its height has changed. */
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

	/** What is known about the rows has changed. Filter and selection stay. */
	refresh(): void {
		const { selected } = this;
		this.#filter();
		if (selected !== undefined) this.#selected = Math.max(0, this.#matching.indexOf(selected));
	}

	/** For every key but those that choose and go back. */
	handleInput(data: string): void {
		const { keys } = this.#host;
		// pi's own list before 1.0 does not page.
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

	/** The filter, or `instead` of it, then the list, then the detail. */
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
		// Below its rows, pi's list says where it is.
		if (this.#matching.length > 0) return this.#current().render(width).slice(0, rows);
		const empty = this.#rows.length === 0 ? "Nothing here yet" : `Nothing matches "${this.input.getValue()}"`;
		return [this.#host.theme.fg("muted", cut(`  ${empty}`, width))];
	}

	/** Exactly `rows` lines, so that the list does not jump while the selection moves. */
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
		// Enter takes the first one: what begins as typed comes before what merely contains it.
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

/** How many of a screen's rows are for the detail. */
function detailRowsOf(width: number, rows: number): number {
	if (rows >= ROOMY) return width < WIDE ? 4 : 3;
	return rows >= 6 ? 2 : 0;
}
