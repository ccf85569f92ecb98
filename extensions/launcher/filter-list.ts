/** A list that is filtered by typing: pi's Input above pi's SelectList, with the rows and the filter that are ours. */

import { getSelectListTheme } from "@earendil-works/pi-coding-agent";
import {
	Input,
	SelectList,
	type TuiMouseEvent,
	type TuiMouseEventResult,
	truncateToWidth,
	visibleWidth,
} from "@earendil-works/pi-tui";
import type { Host } from "./screen.ts";

export interface ListRow {
	readonly id: string;
	readonly label: string;
	/** What the filter finds it by, after the label. */
	readonly keywords: string;
}

export class FilterList<Row extends ListRow> {
	readonly input = new Input();
	readonly #host: Host;
	readonly #draw: (row: Row, width: number, isSelected: boolean) => string;
	#rows: readonly Row[] = [];
	#matching: readonly Row[] = [];
	#selected = 0;
	/** Rebuilt when what it shows or its height has changed. */
	#list: SelectList | undefined;
	#visibleRows = 0;

	/** @param draw what stands right of the cursor: plain text if selected, since pi colours the whole line then */
	constructor(host: Host, draw: (row: Row, width: number, isSelected: boolean) => string) {
		this.#host = host;
		this.#draw = draw;
	}

	get selected(): Row | undefined {
		return this.#matching[this.#selected];
	}

	/** Filter and selection stay. */
	setRows(rows: readonly Row[]): void {
		const { selected } = this;
		this.#rows = rows;
		this.#filter();
		this.#selected = Math.max(0, selected ? this.#matching.findIndex(({ id }) => id === selected.id) : 0);
	}

	/** The selected row is the user's choice, through the mouse. */
	onChoose: () => void = () => undefined;

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

	/** The filter's line, or `instead` of it, then at most `rows` lines of list. */
	render(width: number, rows: number, instead?: string): string[] {
		const visibleRows = Math.max(1, this.#matching.length > rows ? rows - 1 : rows);
		if (visibleRows !== this.#visibleRows) this.#list = undefined;
		this.#visibleRows = visibleRows;
		const { theme } = this.#host;
		const empty = this.#rows.length === 0 ? "Nothing here yet" : `Nothing matches "${this.input.getValue()}"`;
		const list =
			this.#matching.length > 0
				? this.#current().render(width)
				: [theme.fg("muted", truncateToWidth(`  ${empty}`, width))];
		return [instead ?? this.#inputLine(width), ...list, ...Array(Math.max(0, rows - list.length)).fill("")];
	}

	#inputLine(width: number): string {
		const line = this.input.render(width)[0] ?? "";
		if (this.input.getValue() !== "") return line;
		const hint = "  type to filter";
		return visibleWidth(hint) + 6 > width ? line : `${truncateToWidth(line, 4, "")}${this.#host.theme.fg("dim", hint)}`;
	}

	#filter(): void {
		const typed = this.input.getValue().trim().toLowerCase();
		const words = typed.split(/\s+/);
		const has = (text: string) => words.every((word) => text.toLowerCase().includes(word));
		const found = this.#rows.filter(({ label, keywords }) => has(`${label} ${keywords}`));
		// Enter takes the first one: what begins as typed comes before what merely contains it.
		const rank = ({ label }: Row) => (label.toLowerCase().startsWith(typed) ? 0 : has(label) ? 1 : 2);
		this.#matching = found.toSorted((one, other) => rank(one) - rank(other));
		this.#selected = 0;
		this.#list = undefined;
	}

	#move(by: number): void {
		this.#selected = Math.max(0, Math.min(this.#matching.length - 1, this.#selected + by));
		this.#current().setSelectedIndex(this.#selected);
	}

	#current(): SelectList {
		if (this.#list) return this.#list;
		const rowOf = (id: string) => this.#matching.find((row) => row.id === id);
		const items = this.#matching.map(({ id, label }) => ({ value: id, label }));
		const list = new SelectList(items, this.#visibleRows, getSelectListTheme(), {
			truncatePrimary: ({ item, maxWidth, isSelected }) => {
				const row = rowOf(item.value);
				return row ? truncateToWidth(this.#draw(row, maxWidth, isSelected), maxWidth, "…") : "";
			},
		});
		list.setSelectedIndex(this.#selected);
		list.onSelectionChange = (item) => {
			this.#selected = this.#matching.findIndex(({ id }) => id === item.value);
		};
		list.onSelect = () => this.onChoose();
		this.#list = list;
		return list;
	}
}

/** `text` filled up with spaces, or cut with an ellipsis, to exactly `width` columns. */
export function column(text: string, width: number): string {
	return truncateToWidth(text, width, "…", true);
}
