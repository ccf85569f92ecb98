/**
 * Reads and writes source zips, in which animations are edited: `NAME/meta.json`, `NAME/frame_0.png ...`. Pure.
 * Layout: busy-app/busybar-firmware, assets/animations/README.md and scripts/seq2anim.py.
 */

import type { Zippable } from "fflate";
import { strFromU8, strToU8, unzipSync, zipSync } from "fflate";
import { CommandError } from "../command-error.ts";
import { isRecord, parseObject } from "../json.ts";
import type { Animation, ColorMode, Section } from "./animation.ts";
import { animationFromFrames } from "./frames.ts";
import { colorModes } from "./pixels.ts";
import { encodePng } from "./png.ts";

const maxUnzippedBytes = 64 * 1024 * 1024;
/** A fixed time, so that the bytes are always the same. 1980 is the earliest that a zip can store. */
const timestamp = new Date(1980, 0, 1);

export function encodeSourceZip(animation: Animation, name: string): Uint8Array {
	const { fps, width, height, frames } = animation;
	const sections = animation.sections.filter((section) => section.name !== "default");
	const meta = { fps, color_mode: animation.colorMode, sections };
	const files: Zippable = { [`${name}/meta.json`]: strToU8(`${JSON.stringify(meta, null, "\t")}\n`) };
	for (const [index, rgba] of frames.entries()) {
		files[`${name}/frame_${index}.png`] = [encodePng(width, height, rgba), { level: 0 }];
	}
	return zipSync(files, { mtime: timestamp });
}

/** @throws CommandError if the zip is not a valid source */
export function decodeSourceZip(file: Uint8Array): Animation {
	const files = unzip(file);
	const metaPath = Object.keys(files).find((path) => /^(?:[^/]+\/)?meta\.json$/.test(path));
	const metaBytes = metaPath === undefined ? undefined : files[metaPath];
	if (metaPath === undefined || metaBytes === undefined) {
		throw new CommandError(
			"the zip has no meta.json; a source zip has NAME/meta.json, NAME/frame_0.png, NAME/frame_1.png and so on.",
		);
	}
	const folder = metaPath.slice(0, -"meta.json".length);
	const names = Object.keys(files).flatMap((path) => (path.startsWith(folder) ? [path.slice(folder.length)] : []));
	return animationFromFrames(names, (name) => files[folder + name] ?? new Uint8Array(), readMeta(strFromU8(metaBytes)));
}

function unzip(file: Uint8Array): Record<string, Uint8Array> {
	let total = 0;
	try {
		return unzipSync(file, {
			filter: (entry) => {
				if (entry.name.startsWith("__MACOSX/") || entry.name.endsWith("/")) return false;
				total += entry.originalSize;
				if (total > maxUnzippedBytes) {
					throw new CommandError(
						`the zip unpacks to more than ${maxUnzippedBytes} bytes; use fewer or smaller frames.`,
					);
				}
				return true;
			},
		});
	} catch (error) {
		if (error instanceof CommandError) throw error;
		throw new CommandError("the zip is damaged; create it again.");
	}
}

function readMeta(text: string): { fps: number; colorMode: ColorMode; sections: Section[] } {
	const meta = parseObject(text);
	if (meta === undefined) throw new CommandError("meta.json is not a JSON object; correct it.");
	const fps = meta.fps;
	if (typeof fps !== "number" || !Number.isInteger(fps) || fps < 1 || fps > 255) {
		throw new CommandError(`meta.json must have "fps", a whole number from 1 to 255.`);
	}
	const colorMode = (Object.keys(colorModes) as ColorMode[]).find((mode) => mode === meta.color_mode);
	if (!colorMode) {
		throw new CommandError(`meta.json must have "color_mode", one of ${Object.keys(colorModes).join(", ")}.`);
	}
	const sections = meta.sections;
	if (!Array.isArray(sections) || !sections.every(isSection)) {
		throw new CommandError(`meta.json must have "sections", a list of {"name", "start", "end"} that may be empty.`);
	}
	return { fps, colorMode, sections };
}

function isSection(value: unknown): value is Section {
	if (!isRecord(value)) return false;
	const { name, start, end } = value;
	return typeof name === "string" && typeof start === "number" && typeof end === "number";
}
