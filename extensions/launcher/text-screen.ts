/** A screen that shows a long text and scrolls through it. Draws in pi only. */

import { type Component, matchesKey, type TuiMouseEvent, type TuiMouseEventResult } from "@earendil-works/pi-tui";
import type { Hint, Host, Screen } from "./screen.ts";

const WHEEL_LINES = 3;

export class TextScreen implements Screen {
	readonly title: string;
	readonly isTall = true;
	readonly hints: readonly Hint[] = [
		["tui.select.cancel", "back"],
		["tui.select.down", "scroll"],
		["tui.select.pageDown", "page"],
		["tui.editor.cursorLineStart", "top"],
		["tui.editor.cursorLineEnd", "bottom"],
	];
	focused = false;
	readonly #host: Host;
	readonly #back: () => void;
	readonly #text: Component;
	#top = 0;
	/** As last drawn. */
	#rows = 1;
	#lineCount = 0;

	constructor(host: Host, back: () => void, title: string, text: Component) {
		this.#host = host;
		this.#back = back;
		this.title = title;
		this.#text = text;
	}

	render(width: number, rows: number): string[] {
		const lines = this.#text.render(width);
		this.#lineCount = lines.length;
		// The last row shows the position.
		this.#rows = lines.length > rows ? rows - 1 : rows;
		this.#scrollTo(this.#top);
		const shown = lines.slice(this.#top, this.#top + this.#rows);
		if (lines.length <= rows) return shown;
		const position = `  Lines ${this.#top + 1}-${this.#top + shown.length} of ${lines.length}`;
		return [...shown, this.#host.theme.fg("dim", position)];
	}

	handleInput(data: string): void {
		const { keys } = this.#host;
		if (keys.matches(data, "tui.select.cancel") || keys.matches(data, "tui.select.confirm")) this.#back();
		else if (keys.matches(data, "tui.select.up")) this.#scrollTo(this.#top - 1);
		else if (keys.matches(data, "tui.select.down")) this.#scrollTo(this.#top + 1);
		else if (keys.matches(data, "tui.select.pageUp")) this.#scrollTo(this.#top - this.#rows);
		else if (keys.matches(data, "tui.select.pageDown") || matchesKey(data, "space"))
			this.#scrollTo(this.#top + this.#rows);
		else if (keys.matches(data, "tui.editor.cursorLineStart")) this.#scrollTo(0);
		else if (keys.matches(data, "tui.editor.cursorLineEnd")) this.#scrollTo(this.#lineCount);
	}

	handleMouse({ type, wheelDelta }: TuiMouseEvent): TuiMouseEventResult | undefined {
		if (type !== "wheel" || !wheelDelta) return undefined;
		this.#scrollTo(this.#top + Math.sign(wheelDelta) * WHEEL_LINES);
		return { handled: true };
	}

	invalidate(): void {
		this.#text.invalidate();
	}

	#scrollTo(top: number): void {
		this.#top = Math.max(0, Math.min(top, this.#lineCount - this.#rows));
	}
}
