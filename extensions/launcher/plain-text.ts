/** Makes the text of other extensions safe to show in a terminal. Pure. */

import { stripVTControlCharacters } from "node:util";

/** Keeps newlines and tabs; removes escape sequences and other control characters, which could move the cursor. */
export function plainText(text: string): string {
	return stripVTControlCharacters(text).replaceAll(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, "");
}

export function oneLine(text: string): string {
	return plainText(text).replaceAll(/[\n\t]+/g, " ");
}

/** "a, b or c" */
export function orList(words: readonly string[]): string {
	return new Intl.ListFormat("en-GB", { type: "disjunction" }).format(words);
}

export function messageOf(error: unknown): string {
	return plainText(error instanceof Error ? error.message : String(error));
}
