// A screen of the bar as text: two pixels above each other are one character. Pure.

import type { Screen } from "../support/led-picture.ts";

/** In 24-bit colour: the character's own colour is the upper pixel, its background the lower one. */
export function colourLines(screen: Screen): string[] {
	return lines(screen, (upper, lower) => `\x1b[38;2;${upper.join(";")}m\x1b[48;2;${lower.join(";")}m▀`).map(
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
