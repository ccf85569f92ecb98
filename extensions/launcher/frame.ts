/** The frame around the screens of /px: which one is open, title, messages and key hints. Draws in pi only. */

import { DynamicBorder } from "@earendil-works/pi-coding-agent";
import {
	type Component,
	type Focusable,
	Text,
	type TuiMouseEvent,
	type TuiMouseEventResult,
	truncateToWidth,
	visibleWidth,
} from "@earendil-works/pi-tui";
import type { Level } from "../_shared/say.ts";
import { cut, keyName, MORE, wrap } from "./fit.ts";
import { plainText } from "./plain-text.ts";
import { rowsFor } from "./room.ts";
import type { Hint, Host, Screen } from "./screen.ts";
import { TextScreen } from "./text-screen.ts";

/** Border and title. */
const ROWS_ABOVE_SCREEN = 2;
/** The filter and the selected row. */
const SCREEN_ROWS_AT_LEAST = 2;
const SCREEN_ROWS_AT_MOST = 16;
const HINT_ROWS = 1;
/** With this many rows there is room for a blank line before the hints and a border below them. */
const ROOMY_ROWS = 16;
export const MESSAGE_ROWS_AT_MOST = 5;

export class Frame implements Component, Focusable {
	/** Otherwise the paging keys scroll the transcript in pi's fullscreen mode. */
	readonly capturesViewportInput = true;
	readonly host: Host;
	/** Called when the user goes back from the first screen. */
	onClose: () => void = () => undefined;
	/** Called when something else has taken its place for good: pi before 1.0 does not come back after a dialog. */
	onDisplaced: () => void = () => undefined;
	/** The label of the action that is running. Only one runs at a time, so that no answer hides another. */
	running: string | undefined;
	readonly #stack: Screen[] = [];
	#focused = false;
	#message: { readonly text: string; readonly level: Level } | undefined;
	/** How many lines were above the open screen when it was last drawn. */
	#screenTop = ROWS_ABOVE_SCREEN;

	constructor(host: Host) {
		this.host = host;
	}

	get focused(): boolean {
		return this.#focused;
	}

	set focused(focused: boolean) {
		this.#focused = focused;
		this.#passFocusOn();
	}

	open(screen: Screen): void {
		this.#message = undefined;
		this.#stack.push(screen);
		this.#passFocusOn();
		this.changed();
	}

	openText(title: string, text: Component): void {
		this.open(new TextScreen(this.host, () => this.back(), title, text));
	}

	/** Goes back to the screen before; from the first screen, leaves. */
	back(): void {
		this.#stack.pop();
		if (this.#stack.length === 0) this.onClose();
		this.#passFocusOn();
		this.changed();
	}

	/** Shows a message below the open screen until the next key. Never throws. */
	report(text: string, level: Level): void {
		if (!this.isInUse) this.host.notify(text, level);
		this.#message = { text, level };
		this.changed();
	}

	/** Whether the user is still here. */
	get isInUse(): boolean {
		return this.#stack.length > 0;
	}

	/** Call this after something else may have taken its place. */
	comeBack(): void {
		if (this.isInUse && !this.#focused) this.onDisplaced();
	}

	/** Call this when the open screen looks different. */
	changed(): void {
		this.host.tui.requestRender();
	}

	invalidate(): void {
		for (const screen of this.#stack) screen.invalidate?.();
	}

	handleInput(data: string): void {
		const message = this.#message?.text;
		this.#message = undefined;
		const screen = this.#stack.at(-1);
		const all = [message, screen?.about].filter((text) => text).join("\n\n");
		if (all !== "" && this.host.keys.matches(data, MORE)) this.openText("More", new Text(plainText(all), 0, 0));
		else screen?.handleInput(data);
		this.changed();
	}

	handleMouse(event: TuiMouseEvent): TuiMouseEventResult | undefined {
		return this.#stack.at(-1)?.handleMouse?.({ ...event, y: event.y - this.#screenTop });
	}

	render(width: number): string[] {
		const screen = this.#stack.at(-1);
		if (!screen) return [];
		const { theme, tui } = this.host;
		const rows = Math.max(SCREEN_ROWS_AT_LEAST + HINT_ROWS, rowsFor(this, tui, width));
		const isRoomy = rows >= ROOMY_ROWS;
		const inside = rows - ROWS_ABOVE_SCREEN - HINT_ROWS - (isRoomy ? 2 : 0);
		const message = this.#messageLines(width, Math.min(MESSAGE_ROWS_AT_MOST, inside - SCREEN_ROWS_AT_LEAST));
		const screenRows = (screen.isTall ? inside : Math.min(inside, SCREEN_ROWS_AT_MOST)) - message.length;
		const lines = [
			this.#border(width),
			theme.fg("accent", theme.bold(this.#path(width))),
			...screen.render(width, Math.max(SCREEN_ROWS_AT_LEAST, screenRows)),
			...message,
			...(isRoomy ? [""] : []),
			this.#hints(screen.hints, width),
			...(isRoomy ? [this.#border(width)] : []),
		];
		// If this is still too much, the border goes first, then the title.
		const shown = lines.slice(-rows);
		this.#screenTop = ROWS_ABOVE_SCREEN - (lines.length - shown.length);
		return shown.map((line) => (visibleWidth(line) > width ? truncateToWidth(line, width) : line));
	}

	#border(width: number): string {
		return new DynamicBorder((text) => this.host.theme.fg("border", text)).render(width).join("");
	}

	#messageLines(width: number, rows: number): string[] {
		if (!this.#message) return [];
		const { text, level } = this.#message;
		const { theme, keys } = this.host;
		const lines = wrap(text, width - 2, Math.max(1, rows), keys);
		return lines.map((line) => theme.fg(level === "info" ? "success" : "warning", line));
	}

	#passFocusOn(): void {
		for (const screen of this.#stack) screen.focused = this.#focused && screen === this.#stack.at(-1);
	}

	/** The titles that led here; the first ones are left out if not all fit. */
	#path(width: number): string {
		const titles = this.#stack.map(({ title }) => title);
		const path = () => titles.join(" › ");
		if (visibleWidth(path()) <= width) return path();
		while (titles.length > 1 && visibleWidth(path()) > width - 4) titles.shift();
		return cut(`… › ${path()}`, width);
	}

	/** Hints at the end are left out if not all fit. */
	#hints(hints: readonly Hint[], width: number): string {
		const { theme, keys } = this.host;
		const parts = hints.flatMap(([binding, does]) => {
			const key = keyName(keys, binding);
			return key === undefined ? [] : [theme.fg("dim", key) + theme.fg("muted", ` ${does}`)];
		});
		const line = () => parts.join(theme.fg("dim", " · "));
		while (parts.length > 1 && visibleWidth(line()) > width) parts.pop();
		return line();
	}
}
