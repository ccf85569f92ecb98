/** What a screen of /px is, and what screens need from pi. Types only. */

import type { Theme } from "@earendil-works/pi-coding-agent";
import type { Keybinding, KeybindingsManager, TUI, TuiMouseEvent, TuiMouseEventResult } from "@earendil-works/pi-tui";
import type { Level } from "../_shared/say.ts";

/** A key binding and what it does here. */
export type Hint = readonly [keybinding: Keybinding, does: string];

export interface Screen {
	readonly title: string;
	readonly hints: readonly Hint[];
	/** Whether its text cursor is shown. */
	focused: boolean;
	/** It gets all the rows that are available. */
	readonly isTall?: boolean;
	/** Everything about the selected row; `render` may have no room for all of it. */
	readonly about?: string;
	/** At most `rows` lines. */
	render(width: number, rows: number): readonly string[];
	handleInput(data: string): void;
	/** `event.y` is counted from the screen's first line. */
	handleMouse?(event: TuiMouseEvent): TuiMouseEventResult | undefined;
	invalidate?(): void;
}

/** What screens need from pi. */
export interface Host {
	readonly tui: Pick<TUI, "requestRender" | "children"> & { readonly terminal: { readonly rows: number } };
	readonly theme: Theme;
	readonly keys: KeybindingsManager;
	/** Tells the user something when the screen is no longer there to show it. Never throws. */
	notify(text: string, level: Level): void;
}
