/** How many rows are left for a component that stands in the editor's place. Pure. */

import type { Component } from "@earendil-works/pi-tui";
import type { Host } from "./screen.ts";

/** pi shows, from top to bottom: the transcript; queued messages, status, widgets; the editor; widgets, footer. */
const PARTS_ABOVE = 3;
/** pi always shows at least this much of the transcript. */
const TRANSCRIPT_ROWS = 1;
/** pi's own footer with a status line. */
const USUAL_FOOTER_ROWS = 3;

/** A component that draws more rows than this loses the last ones, and with them the key hints. */
export function rowsFor(component: Component, { children, terminal }: Host["tui"], width: number): number {
	const place = children.findIndex((part) => "children" in part && (part.children as Component[]).includes(component));
	const rows = terminal.rows - TRANSCRIPT_ROWS;
	// This pi is built differently.
	if (place < 0) return rows - USUAL_FOOTER_ROWS;
	const linesOf = (parts: readonly Component[]) => parts.flatMap((part) => part.render(width));
	const above = linesOf(children.slice(Math.max(0, place - PARTS_ABOVE), place));
	// If rows are short, pi drops the blank line above the editor first.
	const isBlank = above.every((line) => line.trim() === "");
	return rows - (isBlank ? 0 : above.length) - linesOf(children.slice(place + 1)).length;
}
