// `npm run pictures`: the moving pictures of the documents, from the pixels that the simulated bar shows.
// Runs the bar in this process on a clock that is moved by hand, so that every run makes the same files in docs/pictures/.

import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import gifenc from "gifenc";
import { PNG } from "pngjs";
import { type BarServer, startBarServer } from "../../busybar/simulate/server.ts";
import { rowOf, temporaryFolder } from "../support/cli.ts";
import { ledPng, readScreen, type Screen } from "../support/led-picture.ts";
import { ManualClock } from "../support/manual-clock.ts";

const FRAMES_PER_SECOND = 12;
const FRAME_MS = 1000 / FRAMES_PER_SECOND;
const DEMO_SCALE = 8;
const PATTERN_SCALE = 6;
const COLORS = 31;

const PATTERNS = ["spinner", "pulse", "check", "cross", "question"] as const;
type Pattern = (typeof PATTERNS)[number];

const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const PICTURES = pathOf("../../docs/pictures");

/** A bar, the files of the patterns, and the time. */
class Studio {
	readonly #clock: ManualClock;
	readonly #folder = temporaryFolder();
	readonly #server: BarServer;

	static async open(): Promise<Studio> {
		const clock = new ManualClock();
		const options = { api: "27.5", access: "usb", token: undefined, faults: {} } as const;
		return new Studio(await startBarServer(0, options, clock), clock);
	}

	private constructor(server: BarServer, clock: ManualClock) {
		this.#server = server;
		this.#clock = clock;
	}

	get #addr(): string {
		return `127.0.0.1:${this.#server.port}`;
	}

	/** Draws the pattern as an alert does. Returns the number of frames of its loop. */
	async show(pattern: Pattern): Promise<number> {
		const anim = this.#folder.in(`${pattern}.anim`);
		const frames = pathOf(`../../extensions/busybar-alert/patterns/${pattern}/front`);
		const isBuiltIn = pattern === "spinner" || pattern === "pulse";
		const count = isBuiltIn ? FRAMES_PER_SECOND : readdirSync(frames).length;
		await this.#busybar([
			...["create", ...(isBuiltIn ? ["--pattern", pattern] : ["--frames-dir", frames])],
			...["--frames", String(count), "--fps", String(FRAMES_PER_SECOND)],
			...["--output", this.#folder.in(`${pattern}.zip`), "--compile-output", anim],
		]);
		await this.#busybar(["show", "--addr", this.#addr, "--input", anim, "--loop"]);
		return count;
	}

	async clear(): Promise<void> {
		await this.#busybar(["clear", "--addr", this.#addr]);
	}

	/** The next frames, each seen in the middle of its time. */
	async shoot(count: number): Promise<Screen[]> {
		const screens: Screen[] = [];
		for (let frame = 0; frame < count; frame++) {
			this.#clock.advance(FRAME_MS / 2);
			screens.push(await readScreen(this.#addr, "front"));
			this.#clock.advance(FRAME_MS / 2);
		}
		return screens;
	}

	async close(): Promise<void> {
		await this.#server.close();
		this.#folder.remove();
	}

	async #busybar(args: readonly string[]): Promise<void> {
		await rowOf(args, { XDG_CACHE_HOME: this.#folder.path });
	}
}

/** LEDs on black. Frames that do not change anything only last longer. */
function gifOf(screens: readonly Screen[], scale: number): Uint8Array {
	const pictures = screens.map(({ rgb, width, height }) => PNG.sync.read(ledPng(rgb, width, height, scale)));
	const palette = gifenc.quantize(new Uint8Array(Buffer.concat(pictures.map(({ data }) => data))), COLORS);
	// The place after the last colour stands for what the frame before shows.
	const unchanged = palette.length;
	const gif = gifenc.GIFEncoder();
	let before: Uint8Array | undefined;
	const frames: { index: Uint8Array; startFrame: number }[] = [];
	for (const [startFrame, { data }] of pictures.entries()) {
		const full = gifenc.applyPalette(new Uint8Array(data), palette);
		const last = before;
		const index = last ? full.map((color, at) => (color === last[at] ? unchanged : color)) : full;
		before = full;
		if (index.some((color) => color !== unchanged)) frames.push({ index, startFrame });
	}
	const { width, height } = pictures[0] ?? new PNG();
	for (const [at, { index, startFrame }] of frames.entries()) {
		const endFrame = frames[at + 1]?.startFrame ?? pictures.length;
		gif.writeFrame(index, width, height, {
			...(at === 0 ? { palette: [...palette, [0, 0, 0]] } : { transparent: true, transparentIndex: unchanged }),
			// Each end is rounded by itself: the sum stays true.
			delay: centiseconds(endFrame) - centiseconds(startFrame),
			dispose: 1,
		});
	}
	gif.finish();
	return gif.bytes();
}

/** Milliseconds, in the steps that a GIF has. */
function centiseconds(frame: number): number {
	return Math.round((frame * FRAME_MS) / 10) * 10;
}

function save(name: string, gif: Uint8Array): void {
	const path = `${PICTURES}/${name}.gif`;
	writeFileSync(path, gif);
	process.stdout.write(`${relative(process.cwd(), path)}  ${Math.ceil(gif.length / 1024)} KiB\n`);
}

/** A turn ends, a while later pi is done, and then the bar is dark again. */
async function story(studio: Studio): Promise<Screen[]> {
	const dark = await studio.shoot(0.5 * FRAMES_PER_SECOND);
	await studio.show("spinner");
	const turn = await studio.shoot(2 * FRAMES_PER_SECOND);
	await studio.show("check");
	const done = await studio.shoot(3 * FRAMES_PER_SECOND);
	await studio.clear();
	return [...dark, ...turn, ...done, ...(await studio.shoot(FRAMES_PER_SECOND))];
}

mkdirSync(PICTURES, { recursive: true });
const studio = await Studio.open();
try {
	save("demo", gifOf(await story(studio), DEMO_SCALE));
	for (const pattern of PATTERNS) {
		const count = await studio.show(pattern);
		save(pattern, gifOf(await studio.shoot(count), PATTERN_SCALE));
		await studio.clear();
	}
} finally {
	await studio.close();
}
