/**
 * Draws the pixels of a display at a given time: animations, PNG images and rectangles, but not text. What is larger
 * than the display is cut off. If nothing is drawn, the display is dark: the clock and the bar's other applications are
 * not simulated. Pure.
 */

import { PNG } from "pngjs";
import type { Animation } from "../anim/animation.ts";
import { decodeBicycle0 } from "../anim/bicycle0.ts";
import { type Display, displays } from "../displays.ts";
import type { ShownElement } from "./canvas.ts";
import type { Alignment, AnimationElement, Color, DrawElement, RectangleElement } from "./draw-request.ts";

export interface Picture {
	readonly width: number;
	readonly height: number;
	/** `width * height * 4` bytes R, G, B, A, with the top row first. */
	readonly rgba: Uint8Array;
}

/** Decodes files, and remembers the result as long as the bytes of the file exist. */
export class FileDecoder {
	readonly #animations = new WeakMap<Uint8Array, Animation | "unreadable">();
	readonly #images = new WeakMap<Uint8Array, Picture | "unreadable">();

	/** Undefined if the bar could not play the file. */
	animation(file: Uint8Array | undefined): Animation | undefined {
		return remember(this.#animations, file, decodeBicycle0);
	}

	image(file: Uint8Array | undefined): Picture | undefined {
		return remember(this.#images, file, (bytes) => {
			const { width, height, data } = PNG.sync.read(Buffer.from(bytes));
			return { width, height, rgba: data };
		});
	}
}

/** `elements` from the lowest to the topmost. */
export function drawScreen(
	elements: readonly ShownElement[],
	display: Display,
	nowMs: number,
	readFile: (path: string) => Uint8Array | undefined,
	decoder: FileDecoder,
): Picture {
	const { width, height } = displays[display];
	const screen = { width, height, rgba: new Uint8Array(width * height * 4) };
	for (let alpha = 3; alpha < screen.rgba.length; alpha += 4) screen.rgba[alpha] = 255;
	for (const { element, startedAtMs } of elements) {
		if (element.display !== display) continue;
		if (element.type === "animation") {
			const frame = animationFrame(element, decoder.animation(readFile(element.file)), nowMs - startedAtMs);
			blend(screen, element, frame === undefined ? LOAD_ERROR : pictureLayer(frame));
		} else if (element.type === "image") {
			const image = decoder.image(readFile(element.file));
			if (image !== undefined) blend(screen, element, pictureLayer(image));
		} else if (element.type === "rectangle") {
			blend(screen, element, rectangleLayer(element));
		}
	}
	return screen;
}

/** The front display as the API sends it: B, G, R for each pixel, 3456 bytes. */
export function packFront({ rgba }: Picture): Uint8Array {
	const packed = new Uint8Array((rgba.length / 4) * 3);
	for (let pixel = 0; pixel * 4 < rgba.length; pixel++) {
		packed[pixel * 3] = rgba[pixel * 4 + 2] ?? 0;
		packed[pixel * 3 + 1] = rgba[pixel * 4 + 1] ?? 0;
		packed[pixel * 3 + 2] = rgba[pixel * 4] ?? 0;
	}
	return packed;
}

/** The back display as the API sends it: 4-bit grey, the left pixel in the low half of the byte, 6400 bytes. */
export function packBack({ rgba }: Picture): Uint8Array {
	const packed = new Uint8Array(rgba.length / 8);
	for (let pixel = 0; pixel * 4 < rgba.length; pixel++) {
		const [red = 0, green = 0, blue = 0] = rgba.subarray(pixel * 4, pixel * 4 + 3);
		const level = (77 * red + 150 * green + 29 * blue) >> 12;
		packed[pixel >> 1] = (packed[pixel >> 1] ?? 0) | (pixel % 2 === 0 ? level : level << 4);
	}
	return packed;
}

export function isLit({ rgba }: Picture): boolean {
	return rgba.some((value, index) => index % 4 !== 3 && value > 0);
}

function remember<T>(
	known: WeakMap<Uint8Array, T | "unreadable">,
	file: Uint8Array | undefined,
	decode: (file: Uint8Array) => T,
): T | undefined {
	if (file === undefined) return undefined;
	let decoded = known.get(file);
	if (decoded === undefined) {
		try {
			decoded = decode(file);
		} catch {
			decoded = "unreadable";
		}
		known.set(file, decoded);
	}
	return decoded === "unreadable" ? undefined : decoded;
}

function animationFrame(
	element: AnimationElement,
	animation: Animation | undefined,
	elapsedMs: number,
): Picture | undefined {
	const section = animation?.sections.find(({ name }) => name === element.section);
	if (animation === undefined || section === undefined) return undefined;
	const count = section.end - section.start + 1;
	const played = Math.floor((Math.max(0, elapsedMs) * animation.fps) / 1000);
	const rgba = animation.frames[section.start + (element.loop ? played % count : Math.min(played, count - 1))];
	return rgba && { width: animation.width, height: animation.height, rgba };
}

/** Something to draw: transparent where `at` returns undefined. */
interface Layer {
	readonly width: number;
	readonly height: number;
	at(x: number, y: number): Color | undefined;
}

/** What the bar shows for a file that it cannot play. */
const LOAD_ERROR_ROWS = [
	"#########",
	"#.......#",
	"#.#...#.#",
	"#..#.#..#",
	"#...#...#",
	"#..#.#..#",
	"#.#...#.#",
	"#.......#",
	"#########",
];

const LOAD_ERROR: Layer = {
	width: 9,
	height: 9,
	at: (x, y) => (LOAD_ERROR_ROWS[y]?.[x] === "#" ? [255, 48, 48, 255] : undefined),
};

function pictureLayer({ width, height, rgba }: Picture): Layer {
	return {
		width,
		height,
		at(x, y) {
			const [red = 0, green = 0, blue = 0, alpha = 0] = rgba.subarray((y * width + x) * 4, (y * width + x) * 4 + 4);
			return [red, green, blue, alpha];
		},
	};
}

function rectangleLayer(element: RectangleElement): Layer {
	const { width, height, radius, borderWidth: inset } = element;
	return {
		width,
		height,
		at(x, y) {
			if (!isInside(x, y, width, height, radius)) return undefined;
			const isInterior =
				x >= inset &&
				y >= inset &&
				x < width - inset &&
				y < height - inset &&
				isInside(x - inset, y - inset, width - 2 * inset, height - 2 * inset, radius - inset);
			return isInterior ? fillColor(element, x / width, y / height) : element.borderColor;
		},
	};
}

function isInside(x: number, y: number, width: number, height: number, wantedRadius: number): boolean {
	const radius = Math.min(wantedRadius, width / 2, height / 2);
	if (radius <= 0) return true;
	const dx = Math.max(radius - (x + 0.5), x + 0.5 - (width - radius), 0);
	const dy = Math.max(radius - (y + 0.5), y + 0.5 - (height - radius), 0);
	return dx * dx + dy * dy <= radius * radius;
}

function fillColor({ fill, fillColors }: RectangleElement, acrossX: number, acrossY: number): Color | undefined {
	const [from, to] = fillColors;
	if (fill === "none") return undefined;
	if (fill === "solid") return from;
	const share = fill === "gradient_h" ? acrossX : acrossY;
	const mix = (channel: 0 | 1 | 2 | 3): number => Math.round(from[channel] * (1 - share) + to[channel] * share);
	return [mix(0), mix(1), mix(2), mix(3)];
}

function blend(screen: Picture, element: DrawElement, layer: Layer): void {
	const left = element.x - anchor(element.align, "left", "right", layer.width);
	const top = element.y - anchor(element.align, "top", "bottom", layer.height);
	const toX = Math.min(screen.width, left + layer.width);
	const toY = Math.min(screen.height, top + layer.height);
	for (let y = Math.max(0, top); y < toY; y++) {
		for (let x = Math.max(0, left); x < toX; x++) {
			const color = layer.at(x - left, y - top);
			if (color === undefined) continue;
			const target = (y * screen.width + x) * 4;
			const alpha = color[3] / 255;
			const over = (channel: 0 | 1 | 2): number => {
				const under = screen.rgba[target + channel] ?? 0;
				return Math.round(under + (color[channel] - under) * alpha);
			};
			screen.rgba.set([over(0), over(1), over(2)], target);
		}
	}
}

/** The distance from the edge of the picture to its anchor point, along one axis. */
function anchor(align: Alignment, near: string, far: string, size: number): number {
	if (align.includes(near)) return 0;
	return align.includes(far) ? size : Math.floor(size / 2);
}
