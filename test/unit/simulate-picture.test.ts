import { PNG } from "pngjs";
import { describe, expect, test } from "vitest";
import type { Animation } from "../../busybar/anim/animation.ts";
import { encodeBicycle0 } from "../../busybar/anim/bicycle0.ts";
import type { ShownElement } from "../../busybar/simulate/canvas.ts";
import { parseDrawRequest } from "../../busybar/simulate/draw-request.ts";
import { drawScreen, FileDecoder, isLit, packBack, packFront } from "../../busybar/simulate/picture.ts";
import { ledPng, unpackScreen } from "../support/led-picture.ts";

const WHITE = [255, 255, 255];
const BLACK = [0, 0, 0];

/** Four frames of 2x2 pixels, each in one color, ten a second. */
const COLORS = [
	[255, 0, 0],
	[0, 255, 0],
	[0, 0, 255],
	[255, 255, 255],
];
const FOUR_COLORS = encodeBicycle0({
	width: 2,
	height: 2,
	fps: 10,
	colorMode: "rgb888",
	frames: COLORS.map((color) => Uint8Array.from({ length: 16 }, (_, i) => color[i % 4] ?? 255)),
	sections: [
		{ name: "default", start: 0, end: 3 },
		{ name: "middle", start: 1, end: 2 },
	],
} satisfies Animation);

function show(
	elements: readonly object[],
	elapsedMs = 0,
	files: Record<string, Uint8Array> = { "a.anim": FOUR_COLORS },
) {
	const { elements: parsed } = parseDrawRequest(
		JSON.stringify({ application_name: "app", elements: elements.map((element) => ({ id: "a", ...element })) }),
	);
	const shown: ShownElement[] = parsed.map((element) => ({
		element,
		startedAtMs: 1000,
		expiresAtMs: undefined,
		cancelExpiry: () => undefined,
	}));
	const screen = (display: "front" | "back") =>
		drawScreen(shown, display, 1000 + elapsedMs, (path) => files[path.split("/").at(-1) ?? ""], new FileDecoder());
	const pixel = (x: number, y: number): number[] => {
		const { rgba, width } = screen("front");
		return [...rgba.subarray((y * width + x) * 4, (y * width + x) * 4 + 3)];
	};
	return { screen, pixel };
}

const LOOPING = { type: "animation", path: "a.anim", loop: true };

describe("an animation", () => {
	test.each([
		[0, 0],
		[99, 0],
		[100, 1],
		[399, 3],
		[400, 0],
		[1250, 0],
	])("with a loop shows after %i ms frame %i", (elapsedMs, frame) => {
		expect(show([LOOPING], elapsedMs).pixel(0, 0)).toEqual(COLORS[frame]);
	});

	test("without a loop keeps its last frame", () => {
		expect(show([{ ...LOOPING, loop: false }], 60_000).pixel(0, 0)).toEqual(COLORS[3]);
	});

	test.each([
		[0, 1],
		[100, 2],
		[200, 1],
	])("plays only its section: after %i ms frame %i", (elapsedMs, frame) => {
		expect(show([{ ...LOOPING, section: "middle" }], elapsedMs).pixel(0, 0)).toEqual(COLORS[frame]);
	});

	test.each([
		["top_left", 10, 5],
		["center", 9, 4],
		["bottom_right", 8, 3],
		["top_mid", 9, 5],
		["mid_right", 8, 4],
	])("aligned %s at 10,5 has its corner at %i,%i", (align, x, y) => {
		const { pixel } = show([{ ...LOOPING, align, x: 10, y: 5 }]);
		expect(pixel(x, y)).toEqual(COLORS[0]);
		expect([pixel(x - 1, y), pixel(x, y - 1), pixel(x + 2, y), pixel(x, y + 2)]).toEqual([BLACK, BLACK, BLACK, BLACK]);
	});

	test("is cut off at the edges of the display", () => {
		const { pixel } = show([{ ...LOOPING, x: 71, y: -1 }]);
		expect(pixel(71, 0)).toEqual(COLORS[0]);
		expect(pixel(0, 1)).toEqual(BLACK);
	});

	test.each<[string, object, Record<string, Uint8Array>]>([
		["is missing", LOOPING, {}],
		["is no animation", LOOPING, { "a.anim": Buffer.from("bicycle1 and more") }],
		["is cut off", LOOPING, { "a.anim": FOUR_COLORS.subarray(0, -3) }],
		["has no such section", { ...LOOPING, section: "nope" }, { "a.anim": FOUR_COLORS }],
	])("that %s shows a 9x9 error sign", (_, element, files) => {
		const { rgba } = show([element], 0, files).screen("front");
		const lit = Array.from({ length: 72 * 16 }, (_, i) => i).filter((i) => (rgba[i * 4] ?? 0) > 0);
		expect(Math.max(...lit.map((i) => i % 72))).toBe(8);
		expect(Math.max(...lit.map((i) => Math.floor(i / 72)))).toBe(8);
	});
});

test("later elements cover earlier ones on the same display", () => {
	const { pixel, screen } = show([
		{ ...LOOPING },
		{ id: "over", type: "rectangle", width: 1, height: 1, border_color: "#00FF00FF" },
		{ id: "behind", type: "rectangle", width: 3, height: 3, display: "back" },
	]);
	expect([pixel(0, 0), pixel(1, 0)]).toEqual([[0, 255, 0], COLORS[0]]);
	expect(isLit(screen("back"))).toBe(true);
});

test("a rectangle has a border, a gradient inside, and round corners", () => {
	const box = { type: "rectangle", width: 11, height: 7, fill: "gradient_h", fill_colors: ["#FF0000FF", "#0000FFFF"] };
	const { pixel } = show([{ ...box, border_color: "#FFFFFFFF", radius: 3 }]);
	expect([pixel(0, 0), pixel(5, 0), pixel(0, 3)]).toEqual([BLACK, WHITE, WHITE]);
	const [leftRed = 0, , leftBlue = 0] = pixel(1, 3);
	const [rightRed = 0, , rightBlue = 0] = pixel(9, 3);
	expect([leftRed > rightRed, leftBlue < rightBlue]).toEqual([true, true]);
	expect(show([{ type: "rectangle", width: 5, height: 5 }]).pixel(2, 2)).toEqual(BLACK);
});

test("a PNG image is drawn with its own transparency", () => {
	const png = new PNG({ width: 2, height: 1 });
	png.data.set([255, 255, 255, 255, 255, 255, 255, 0]);
	const { pixel } = show([{ type: "image", path: "i.png" }], 0, { "i.png": PNG.sync.write(png) });
	expect([pixel(0, 0), pixel(1, 0)]).toEqual([WHITE, BLACK]);
});

test("both displays can be packed and unpacked", () => {
	const { screen } = show([
		{ ...LOOPING, x: 1 },
		{ id: "b", type: "rectangle", width: 1, height: 1, x: 1, display: "back", border_color: "#88888888" },
	]);
	const front = packFront(screen("front"));
	const back = packBack(screen("back"));
	expect([front.length, back.length]).toEqual([3456, 6400]);
	expect([...front.subarray(0, 9)]).toEqual([0, 0, 0, 0, 0, 255, 0, 0, 255]);
	expect(back[0]).toBe(0x40);
	expect([...unpackScreen(Buffer.from(front).toString("base64"), "front").rgb.subarray(3, 6)]).toEqual([255, 0, 0]);
	expect([...unpackScreen(Buffer.from(back).toString("base64"), "back").rgb.subarray(3, 6)]).toEqual([68, 68, 68]);
});

test("an LED picture has a round dot for each pixel", () => {
	const { width, height, data } = PNG.sync.read(ledPng(Uint8Array.from([255, 0, 0, 0, 255, 0]), 2, 1, 10));
	expect([width, height]).toEqual([20, 10]);
	expect([...data.subarray((5 * 20 + 5) * 4, (5 * 20 + 5) * 4 + 3)]).toEqual([255, 20, 20]);
	expect([...data.subarray(0, 3)]).toEqual([0, 0, 0]);
});
