/** A screen of things to choose from. Draws in pi only. */

import { type TuiMouseEvent, type TuiMouseEventResult, visibleWidth } from "@earendil-works/pi-tui";
import { column, FilterList, type ListRow } from "./filter-list.ts";
import type { Frame } from "./frame.ts";
import type { Hint, Screen } from "./screen.ts";

export interface Choice extends ListRow {
	readonly description: string;
	choose(): void;
}

/** From here on descriptions stand beside their labels. */
export const WIDE = 60;
const LABEL_COLUMNS_AT_MOST = 28;
/** What pi's list keeps of a row. */
const ARROW_AND_MARGIN = 4;
const GAP = "  ";
/** From here on a blank line sets the list off. */
const ROOMY = 10;

export class Picker implements Screen {
	readonly title: string;
	readonly hints: readonly Hint[];
	readonly #frame: Frame;
	readonly #list: FilterList<Choice>;
	readonly #choices: readonly Choice[];
	readonly #labelWidth: number;

	/** @param does what choosing does, in a word */
	constructor(frame: Frame, title: string, choices: readonly Choice[], does: string) {
		this.#frame = frame;
		this.title = title;
		this.hints = [
			["tui.select.confirm", does],
			["tui.select.cancel", "back"],
		];
		this.#choices = choices;
		this.#labelWidth = Math.min(LABEL_COLUMNS_AT_MOST, Math.max(...choices.map(({ label }) => visibleWidth(label))));
		const { theme } = frame.host;
		this.#list = new FilterList(frame.host, ({ label, description }, width, isSelected) => {
			if (width < WIDE - ARROW_AND_MARGIN) return label;
			const text = GAP + description;
			return column(label, this.#labelWidth) + (isSelected ? text : theme.fg("muted", text));
		});
		this.#list.onChoose = () => this.#list.selected?.choose();
		this.#list.setRows(choices);
	}

	get focused(): boolean {
		return this.#list.input.focused;
	}

	set focused(focused: boolean) {
		this.#list.input.focused = focused;
	}

	handleInput(data: string): void {
		const { keys } = this.#frame.host;
		if (keys.matches(data, "tui.select.confirm")) this.#list.selected?.choose();
		else if (keys.matches(data, "tui.select.cancel")) this.#frame.back();
		else this.#list.handleInput(data);
	}

	handleMouse(event: TuiMouseEvent): TuiMouseEventResult | undefined {
		return this.#list.handleMouse(event);
	}

	get about(): string {
		const { selected } = this.#list;
		return selected ? `${selected.label}\n\n${selected.description}` : "";
	}

	render(width: number, rows: number): string[] {
		const details = this.#choices.map((choice) => this.#detail(choice, width));
		const detailRows = details.every((detail) => detail === "") ? 0 : detailRowsOf(width, rows);
		const listRows = Math.max(1, Math.min(this.#choices.length, rows - 1 - detailRows));
		const { selected } = this.#list;
		const detail = detailLines(this.#frame, selected ? this.#detail(selected, width) : "", width, detailRows);
		const { theme } = this.#frame.host;
		return [...this.#list.render(width, listRows), ...detail.map((line) => theme.fg("dim", line))];
	}

	/** What the row of this choice has no room for. */
	#detail({ label, description }: Choice, width: number): string {
		const room = width - ARROW_AND_MARGIN;
		const labelRoom = width < WIDE ? room : this.#labelWidth;
		if (visibleWidth(label) > labelRoom) return `${label}: ${description}`;
		const fits = width >= WIDE && visibleWidth(GAP + description) <= room - labelRoom;
		return fits ? "" : description;
	}
}

/** How many of a screen's rows are for what is said about the selected one. */
export function detailRowsOf(width: number, rows: number): number {
	if (rows >= ROOMY) return width < WIDE ? 4 : 3;
	return rows >= 6 ? 2 : 0;
}

/** Exactly `rows` lines, so that a list does not jump while the selection moves; the first one empty if there is room. */
export function detailLines(frame: Frame, text: string, width: number, rows: number): string[] {
	if (rows === 0) return [];
	const space = rows > 2 ? [""] : [];
	const room = rows - space.length;
	const lines = frame.wrap(text, width - 4, room).map((line) => (line === "" ? "" : `  ${line}`));
	return [...space, ...lines, ...Array<string>(room - lines.length).fill("")];
}
