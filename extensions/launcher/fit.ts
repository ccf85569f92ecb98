/** Plain text fitted into the columns and rows that there are. Pure. */

import { stripVTControlCharacters } from "node:util";
import { type KeybindingsManager, truncateToWidth, visibleWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui";
import { oneLine, plainText } from "./plain-text.ts";

/** Shows in full what had no room. */
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

/** At most `rows` lines; if there is more, the last one names the key that shows it. */
export function wrap(text: string, width: number, rows: number, keys: KeybindingsManager): string[] {
	const lines = wrapTextWithAnsi(plainText(text), Math.max(1, width));
	if (lines.length <= rows) return lines;
	const key = keyName(keys, MORE);
	const end = key === undefined ? "…" : `… ${key} more`;
	const last = cutWith(lines[rows - 1] ?? "", Math.max(0, width - visibleWidth(end)), "").trimEnd();
	return [...lines.slice(0, rows - 1), last + end];
}

/** What the user presses; undefined if they have bound no key to it. */
export function keyName(keys: KeybindingsManager, binding: Parameters<KeybindingsManager["getKeys"]>[0]) {
	const short: Partial<Record<string, string>> = { escape: "esc", delete: "del", pageDown: "pgdn" };
	const key = keys.getKeys(binding)[0];
	return key === undefined ? undefined : (short[key] ?? key);
}

/** pi ends its cut with a reset, which would end the colour of the rest of the line too. */
function cutWith(text: string, width: number, ellipsis: string): string {
	return stripVTControlCharacters(truncateToWidth(text, width, ellipsis));
}
