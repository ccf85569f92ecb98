/**
 * Draws the frames of the patterns that no CLI has. Run as a script, it writes them beside itself, in
 * `<pattern>/<display>/frame_N.png`; the frames are committed, and a test compares them with what is drawn here.
 */

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { PNG } from "pngjs";

type Color = readonly [red: number, green: number, blue: number];
/**
 * Brightness, 0 to 1, at a place and a frame. Units are a sixteenth of the panel's height, a pixel of the front display:
 * y runs from -8 to 8, x from -edge to edge, which is 36 on the front and 16 on the back.
 */
type Scene = (x: number, y: number, frame: number, edge: number) => number;

export type OwnPattern = "check" | "cross" | "question";

interface Film {
	readonly frameCount: number;
	/** From dark to bright, evenly spaced. The back display is grey and shows the brightness alone. */
	readonly ramp: readonly Color[];
	readonly scene: Scene;
}

const displays = {
	front: { width: 72, height: 16, samples: 4 },
	back: { width: 160, height: 80, samples: 2 },
} as const;

export type Display = keyof typeof displays;

/** At 12 frames a second, 18 frames go twice into the default hold of 3 seconds. */
const films: Readonly<Record<OwnPattern, Film>> = {
	check: {
		frameCount: 18,
		ramp: [
			[0, 0, 0],
			[0, 80, 60],
			[0, 190, 120],
			[110, 255, 200],
			[255, 255, 255],
		],
		scene: check,
	},
	cross: {
		frameCount: 18,
		ramp: [
			[0, 0, 0],
			[120, 0, 0],
			[255, 40, 0],
			[255, 150, 70],
			[255, 255, 255],
		],
		scene: cross,
	},
	question: {
		frameCount: 24,
		ramp: [
			[0, 0, 0],
			[90, 45, 0],
			[255, 140, 0],
			[255, 205, 50],
			[255, 255, 255],
		],
		scene: question,
	},
};

/** R, G, B, A bytes of each frame; the same on every machine. */
export function drawFrames(name: OwnPattern, display: Display): Uint8Array[] {
	const { frameCount, ramp, scene } = films[name];
	const { width, height, samples } = displays[display];
	const unit = height / 16;
	return Array.from({ length: frameCount }, (_, frame) => {
		const rgba = new Uint8Array(width * height * 4);
		for (let y = 0; y < height; y++) {
			for (let x = 0; x < width; x++) {
				let sum = 0;
				for (let sample = 0; sample < samples ** 2; sample++) {
					const left = x + ((sample % samples) + 0.5) / samples - width / 2;
					const top = y + (Math.floor(sample / samples) + 0.5) / samples - height / 2;
					sum += scene(left / unit, top / unit, frame, width / 2 / unit);
				}
				const level = sum / samples ** 2;
				rgba.set([...(display === "front" ? colorAt(ramp, level) : gray4(level)), 255], (y * width + x) * 4);
			}
		}
		return rgba;
	});
}

/** A light sweeps from left to right, leaves a check mark on a lit ground, and both rest and fade. */
function check(x: number, y: number, frame: number, edge: number): number {
	const wide = edge > 20 ? 1.5 : 1.1;
	const mark = Math.min(toSegment(x, y, -9 * wide, -0.5, -3 * wide, 5), toSegment(x, y, -3 * wide, 5, 9 * wide, -5.2));
	const head = mix(-edge + 9, edge + 14, progress(frame, 0, 8));
	const behind = head - x - y * 0.4;
	if (behind < 0) return 0;
	const stay = 1 - progress(frame, 14, 18);
	const sweep = Math.max(0, 1 - behind / 14) ** 1.5;
	if (mark < 2.2) return Math.max(sweep, 0.85 * stay);
	return mark < 3.6 ? 0 : Math.max(sweep * 0.8, 0.25 * stay);
}

/** A `>` and a `<` rush in from both ends and meet as an X; the ground they lit closes in on it. */
function cross(x: number, y: number, frame: number, edge: number): number {
	const [across, up] = [Math.abs(x), Math.abs(y)];
	const wide = edge > 20 ? 10 : 7;
	const tip = mix(edge - 8, 0, progress(frame, 0, 6) ** 1.5);
	const arm = toSegment(across, up, tip, 0, tip + wide, 5.6);
	const stay = 1 - progress(frame, 14, 18);
	const impact = frame < 6 ? 0 : 1 - progress(frame, 6, 10);
	if (arm < 2.2) return (0.7 + 0.3 * impact) * stay;
	if (arm < 3.6) return 0;
	const end = mix(edge + 4, 6, progress(frame, 6, 16));
	return across > tip + up && across < end ? (0.25 + 0.25 * impact) * stay : 0;
}

/** A question mark hops to the right and back again; dots walk away from it to both ends. */
function question(x: number, y: number, frame: number, edge: number): number {
	const [there, back] = [progress(frame, 0, 6), progress(frame, 12, 18)];
	const side = 2 * (there - back) - 1;
	const height = 2.1 * (Math.sin(Math.PI * there) + Math.sin(Math.PI * back));
	const reach = edge / 6;
	const wide = edge > 20 ? 1.35 : 1;
	const [across, down] = turned(x - side * reach, y + height - 7.8, 0.15 * side);
	const mark = toQuestionMark(across / wide, down);
	if (mark < 0) return 0.9;
	if (mark < 1.2) return 0;
	const step = edge / 3;
	const fromFirst = Math.abs(x) - ((frame % 12) / 12) * step;
	const nearest = Math.abs(x) - (fromFirst - Math.round(fromFirst / step) * step);
	if (Math.hypot(Math.abs(x) - nearest, y) > step * 0.24) return 0;
	return 0.5 * progress(nearest, reach + 5, reach + 9);
}

/** From its lowest point, 0, 0; negative inside the stroke. */
function toQuestionMark(x: number, y: number): number {
	const bowl = x > 0 || y < -9.4 ? Math.abs(Math.hypot(x, y + 9.4) - 2.7) : Number.POSITIVE_INFINITY;
	return Math.min(Math.min(bowl, toSegment(x, y, 0, -6.7, 0, -5.8)) - 1.4, Math.hypot(x, y + 1.6) - 1.6);
}

function turned(x: number, y: number, angle: number): [x: number, y: number] {
	return [x * Math.cos(angle) + y * Math.sin(angle), y * Math.cos(angle) - x * Math.sin(angle)];
}

function toSegment(x: number, y: number, x1: number, y1: number, x2: number, y2: number): number {
	const [dx, dy] = [x2 - x1, y2 - y1];
	const along = Math.min(1, Math.max(0, ((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy)));
	return Math.hypot(x - x1 - along * dx, y - y1 - along * dy);
}

/** 0 up to `first`, 1 from `last` on. */
function progress(value: number, first: number, last: number): number {
	return Math.min(1, Math.max(0, (value - first) / (last - first)));
}

function mix(from: number, to: number, share: number): number {
	return from + (to - from) * share;
}

function colorAt(ramp: readonly Color[], level: number): Color {
	const position = level * (ramp.length - 1);
	const low = ramp[Math.floor(position)] ?? [0, 0, 0];
	const high = ramp[Math.ceil(position)] ?? [0, 0, 0];
	const channel = (index: 0 | 1 | 2) => Math.round(mix(low[index], high[index], position % 1));
	return [channel(0), channel(1), channel(2)];
}

/** The back display has 16 levels. */
function gray4(level: number): Color {
	const value = Math.round(level * 15) * 17;
	return [value, value, value];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	for (const name of Object.keys(films) as OwnPattern[]) {
		for (const display of Object.keys(displays) as Display[]) {
			const folder = new URL(`../../extensions/busybar-alert/patterns/${name}/${display}/`, import.meta.url);
			rmSync(folder, { recursive: true, force: true });
			mkdirSync(folder, { recursive: true });
			for (const [index, rgba] of drawFrames(name, display).entries()) {
				const png = new PNG({ width: displays[display].width, height: displays[display].height });
				png.data = Buffer.from(rgba);
				const bytes = PNG.sync.write(png, { colorType: display === "front" ? 2 : 0 });
				writeFileSync(new URL(`frame_${index}.png`, folder), bytes);
			}
		}
	}
}
