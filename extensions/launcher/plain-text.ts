/** Text of other extensions made fit for a terminal. Pure. */

import { stripVTControlCharacters } from "node:util";

/** Lines and tabs stay; escape sequences and other control characters, which could move the cursor, go. */
export function plainText(text: string): string {
	return stripVTControlCharacters(text).replaceAll(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, "");
}

export function oneLine(text: string): string {
	return plainText(text).replaceAll(/[\n\t]+/g, " ");
}

export function messageOf(error: unknown): string {
	return plainText(error instanceof Error ? error.message : String(error));
}
