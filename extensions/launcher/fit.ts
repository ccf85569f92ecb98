/** Fits plain text into the columns and rows that are available. Pure. */

import { stripVTControlCharacters } from "node:util";
import { type KeybindingsManager, truncateToWidth, visibleWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui";
import { oneLine, plainText } from "./plain-text.ts";

/** The key that shows in full what had no room. */
export const MORE = "tui.input.tab";

/** One line of at most `width` columns. */
export function cut(text: string, width: number): string {
	return cutWith(oneLine(text), width, "…");
}

/** One line of exactly `width` columns. */
export function column(text: string, width: number): string {
	const shown = cut(text, width);
	return shown + " ".repeat(Math.max(0, width - visibleWidth(shown)));
}

/** At most `rows` lines. If the text is longer, the last line names the key that shows the rest. */
export function wrap(text: string, width: number, rows: number, keys: KeybindingsManager): string[] {
	const lines = wrapTextWithAnsi(plainText(text), Math.max(1, width));
	if (lines.length <= rows) return lines;
	const key = keyName(keys, MORE);
	const end = key === undefined ? "…" : `… ${key} more`;
	const last = cutWith(lines[rows - 1] ?? "", Math.max(0, width - visibleWidth(end)), "").trimEnd();
	return [...lines.slice(0, rows - 1), last + end];
}

/** The key to press, or undefined if the user has bound none. */
export function keyName(keys: KeybindingsManager, binding: Parameters<KeybindingsManager["getKeys"]>[0]) {
	const short: Partial<Record<string, string>> = { escape: "esc", delete: "del", pageDown: "pgdn" };
	const key = keys.getKeys(binding)[0];
	return key === undefined ? undefined : (short[key] ?? key);
}

/** pi ends a cut with a reset, which would also end the colour of the rest of the line. */
function cutWith(text: string, width: number, ellipsis: string): string {
	return stripVTControlCharacters(truncateToWidth(text, width, ellipsis));
}
