import { describe, expect, test } from "vitest";
import { renderPattern } from "../../busybar/anim/patterns.ts";

const front = { width: 72, height: 16, frameCount: 12, fps: 12, gray: false };
const back = { width: 160, height: 80, frameCount: 12, fps: 12, gray: true };

/** The relative luminance of each pixel, 0..1: WCAG 2.3.1 counts its changes. */
function luminance(frame: Uint8Array): number[] {
	const linear = (value = 0) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
	return Array.from({ length: frame.length / 4 }, (_, pixel) => {
		const [red, green, blue] = frame.subarray(pixel * 4, pixel * 4 + 3);
		return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
	});
}

/** How often a value rises by a tenth and falls again in one loop. */
function flashes(levels: readonly number[]): number {
	let [count, low, high, rising] = [0, 1, 0, false];
	for (const level of [...levels, ...levels]) {
		if (rising) {
			high = Math.max(high, level);
			if (high - level >= 0.1) [rising, low] = [false, level];
		} else {
			low = Math.min(low, level);
			if (level - low >= 0.1) [rising, high, count] = [true, level, count + 1];
		}
	}
	return count / 2;
}

describe.each(["spinner", "pulse"] as const)("%s", (pattern) => {
	test("is the same every time", () => {
		expect(renderPattern(pattern, front)).toEqual(renderPattern(pattern, front));
	});

	test.each([
		["front", front],
		["back", back],
		["fewest frames", { ...front, frameCount: 2 }],
		["slow", { ...front, frameCount: 2, fps: 1 }],
		["tiny", { ...front, width: 2, height: 2 }],
	])("has as many frames as asked for, each different from the next (%s)", (_, shape) => {
		const frames = renderPattern(pattern, shape);
		expect(frames).toHaveLength(shape.frameCount);
		for (const [index, frame] of frames.entries()) {
			expect(frame).toHaveLength(shape.width * shape.height * 4);
			expect(frame).not.toEqual(frames[(index + 1) % frames.length]);
		}
	});

	test("turns every part of the display on and off", () => {
		const frames = renderPattern(pattern, front).map(luminance);
		const pixels = frames[0]?.map((_, pixel) => frames.map((frame) => frame[pixel] ?? 0)) ?? [];
		const alive = pixels.filter((levels) => Math.max(...levels) > 0.2 && Math.min(...levels) < 0.05);
		expect(alive.length / pixels.length).toBeGreaterThan(0.95);
	});

	test("moves smoothly from its last frame to its first", () => {
		const frames = renderPattern(pattern, { ...front, frameCount: 24, fps: 24 }).map(luminance);
		const steps = frames.map((frame, index) => {
			const following = frames[(index + 1) % frames.length] ?? [];
			return frame.reduce((sum, level, pixel) => sum + Math.abs(level - (following[pixel] ?? 0)), 0);
		});
		expect(steps.at(-1)).toBeLessThanOrEqual(Math.max(...steps.slice(0, -1)) * 1.05);
	});

	test.each([
		[12, 12],
		[24, 12],
		[6, 12],
		[4, 12],
		[2, 12],
		[2, 30],
		[16, 30],
		[60, 30],
		[100, 7],
	])("flashes at most three times a second at any point: %i frames at %i fps", (frameCount, fps) => {
		const frames = renderPattern(pattern, { ...front, frameCount, fps }).map(luminance);
		const pixels = frames[0]?.map((_, pixel) => flashes(frames.map((frame) => frame[pixel] ?? 0))) ?? [];
		// All beams meet in the centre. WCAG allows flashes in an area as small as that.
		const tooMany = pixels.filter((count) => (count * fps) / frameCount > 3);
		expect(tooMany.length / pixels.length).toBeLessThan(0.01);
	});
});
