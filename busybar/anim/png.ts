/** PNG frames to and from R, G, B, A bytes. Pure. */

import { PNG } from "pngjs";
import { CommandError } from "../command-error.ts";

const pngSignature = "89504e470d0a1a0a";

/**
 * `name` is for messages.
 * @throws CommandError if it is no PNG, is damaged, or is larger than 255x255 (looked at before any pixel).
 */
export function decodePng(name: string, bytes: Uint8Array): { width: number; height: number; rgba: Uint8Array } {
	const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	if (file.toString("hex", 0, 8) !== pngSignature || file.length < 33) {
		throw new CommandError(`${name} is not a PNG picture; save it as one.`);
	}
	const [width, height] = [file.readUInt32BE(16), file.readUInt32BE(20)];
	if (width < 1 || height < 1 || width > 255 || height > 255) {
		throw new CommandError(`${name} is ${width}x${height}; frames must be 1x1 to 255x255.`);
	}
	try {
		const png = PNG.sync.read(file);
		return { width, height, rgba: new Uint8Array(png.data) };
	} catch {
		throw new CommandError(`${name} is a damaged PNG picture; save it again.`);
	}
}

/** Always the same bytes for the same picture. */
export function encodePng(width: number, height: number, rgba: Uint8Array): Uint8Array {
	const png = new PNG({ width, height });
	png.data = Buffer.from(rgba);
	return PNG.sync.write(png);
}
