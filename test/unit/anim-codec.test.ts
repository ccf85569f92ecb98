import { describe, expect, test } from "vitest";
import type { Animation, ColorMode } from "../../busybar/anim/animation.ts";
import { decodeBicycle0, encodeBicycle0 } from "../../busybar/anim/bicycle0.ts";
import { CommandError } from "../../busybar/command-error.ts";

/** Always the same numbers: a test that fails must fail again. */
function random(seed: number): () => number {
	let state = seed;
	return () => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
		return state / 2 ** 32;
	};
}

/** Frames whose channels have `levels` values: grey or opaque where the mode needs it. */
function animation(colorMode: ColorMode, levels: number, copies: readonly number[] = [1, 1, 1]): Animation {
	const next = random(levels);
	const [width, height] = [18, 6];
	const frames = copies.flatMap((count) => {
		const frame = new Uint8Array(width * height * 4);
		const value = () => Math.floor(next() * levels) * Math.floor(15 / levels) * 17;
		for (let at = 0; at < frame.length; at += 4) {
			const red = value();
			frame.set(colorMode === "gray4" ? [red, red, red, 255] : [red, value(), value(), 255], at);
			if (colorMode === "argb8888") frame[at + 3] = value();
		}
		return Array.from({ length: count }, () => frame);
	});
	const sections = [{ name: "default", start: 0, end: frames.length - 1 }];
	return { width, height, fps: 12, colorMode, frames, sections };
}

describe("an animation is the same after encoding and decoding", () => {
	for (const mode of ["rgb888", "gray4", "argb8888"] as const) {
		test.each([1, 2, 15])(`${mode}, %i values per channel`, (levels) => {
			const original = animation(mode, levels);
			expect(decodeBicycle0(encodeBicycle0(original))).toEqual(original);
		});
	}

	test("equal frames are stored once for every 255, and sections can start within them", () => {
		const original = animation("rgb888", 15, [1, 600, 2]);
		const withSections = {
			...original,
			sections: [...original.sections, { name: "late", start: 300, end: 602 }, { name: "last", start: 602, end: 602 }],
		};
		const file = encodeBicycle0(withSections);
		expect(decodeBicycle0(file)).toEqual(withSections);
		expect(new DataView(file.buffer).getUint32(28, true)).toBe(1 + 3 + 1);
	});

	test("noise is stored uncompressed and takes no more space than that", () => {
		const file = encodeBicycle0(animation("rgb888", 15));
		expect(file.length).toBe(36 + 21 + 3 * (4 + 18 * 6 * 3));
	});
});

test("the bytes are those of the firmware's format", () => {
	const red = Uint8Array.from([255, 0, 0, 255, 255, 0, 0, 255, 255, 0, 0, 255, 255, 0, 0, 255]);
	const mixed = Uint8Array.from([1, 2, 3, 255, 4, 5, 6, 255, 7, 8, 9, 255, 10, 11, 12, 255]);
	const file = encodeBicycle0({
		width: 2,
		height: 2,
		fps: 30,
		colorMode: "rgb888",
		frames: [red, red, mixed],
		sections: [
			{ name: "default", start: 0, end: 2 },
			{ name: "b", start: 1, end: 2 },
		],
	});
	expect(Buffer.from(file).toString("hex")).toBe(
		[
			"6269 6379 636c 6530 00 02 02 00 1e 0c00 00 24000000 18000000 02000000 02000000 03000000",
			"00000000 02000000 48000000 02 64656661756c7400",
			"01000000 02000000 48000000 01 6200",
			"01 02 0400 04 0000ff",
			"00 01 0c00 030201 060504 090807 0c0b0a",
		]
			.join("")
			.replaceAll(" ", ""),
	);
});

describe("a file that breaks a rule is refused with a sentence that names the field", () => {
	const good = encodeBicycle0(animation("rgb888", 2, [2, 1]));
	const sections = 36;
	const frames = sections + 21;
	const change = (offset: number, ...bytes: number[]) => {
		const file = Uint8Array.from(good);
		file.set(bytes, offset);
		return file;
	};
	test.each<[string, Uint8Array, RegExp]>([
		["empty", new Uint8Array(), /signature is ""/],
		["another format", change(0, 0x47), /signature is "Gicycle0"/],
		["the newer format", change(7, 0x31), /this file is bicycle1/],
		["header cut", good.subarray(0, 20), /file size is 20/],
		["flags", change(8, 1), /flags field is 1/],
		["width", change(9, 0), /width is 0/],
		["height", change(10, 0), /height is 0/],
		["color", change(11, 3), /color format is 3/],
		["fps", change(12, 0), /fps is 0/],
		["longest frame", change(13, 1, 0), /frame 0 length is \d+: the header's maximum is 1/],
		["truncated", good.subarray(0, good.length - 1), /file size is \d+: its header says/],
		["sections length", change(16, 20), /file size/],
		["no sections", change(24, 0), /section count is 0/],
		["too few sections", change(24, 2), /section count is 2: the file has 1/],
		["no file frames", change(28, 0), /file frame count is 0/],
		["too few file frames", change(28, 1), /frame count/],
		["too many file frames", change(28, 3), /file frame count is 3: the file has only 2/],
		["no frames", change(32, 0), /frame count is 0/],
		["a frame count beyond reason", change(32, 255, 255, 255, 255), /frame count is 4294967295/],
		["default starts late", change(sections, 1), /section 0 must be "default" with the frames 0..2/],
		["default ends early", change(sections + 4, 1), /section 0 must be "default"/],
		["default has another name", change(sections + 13, 0x44), /section 0 must be "default".*"Default"/],
		["offset", change(sections + 8, 1), /section 0 offset is 1/],
		["remaining duration", change(sections + 12, 9), /section 0 duration is 9: it must be 2/],
		["name does not end", change(sections + 20, 0x41), /sections length is 21/],
		["name is not UTF-8", change(sections + 13, 0xff), /section 0 name is ff.*not UTF-8/],
		["encoding", change(frames, 2), /frame 0 encoding is 2/],
		["duration", change(frames + 1, 0), /frame 0 duration is 0/],
		["duration past the end", change(frames + 1, 9), /frame 0 duration is 9/],
		["RLE count", change(frames + 4, 0), /frame 0 RLE data is damaged: the count at byte 0 is 0/],
		["RLE too long", change(frames + 4, 0x7f), /frame 0 RLE data is damaged: it decodes to more than/],
	])("%s", (_, file, message) => {
		expect(() => decodeBicycle0(file)).toThrow(CommandError);
		expect(() => decodeBicycle0(file)).toThrow(message);
		expect(() => decodeBicycle0(file)).toThrow(/; (.* and )?(create|compile) .*\.$/);
	});
});

test("each of 3000 damaged files is either refused with a sentence or decodes to a valid animation", () => {
	const next = random(7);
	const sources = (["rgb888", "gray4", "argb8888"] as const).map((mode) =>
		encodeBicycle0(animation(mode, 2, [3, 1, 40])),
	);
	let valid = 0;
	for (let round = 0; round < 3000; round++) {
		const source = sources[round % sources.length] ?? new Uint8Array();
		const file = source.slice(0, next() < 0.2 ? Math.floor(next() * source.length) : source.length);
		// Half of the changes are in the header and the sections, where a wrong number does the most damage.
		for (let flips = Math.floor(next() * 4); flips >= 0; flips--) {
			const offset = Math.floor(next() * (next() < 0.5 ? 60 : file.length));
			if (offset < file.length)
				file[offset] = next() < 0.5 ? Math.floor(next() * 256) : (file[offset] ?? 0) ^ (1 << (round % 8));
		}
		try {
			const decoded = decodeBicycle0(file);
			valid++;
			expect(decodeBicycle0(encodeBicycle0(decoded))).toEqual(decoded);
		} catch (error) {
			expect(error).toBeInstanceOf(CommandError);
		}
	}
	expect(valid).toBeGreaterThan(50);
});
