/** Draws the two built-in patterns, which are made to be noticed from the corner of an eye. Pure. */

export type Pattern = "spinner" | "pulse";

type Color = readonly [red: number, green: number, blue: number];
/** From dark to bright, evenly spaced. */
type Ramp = readonly Color[];
/** The brightness 0..1 at a point, in pixels from the centre of the display, at a time 0..1 in the cycle. */
type Light = (x: number, y: number, time: number) => number;

const ramps: Readonly<Record<Pattern, Ramp>> = {
	spinner: [
		[0, 0, 0],
		[0, 10, 90],
		[0, 110, 255],
		[90, 230, 255],
		[255, 255, 255],
	],
	pulse: [
		[0, 0, 0],
		[110, 0, 10],
		[255, 70, 0],
		[255, 190, 40],
		[255, 255, 255],
	],
};

const grayRamp: Ramp = [
	[0, 0, 0],
	[255, 255, 255],
];

/** More than three flashes a second can cause seizures (WCAG 2.3.1); a change of less than a tenth does not count. */
const maxFlashesPerSecond = 3;
const calm = { lowest: 0.4, range: 0.08 };

/** One R, G, B, A frame for each display frame. The same arguments give the same bytes. */
export function renderPattern(
	pattern: Pattern,
	shape: { width: number; height: number; frameCount: number; fps: number; gray: boolean },
): Uint8Array[] {
	const { width, height, frameCount, fps } = shape;
	const ramp = shape.gray ? grayRamp : ramps[pattern];
	const loopSeconds = frameCount / fps;
	// About one a second: a whole number, so that the loop is seamless, with at least four frames each, so that it moves.
	const cycles = Math.max(1, Math.min(Math.round(loopSeconds), Math.floor(frameCount / 4)));
	const cyclesPerSecond = cycles / loopSeconds;
	const beamCount = 2 * cyclesPerSecond > maxFlashesPerSecond || frameCount / cycles < 6 ? 1 : 2;
	const light = pattern === "spinner" ? spinner(width, height, beamCount) : pulse(width, height);
	const { lowest, range } = cyclesPerSecond > maxFlashesPerSecond ? calm : { lowest: 0, range: 1 };
	return Array.from({ length: frameCount }, (_, index) => {
		const time = ((index * cycles) / frameCount) % 1;
		const rgba = new Uint8Array(width * height * 4);
		for (let y = 0; y < height; y++) {
			for (let x = 0; x < width; x++) {
				const brightness = sample(light, x - width / 2, y - height / 2, time);
				rgba.set([...colorAt(ramp, lowest + range * brightness), 255], (y * width + x) * 4);
			}
		}
		return rgba;
	});
}

/** Beams that run around the edge of the display at constant speed. */
function spinner(width: number, height: number, beamCount: number): Light {
	const edge = 2 * (width + height);
	return (x, y, time) => {
		const behind = fraction(time - edgePosition(x, y, width, height)) * beamCount;
		const afterHead = fraction(behind) * (edge / beamCount);
		const tail = Math.max(0, 1 - fraction(behind) * 1.35);
		return Math.min(1, afterHead / 1.5) * tail ** 1.6;
	};
}

/** Where a ray from the centre through the point meets the edge of the display: 0..1, clockwise from the top left. */
function edgePosition(x: number, y: number, width: number, height: number): number {
	const scale = Math.max(Math.abs(x) / (width / 2), Math.abs(y) / (height / 2)) || 1;
	const [edgeX, edgeY] = [x / scale + width / 2, y / scale + height / 2];
	const edge = 2 * (width + height);
	if (Math.abs(x) / width <= Math.abs(y) / height) {
		return y < 0 ? edgeX / edge : (width + height + (width - edgeX)) / edge;
	}
	return x > 0 ? (width + edgeY) / edge : (2 * width + height + (height - edgeY)) / edge;
}

/** Rings that leave the centre one after another, each with a sharp front and a glowing tail. */
function pulse(width: number, height: number): Light {
	const reach = Math.hypot(width / 2, height / 2);
	return (x, y, time) => {
		const behind = fraction(time - (Math.hypot(x, y) / reach) * 1.25 + 0.3);
		return Math.min(1, behind * 12) * Math.max(0, 1 - behind * 1.5) ** 1.4;
	};
}

/** The mean of four points of a pixel, so that movement is smooth. */
function sample(light: Light, left: number, top: number, time: number): number {
	let sum = 0;
	for (const dx of [0.25, 0.75]) for (const dy of [0.25, 0.75]) sum += light(left + dx, top + dy, time);
	return sum / 4;
}

function colorAt(ramp: Ramp, brightness: number): Color {
	const position = Math.min(Math.max(brightness, 0), 1) * (ramp.length - 1);
	const low = ramp[Math.floor(position)] ?? [0, 0, 0];
	const high = ramp[Math.ceil(position)] ?? [0, 0, 0];
	const mix = (channel: 0 | 1 | 2) => Math.round(low[channel] + (high[channel] - low[channel]) * (position % 1));
	return [mix(0), mix(1), mix(2)];
}

function fraction(value: number): number {
	return value - Math.floor(value);
}
