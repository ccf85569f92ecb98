/** A screen of things to choose from. Draws in pi only. */

import { type TuiMouseEvent, type TuiMouseEventResult, visibleWidth } from "@earendil-works/pi-tui";
import { FilterList, WIDE } from "./filter-list.ts";
import { column, cut } from "./fit.ts";
import type { Frame } from "./frame.ts";
import type { Hint, Screen } from "./screen.ts";

export interface Choice {
	/** The filter looks at this too. */
	readonly id: string;
	readonly label: string;
	readonly description: string;
	choose(): void;
}

const LABEL_COLUMNS_AT_MOST = 28;
const GAP = "  ";

export class Picker implements Screen {
	readonly title: string;
	readonly hints: readonly Hint[];
	readonly #frame: Frame;
	readonly #list: FilterList<Choice>;

	/** @param does what Enter does, in one word */
	constructor(frame: Frame, title: string, choices: readonly Choice[], does: string) {
		this.#frame = frame;
		this.title = title;
		this.hints = [
			["tui.select.confirm", does],
			["tui.select.cancel", "back"],
		];
		const { theme } = frame.host;
		const labelWidth = Math.min(LABEL_COLUMNS_AT_MOST, Math.max(...choices.map(({ label }) => visibleWidth(label))));
		this.#list = new FilterList(frame.host, choices, {
			label: ({ label }) => label,
			keywords: ({ id, description }) => `${id} ${description}`,
			draw({ label, description }, width, isSelected) {
				if (width < WIDE) return cut(label, width);
				const text = cut(GAP + description, width - labelWidth);
				return column(label, labelWidth) + (isSelected ? text : theme.fg("muted", text));
			},
			detail({ label, description }, width) {
				const labelRoom = width < WIDE ? width : labelWidth;
				if (visibleWidth(label) > labelRoom) return `${label}: ${description}`;
				const fits = width >= WIDE && visibleWidth(GAP + description) <= width - labelRoom;
				return fits ? "" : description;
			},
		});
		this.#list.onChoose = () => this.#choose();
	}

	get focused(): boolean {
		return this.#list.input.focused;
	}

	set focused(focused: boolean) {
		this.#list.input.focused = focused;
	}

	get about(): string {
		const { selected } = this.#list;
		return selected ? `${selected.label}\n\n${selected.description}` : "";
	}

	handleInput(data: string): void {
		const { keys } = this.#frame.host;
		if (keys.matches(data, "tui.select.confirm")) this.#choose();
		else if (keys.matches(data, "tui.select.cancel")) this.#frame.back();
		else this.#list.handleInput(data);
	}

	handleMouse(event: TuiMouseEvent): TuiMouseEventResult | undefined {
		return this.#list.handleMouse(event);
	}

	render(width: number, rows: number): string[] {
		return this.#list.render(width, rows);
	}

	#choose(): void {
		this.#list.selected?.choose();
	}
}
