/** `create`: makes an animation from a pattern or from PNG frames. Reads and writes files. */

import { readdirSync } from "node:fs";
import { basename, extname, join } from "node:path";
import type { Animation } from "../anim/animation.ts";
import { encodeBicycle0, requireFits } from "../anim/bicycle0.ts";
import { animationFromFrames } from "../anim/frames.ts";
import { type Pattern, renderPattern } from "../anim/patterns.ts";
import { encodeSourceZip } from "../anim/source-zip.ts";
import { CommandError } from "../command-error.ts";
import { type Display, displays } from "../displays.ts";
import { checkOutputs, explained, readInput, writeOutputs } from "../files.ts";
import { quote } from "../options.ts";
import type { Row } from "../output.ts";

export interface CreateOptions {
	readonly pattern: Pattern;
	readonly display: Display;
	readonly frames?: number;
	readonly fps: number;
	readonly framesDir?: string;
	/** 0 means the size of the display or, with `framesDir`, of the frames. */
	readonly width: number;
	readonly height: number;
	readonly name?: string;
	readonly output: string;
	readonly compileOutput?: string;
}

const defaultFrameCount = 12;

export function create(options: CreateOptions): Row[] {
	const outputs = [{ flag: "--output", path: options.output }];
	if (options.compileOutput !== undefined) outputs.push({ flag: "--compile-output", path: options.compileOutput });
	checkOutputs(outputs, []);

	const animation = options.framesDir === undefined ? fromPattern(options) : fromFolder(options, options.framesDir);
	const name = options.name ?? (cleanName(basename(options.output, extname(options.output))) || "animation");
	if (!/^[A-Za-z0-9._-]{1,64}$/.test(name) || /^\.+$/.test(name)) {
		throw new CommandError(`--name must be 1 to 64 letters, digits, dots, underscores or hyphens, not ${quote(name)}.`);
	}
	const compiled = encodeBicycle0(animation);
	const zip = encodeSourceZip(animation, name);
	writeOutputs(outputs.map((output, index) => ({ ...output, bytes: index === 0 ? zip : compiled })));
	return [
		{
			name,
			...(options.framesDir === undefined ? { pattern: options.pattern } : { frames_dir: options.framesDir }),
			display: options.display,
			width: animation.width,
			height: animation.height,
			fps: animation.fps,
			color_mode: animation.colorMode,
			frames: animation.frames.length,
			output: options.output,
			bytes: zip.length,
			...(options.compileOutput === undefined
				? {}
				: { compile_output: options.compileOutput, compiled_bytes: compiled.length }),
		},
	];
}

function fromPattern(options: CreateOptions): Animation {
	const colorMode = colorModeOf(options.display);
	const width = options.width || displays[options.display].width;
	const height = options.height || displays[options.display].height;
	const frameCount = options.frames ?? defaultFrameCount;
	requireFits({ width, height, fps: options.fps, frameCount, colorMode });
	const gray = colorMode === "gray4";
	return {
		width,
		height,
		fps: options.fps,
		colorMode,
		frames: renderPattern(options.pattern, { width, height, frameCount, fps: options.fps, gray }),
		sections: [{ name: "default", start: 0, end: frameCount - 1 }],
	};
}

function fromFolder(options: CreateOptions, folder: string): Animation {
	const names = explained(`--frames-dir ${quote(folder)} cannot be read`, () => readdirSync(folder));
	const animation = animationFromFrames(names, (name) => readInput("the frame", join(folder, name)), {
		fps: options.fps,
		colorMode: colorModeOf(options.display),
		sections: [],
		...(options.frames === undefined ? {} : { frameCount: options.frames }),
		...(options.width ? { width: options.width } : {}),
		...(options.height ? { height: options.height } : {}),
	});
	if (animation.frames.length < 2) {
		throw new CommandError(
			"an animation needs at least two frames; for a still picture, copy frame_0.png to frame_1.png.",
		);
	}
	return animation;
}

function colorModeOf(display: Display): "rgb888" | "gray4" {
	return display === "front" ? "rgb888" : "gray4";
}

function cleanName(text: string): string {
	return text
		.replace(/[^A-Za-z0-9._-]+/g, "_")
		.replace(/^\.+/, "")
		.slice(0, 64);
}
