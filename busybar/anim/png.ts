/** Converts PNG frames to and from R, G, B, A bytes. Pure. */

import { PNG } from "pngjs";
import { CommandError } from "../command-error.ts";

const pngSignature = "89504e470d0a1a0a";

/**
 * `name` is for messages.
 * @throws CommandError if it is not a PNG file, is damaged, or is larger than 255x255 (checked before decoding)
 */
export function decodePng(name: string, bytes: Uint8Array): { width: number; height: number; rgba: Uint8Array } {
	const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	if (file.toString("hex", 0, 8) !== pngSignature || file.length < 33) {
		throw new CommandError(`${name} is not a PNG file; save it as one.`);
	}
	const [width, height] = [file.readUInt32BE(16), file.readUInt32BE(20)];
	if (width < 1 || height < 1 || width > 255 || height > 255) {
		throw new CommandError(`${name} is ${width}x${height}; make it 255x255 or smaller.`);
	}
	try {
		const png = PNG.sync.read(file);
		return { width, height, rgba: new Uint8Array(png.data) };
	} catch {
		throw new CommandError(`${name} is a damaged PNG file; save it again.`);
	}
}

/** The same picture always gives the same bytes. */
export function encodePng(width: number, height: number, rgba: Uint8Array): Uint8Array {
	const png = new PNG({ width, height });
	png.data = Buffer.from(rgba);
	return PNG.sync.write(png);
}
