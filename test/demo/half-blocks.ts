// The bar's display as text: each character shows two pixels, one above the other. Pure.

import type { Screen } from "../support/led-picture.ts";

/** So that the display can be seen in a black terminal, too. */
const UNLIT = 24;

/** In 24-bit colour: the character's own colour is the upper pixel, its background the lower one. */
export function colourLines(screen: Screen): string[] {
	const colour = (pixel: Pixel) => `2;${(Math.max(...pixel) < UNLIT ? [UNLIT, UNLIT, UNLIT] : pixel).join(";")}`;
	return lines(screen, (upper, lower) => `\x1b[38;${colour(upper)};48;${colour(lower)}m▀`).map(
		(line) => `${line}\x1b[0m`,
	);
}

/** Lit or not lit, for a terminal without colours and for a file. */
export function plainLines(screen: Screen): string[] {
	return lines(screen, (upper, lower) => {
		if (isBright(upper)) return isBright(lower) ? "█" : "▀";
		return isBright(lower) ? "▄" : " ";
	});
}

type Pixel = readonly number[];

function lines({ width, height, rgb }: Screen, character: (upper: Pixel, lower: Pixel) => string): string[] {
	const pixel = (x: number, y: number): Pixel => [...rgb.subarray((y * width + x) * 3, (y * width + x) * 3 + 3)];
	return Array.from({ length: height / 2 }, (_, row) =>
		Array.from({ length: width }, (_, x) => character(pixel(x, row * 2), pixel(x, row * 2 + 1))).join(""),
	);
}

function isBright(pixel: Pixel): boolean {
	return Math.max(...pixel) > 96;
}
