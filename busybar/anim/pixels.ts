/** Converts the three pixel layouts of the bar's animation formats to and from R, G, B, A bytes. Pure. */

import type { ColorMode } from "./animation.ts";

interface Layout {
	/** The value of the color field in a file. */
	readonly code: number;
	/** The unit that the run-length code counts in. */
	readonly blockBytes: number;
	readonly bytesPerPixel: number;
}

export const colorModes: Readonly<Record<ColorMode, Layout>> = {
	rgb888: { code: 0, blockBytes: 3, bytesPerPixel: 3 },
	gray4: { code: 1, blockBytes: 1, bytesPerPixel: 0.5 },
	argb8888: { code: 2, blockBytes: 4, bytesPerPixel: 4 },
};

/** `rgb888` drops alpha. `gray4` needs an even pixel count and keeps the upper half of red, like the vendor's tool. */
export function packPixels(rgba: Uint8Array, pixels: number, mode: ColorMode): Uint8Array {
	if (mode === "gray4") {
		return Uint8Array.from({ length: pixels / 2 }, (_, index) => {
			const [left = 0, right = 0] = [rgba[index * 8], rgba[index * 8 + 4]];
			return (left & 0xf0) | (right >> 4);
		});
	}
	const { bytesPerPixel } = colorModes[mode];
	const packed = new Uint8Array(pixels * bytesPerPixel);
	for (let from = 0, to = 0; from < rgba.length; from += 4, to += bytesPerPixel) {
		packed[to] = rgba[from + 2] ?? 0;
		packed[to + 1] = rgba[from + 1] ?? 0;
		packed[to + 2] = rgba[from] ?? 0;
		if (bytesPerPixel === 4) packed[to + 3] = rgba[from + 3] ?? 0;
	}
	return packed;
}

/** The reverse. `packed` must have the right size; without alpha in the layout, the pixels are opaque. */
export function unpackPixels(packed: Uint8Array, pixels: number, mode: ColorMode): Uint8Array {
	const rgba = new Uint8Array(pixels * 4).fill(255);
	if (mode === "gray4") {
		for (let index = 0; index < pixels; index++) {
			const pair = packed[index >> 1] ?? 0;
			const level = (index % 2 === 0 ? pair >> 4 : pair & 0x0f) * 17;
			rgba.fill(level, index * 4, index * 4 + 3);
		}
		return rgba;
	}
	const { bytesPerPixel } = colorModes[mode];
	for (let from = 0, to = 0; to < rgba.length; from += bytesPerPixel, to += 4) {
		rgba[to] = packed[from + 2] ?? 0;
		rgba[to + 1] = packed[from + 1] ?? 0;
		rgba[to + 2] = packed[from] ?? 0;
		if (bytesPerPixel === 4) rgba[to + 3] = packed[from + 3] ?? 0;
	}
	return rgba;
}
