/**
 * The compiled animation format of BUSY Bars up to API 27.5. Pure.
 * Layout: busy-app/busybar-firmware, lib/anim_file/anim_file_format.h at 2131385d.
 */

import { CommandError } from "../command-error.ts";
import type { Animation, ColorMode, Section } from "./animation.ts";
import { colorModes, packPixels, unpackPixels } from "./pixels.ts";
import { compress, decompress } from "./rle.ts";

const signature = "bicycle0";
const headerBytes = 36;
const sectionHeaderBytes = 13;
const frameHeaderBytes = 4;
const maxDuration = 255;

/** The most display frames that we write or read: more than two minutes at 30 fps. */
const maxFrames = 4096;
/** The most memory for pixels: a small file can decode to a lot of them. */
const maxDecodedBytes = 128 * 1024 * 1024;

interface FileFrame {
	readonly encoding: 0 | 1;
	readonly data: Uint8Array;
	duration: number;
}

/** @throws CommandError if the animation does not fit into the format */
export function encodeBicycle0(animation: Animation): Uint8Array {
	const { width, height, fps, colorMode, frames, sections } = animation;
	requireFits({ width, height, fps, colorMode, frameCount: frames.length });
	requireSections(sections, frames.length);

	const { fileFrames, holds } = fileFramesOf(animation);
	const names = sections.map((section) => new TextEncoder().encode(section.name));
	const sectionsBytes = names.reduce((sum, name) => sum + sectionHeaderBytes + name.length + 1, 0);
	const framesBytes = fileFrames.reduce((sum, frame) => sum + frameHeaderBytes + frame.data.length, 0);

	const file = new Uint8Array(headerBytes + sectionsBytes + framesBytes);
	const view = new DataView(file.buffer);
	file.set(new TextEncoder().encode(signature));
	file.set([0, width, height, colorModes[colorMode].code, fps], 8);
	view.setUint16(13, Math.max(...fileFrames.map((frame) => frame.data.length)), true);
	view.setUint32(16, sectionsBytes, true);
	view.setUint32(20, framesBytes, true);
	view.setUint32(24, sections.length, true);
	view.setUint32(28, fileFrames.length, true);
	view.setUint32(32, frames.length, true);

	let offset = headerBytes + sectionsBytes;
	const offsets = fileFrames.map((frame) => {
		const start = offset;
		file.set([frame.encoding, frame.duration], start);
		view.setUint16(start + 2, frame.data.length, true);
		file.set(frame.data, start + frameHeaderBytes);
		offset += frameHeaderBytes + frame.data.length;
		return start;
	});

	offset = headerBytes;
	for (const [index, section] of sections.entries()) {
		const name = names[index] ?? new Uint8Array();
		const hold = holds[section.start] ?? { fileFrame: 0, passed: 0 };
		view.setUint32(offset, section.start, true);
		view.setUint32(offset + 4, section.end, true);
		view.setUint32(offset + 8, offsets[hold.fileFrame] ?? 0, true);
		view.setUint8(offset + 12, (fileFrames[hold.fileFrame]?.duration ?? 0) - hold.passed);
		file.set(name, offset + sectionHeaderBytes);
		offset += sectionHeaderBytes + name.length + 1;
	}
	return file;
}

/** @throws CommandError if an animation of this shape cannot be compiled */
export function requireFits(shape: Omit<Animation, "frames" | "sections"> & { readonly frameCount: number }): void {
	const { width, height } = shape;
	requireRange("width", width, 1, 255);
	requireRange("height", height, 1, 255);
	requireRange("fps", shape.fps, 1, 255);
	requireRange("frame count", shape.frameCount, 1, maxFrames);
	if (shape.colorMode === "gray4" && (width * height) % 2 !== 0) {
		throw new CommandError(
			`gray4 requires an even pixel count, but ${width}x${height} is odd; change the width or the height.`,
		);
	}
	if (shape.frameCount * width * height * 4 > maxDecodedBytes) {
		const why = `that many frames of ${width}x${height} need too much memory`;
		throw invalid("frame count", shape.frameCount, why, "use fewer or smaller frames");
	}
}

/** Equal neighbours become one file frame. `holds`: for each display frame, which one, and how much of it has passed. */
function fileFramesOf(animation: Animation): {
	fileFrames: FileFrame[];
	holds: { fileFrame: number; passed: number }[];
} {
	const { blockBytes } = colorModes[animation.colorMode];
	const fileFrames: FileFrame[] = [];
	const holds: { fileFrame: number; passed: number }[] = [];
	let previous: Uint8Array | undefined;
	for (const [index, rgba] of animation.frames.entries()) {
		const packed = packPixels(rgba, animation.width * animation.height, animation.colorMode);
		const last = fileFrames.at(-1);
		if (last && previous && last.duration < maxDuration && equalBytes(previous, packed)) {
			last.duration++;
		} else {
			const compressed = compress(packed, blockBytes);
			const rle = compressed.length < packed.length;
			const data = rle ? compressed : packed;
			if (data.length > 0xffff) {
				throw new CommandError(
					`frame ${index} needs ${data.length} bytes, but the format allows at most 65535; make the frame smaller.`,
				);
			}
			fileFrames.push({ encoding: rle ? 1 : 0, data, duration: 1 });
		}
		previous = packed;
		holds.push({ fileFrame: fileFrames.length - 1, passed: (fileFrames.at(-1)?.duration ?? 1) - 1 });
	}
	return { fileFrames, holds };
}

/**
 * Checks what the firmware's loader checks, and what it relies on. Display frames of one file frame share their pixels.
 * @throws CommandError that names the wrong field and its value
 */
export function decodeBicycle0(file: Uint8Array): Animation {
	const found = new TextDecoder("latin1").decode(file.subarray(0, 8));
	if (found === "bicycle1") {
		throw new CommandError(
			"this file is bicycle1, the format of newer firmware, and only bicycle0 is supported; compile its source zip again.",
		);
	}
	if (found !== signature) {
		throw invalid("signature", JSON.stringify(found), `it must be "${signature}"`);
	}
	if (file.length < headerBytes) {
		throw invalid("file size", file.length, `the header alone has ${headerBytes} bytes`);
	}
	const header = readHeader(file);
	const sections = readSections(file, header);
	const framesStart = headerBytes + header.sectionsBytes;

	const { frames, holds } = readFrames(file, framesStart, header);
	for (const [index, section] of sections.entries()) {
		const hold = holds[section.start];
		if (section.offset !== hold?.offset) {
			throw invalid(`section ${index} offset`, section.offset, `frame ${section.start} is at ${hold?.offset}`);
		}
		if (section.remaining !== hold.remaining) {
			throw invalid(`section ${index} duration`, section.remaining, `it must be ${hold.remaining}`);
		}
	}
	return {
		width: header.width,
		height: header.height,
		fps: header.fps,
		colorMode: header.colorMode,
		frames,
		sections: sections.map(({ name, start, end }) => ({ name, start, end })),
	};
}

interface Header {
	readonly width: number;
	readonly height: number;
	readonly colorMode: ColorMode;
	readonly fps: number;
	readonly maxEncodedBytes: number;
	readonly sectionsBytes: number;
	readonly sectionCount: number;
	readonly fileFrameCount: number;
	readonly frameCount: number;
}

function readHeader(file: Uint8Array): Header {
	const view = viewOf(file);
	const u32 = (offset: number) => view.getUint32(offset, true);
	const [flags, width, height, color, fps] = [8, 9, 10, 11, 12].map((offset) => view.getUint8(offset));
	if (flags !== 0) throw invalid("flags field", flags, "it must be 0");
	const colorMode = (Object.keys(colorModes) as ColorMode[]).find((mode) => colorModes[mode].code === color);
	if (!colorMode) throw invalid("color format", color, "only 0, 1 and 2 exist");
	const sectionsBytes = u32(16);
	const framesBytes = u32(20);
	const expected = headerBytes + sectionsBytes + framesBytes;
	if (file.length !== expected) throw invalid("file size", file.length, `its header says ${expected} bytes`);
	const [sectionCount, fileFrameCount, frameCount] = [u32(24), u32(28), u32(32)];
	if (sectionCount === 0) throw invalid("section count", 0, "there must be at least one");
	requireRange("frame count", frameCount, 1, maxFrames);
	requireRange("file frame count", fileFrameCount, 1, frameCount);
	const shape = { width: width ?? 0, height: height ?? 0, fps: fps ?? 0, colorMode };
	requireFits({ ...shape, frameCount: fileFrameCount });
	return {
		...shape,
		maxEncodedBytes: view.getUint16(13, true),
		sectionsBytes,
		sectionCount,
		fileFrameCount,
		frameCount,
	};
}

interface StoredSection extends Section {
	readonly offset: number;
	readonly remaining: number;
}

function readSections(file: Uint8Array, header: Header): StoredSection[] {
	const view = viewOf(file);
	const sections: StoredSection[] = [];
	const end = headerBytes + header.sectionsBytes;
	let at = headerBytes;
	while (at < end) {
		const nameStart = at + sectionHeaderBytes;
		const nameEnd = file.indexOf(0, nameStart);
		if (nameStart >= end || nameEnd < 0 || nameEnd >= end) {
			throw invalid("sections length", header.sectionsBytes, `section ${sections.length} is longer`);
		}
		sections.push({
			name: sectionName(file.subarray(nameStart, nameEnd), sections.length),
			start: view.getUint32(at, true),
			end: view.getUint32(at + 4, true),
			offset: view.getUint32(at + 8, true),
			remaining: view.getUint8(at + 12),
		});
		at = nameEnd + 1;
	}
	if (sections.length !== header.sectionCount) {
		throw invalid("section count", header.sectionCount, `the file has ${sections.length}`);
	}
	requireSections(sections, header.frameCount);
	return sections;
}

function sectionName(bytes: Uint8Array, index: number): string {
	try {
		return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
	} catch {
		throw invalid(`section ${index} name`, Buffer.from(bytes.subarray(0, 32)).toString("hex"), "it is not UTF-8");
	}
}

function readFrames(file: Uint8Array, start: number, header: Header) {
	const view = viewOf(file);
	const { blockBytes, bytesPerPixel } = colorModes[header.colorMode];
	const pixels = header.width * header.height;
	const packedBytes = pixels * bytesPerPixel;
	const frames: Uint8Array[] = [];
	const holds: { offset: number; remaining: number }[] = [];
	let offset = start;
	for (let index = 0; index < header.fileFrameCount; index++) {
		const field = (name: string) => `frame ${index} ${name}`;
		const dataStart = offset + frameHeaderBytes;
		if (dataStart > file.length) throw invalid("file frame count", header.fileFrameCount, `the file has only ${index}`);
		const encoding = view.getUint8(offset);
		const duration = view.getUint8(offset + 1);
		const length = view.getUint16(offset + 2, true);
		const data = file.subarray(dataStart, dataStart + length);
		if (data.length < length) throw invalid(field("length"), length, `only ${data.length} bytes are left`);
		if (length > header.maxEncodedBytes) {
			throw invalid(field("length"), length, `the header's maximum is ${header.maxEncodedBytes}`);
		}
		if (encoding > 1) throw invalid(field("encoding"), encoding, "only 0 and 1 exist");
		if (duration === 0) throw invalid(field("duration"), duration, "it must be at least 1");
		if (holds.length + duration > header.frameCount) {
			throw invalid(field("duration"), duration, `that is more than the ${header.frameCount} frames in the header`);
		}
		if (encoding === 0 && length !== packedBytes) {
			throw invalid(field("length"), length, `it must be ${packedBytes}`);
		}
		const packed = encoding === 0 ? data : decompress(data, blockBytes, packedBytes, field("RLE data"));
		const rgba = unpackPixels(packed, pixels, header.colorMode);
		for (let remaining = duration; remaining > 0; remaining--) {
			frames.push(rgba);
			holds.push({ offset, remaining });
		}
		offset = dataStart + length;
	}
	if (frames.length !== header.frameCount) {
		throw invalid("frame count", header.frameCount, `the durations add up to ${frames.length}`);
	}
	if (offset !== file.length) {
		throw invalid("file frame count", header.fileFrameCount, `${file.length - offset} bytes follow the last frame`);
	}
	return { frames, holds };
}

function requireSections(sections: readonly Section[], frameCount: number): void {
	const [first] = sections;
	if (first?.name !== "default" || first.start !== 0 || first.end !== frameCount - 1) {
		throw new CommandError(
			`section 0 must be "default" with the frames 0..${frameCount - 1}, but it is ` +
				`${JSON.stringify(first?.name)} with ${first?.start}..${first?.end}; create the file again.`,
		);
	}
	const seen = new Set<string>();
	for (const [index, { name, start, end }] of sections.entries()) {
		if (name === "" || name.includes("\0") || seen.has(name)) {
			const shown = JSON.stringify(name.slice(0, 40));
			throw invalid(`section ${index} name`, shown, "names must be unique and not empty", correctSections);
		}
		seen.add(name);
		if (!(Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start <= end && end < frameCount)) {
			throw invalid(
				`section ${index} range`,
				`${start}..${end}`,
				`the frames are 0..${frameCount - 1}`,
				correctSections,
			);
		}
	}
}

const correctSections = "correct the sections and create the file again";

function requireRange(field: string, value: number, lowest: number, highest: number): void {
	if (!Number.isInteger(value) || value < lowest || value > highest) {
		throw invalid(field, value, `it must be from ${lowest} to ${highest}`);
	}
}

function invalid(
	field: string,
	value: number | string | undefined,
	why: string,
	toDo = "create the file again",
): CommandError {
	return new CommandError(`the animation's ${field} is ${value}: ${why}; ${toDo}.`);
}

function viewOf(bytes: Uint8Array): DataView {
	return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
	return Buffer.compare(a, b) === 0;
}
