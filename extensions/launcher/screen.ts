/** What a screen of /px is, and what screens need of pi. Types alone. */

import type { Theme } from "@earendil-works/pi-coding-agent";
import type { Keybinding, KeybindingsManager, TUI, TuiMouseEvent, TuiMouseEventResult } from "@earendil-works/pi-tui";
import type { Level } from "../_shared/say.ts";

/** A key binding and what it does here. */
export type Hint = readonly [keybinding: Keybinding, does: string];

export interface Screen {
	readonly title: string;
	readonly hints: readonly Hint[];
	/** Whether its text cursor is to blink. */
	focused: boolean;
	/** It gets as many rows as there are. */
	readonly isTall?: boolean;
	/** All there is to say about what is selected; `render` may have room for less. */
	readonly about?: string;
	/** At most `rows` lines, unless there is no less to say. */
	render(width: number, rows: number): readonly string[];
	handleInput(data: string): void;
	/** `event.y` counts from the screen's first line. */
	handleMouse?(event: TuiMouseEvent): TuiMouseEventResult | undefined;
	invalidate?(): void;
}

/** What screens need of pi. */
export interface Host {
	readonly tui: Pick<TUI, "requestRender" | "children"> & { readonly terminal: { readonly rows: number } };
	readonly theme: Theme;
	readonly keys: KeybindingsManager;
	/** Tells what the screen is no longer there to tell. Never throws. */
	notify(text: string, level: Level): void;
}
