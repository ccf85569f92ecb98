/** Puts the numbered PNG frames of a folder or of a source zip in order, and checks them. Pure. */

import { CommandError } from "../command-error.ts";
import type { Animation, ColorMode, Section } from "./animation.ts";
import { decodePng } from "./png.ts";

export interface FrameSettings {
	readonly fps: number;
	readonly colorMode: ColorMode;
	/** Without `default`, which is added here. */
	readonly sections: readonly Section[];
	/** How many frames there must be, if given. */
	readonly frameCount?: number;
	/** What every frame must have, if given; else all must be like the first one. */
	readonly width?: number;
	readonly height?: number;
}

/**
 * @param names file names; those that are not `frame_N.png` are ignored
 * @throws CommandError `missing frame_N.png` for a gap, or about the first frame that does not fit
 */
export function animationFromFrames(
	names: readonly string[],
	read: (name: string) => Uint8Array,
	settings: FrameSettings,
): Animation {
	const found = new Set(names.filter((name) => /^frame_(0|[1-9]\d{0,5})\.png$/.test(name)));
	const frameCount = settings.frameCount ?? Math.max(found.size, 1);
	if (found.size > frameCount) {
		throw new CommandError(`there are ${found.size} frames, but --frames is ${frameCount}; leave --frames out.`);
	}
	let { width, height } = settings;
	const frames: Uint8Array[] = [];
	for (let index = 0; index < frameCount; index++) {
		const name = `frame_${index}.png`;
		if (!found.has(name)) {
			throw new CommandError(`missing ${name}: number the frames frame_0.png, frame_1.png and so on, without a gap.`);
		}
		const picture = decodePng(name, read(name));
		width ??= picture.width;
		height ??= picture.height;
		if (picture.width !== width || picture.height !== height) {
			throw new CommandError(
				`${name} is ${picture.width}x${picture.height}, but it must be ${width}x${height}; make all frames the same size.`,
			);
		}
		frames.push(picture.rgba);
	}
	return {
		width: width ?? 0,
		height: height ?? 0,
		fps: settings.fps,
		colorMode: settings.colorMode,
		frames,
		sections: [{ name: "default", start: 0, end: frames.length - 1 }, ...settings.sections],
	};
}
