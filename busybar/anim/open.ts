/** Reads an animation from a source zip or a compiled `.anim`, and tells them apart by content, not by name. Pure. */

import { CommandError } from "../command-error.ts";
import type { Animation } from "./animation.ts";
import { decodeBicycle0 } from "./bicycle0.ts";

export function isZip(file: Uint8Array): boolean {
	return file[0] === 0x50 && file[1] === 0x4b;
}

/** `name` is for messages. @throws CommandError if the file is not a valid animation */
export async function openAnimation(
	name: string,
	file: Uint8Array,
): Promise<{ animation: Animation; format: "zip" | "bicycle0" }> {
	try {
		if (isZip(file)) {
			const { decodeSourceZip } = await import("./source-zip.ts");
			return { animation: decodeSourceZip(file), format: "zip" };
		}
		return { animation: decodeBicycle0(file), format: "bicycle0" };
	} catch (error) {
		throw error instanceof CommandError ? new CommandError(`${name}: ${error.message}`) : error;
	}
}
