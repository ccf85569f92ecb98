/** How many rows of the terminal pi's other parts leave to what stands in the editor's place. Pure. */

import type { Component } from "@earendil-works/pi-tui";
import type { Host } from "./screen.ts";

/** From top to bottom, pi shows the transcript; queued messages, status, widgets; the editor; widgets, the footer. */
const PARTS_ABOVE = 3;
/** The least that pi shows of the transcript. */
const TRANSCRIPT_ROWS = 1;
/** pi's footer with a status line. */
const USUAL_FOOTER_ROWS = 3;

/** pi gives less than was drawn where there is no room, and cuts off the end, with the key hints in it. */
export function rowsFor(component: Component, { children, terminal }: Host["tui"], width: number): number {
	const place = children.findIndex((part) => "children" in part && (part.children as Component[]).includes(component));
	const rows = terminal.rows - TRANSCRIPT_ROWS;
	// A pi that is built differently.
	if (place < 0) return rows - USUAL_FOOTER_ROWS;
	const linesOf = (parts: readonly Component[]) => parts.flatMap((part) => part.render(width));
	const above = linesOf(children.slice(Math.max(0, place - PARTS_ABOVE), place));
	// Where rows are missing, pi leaves out the blank line above the editor first.
	const isBlank = above.every((line) => line.trim() === "");
	return rows - (isBlank ? 0 : above.length) - linesOf(children.slice(place + 1)).length;
}
