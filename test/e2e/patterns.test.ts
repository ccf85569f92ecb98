// The extension's own patterns: the committed frames, and what a glance at them must tell, also a colour-blind one.

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { PNG } from "pngjs";
import { describe, expect, it } from "vitest";
import { renderPattern } from "../../busybar/anim/patterns.ts";
import { type Display, drawFrames, type OwnPattern } from "../pictures/draw-patterns.ts";

const FPS = 12;
const panels = { front: { width: 72, height: 16 }, back: { width: 160, height: 80 } } as const;
/** One number for each pixel. */
type Field = Float64Array;

const displays: readonly Display[] = ["front", "back"];
const names: readonly OwnPattern[] = ["check", "cross", "question"];
const cases = names.flatMap((name) =>
	displays.map((display) => ({ name, display, frames: drawFrames(name, display) })),
);

/** What linear red, green and blue add to brightness; L cones and M cones by Viénot, Brettel and Mollon, 1999. */
const eyes = {
	"most people": [0.2126, 0.7152, 0.0722],
	"a deuteranope (L cones)": [0.273, 0.664, 0.063],
	"a protanope (M cones)": [0.1, 0.788, 0.112],
} as const;
type Eye = readonly [red: number, green: number, blue: number];

describe("the committed frames", () => {
	it.each(cases)("$name on the $display display are those that the script draws", ({ name, display, frames }) => {
		const folder = fileURLToPath(
			new URL(`../../extensions/busybar-alert/patterns/${name}/${display}/`, import.meta.url),
		);
		expect(readdirSync(folder).sort()).toEqual(frames.map((_, index) => `frame_${index}.png`).sort());
		for (const [index, drawn] of frames.entries()) {
			const { width, height, data } = PNG.sync.read(readFileSync(`${folder}frame_${index}.png`));
			expect({ width, height }).toEqual(panels[display]);
			// Pixels, not bytes: zlib packs differently from version to version.
			expect(data.equals(drawn), `frame_${index}.png; run the script again`).toBe(true);
		}
	});
});

describe("a pattern", () => {
	it.each(cases)("$name on the $display display is lit at once and changes within three frames", ({ frames }) => {
		const [first, ...next] = frames.slice(0, 4).map((frame) => brightness(frame));
		expect(share(first, (value) => value > 0.1)).toBeGreaterThan(0.05);
		const changes = next.map((field) => share(field, (value, at) => Math.abs(value - (first?.[at] ?? 0)) > 0.1));
		expect(Math.max(...changes)).toBeGreaterThan(0.12);
	});

	it.each(cases)("$name on the $display display never goes dark", ({ frames }) => {
		for (const frame of frames) expect(share(brightness(frame), (value) => value > 0.01)).toBeGreaterThan(0.05);
	});

	const all = [
		...cases,
		...(["spinner", "pulse"] as const).flatMap((name) =>
			displays.map((display) => {
				const shape = { ...panels[display], frameCount: FPS, fps: FPS, gray: display === "back" };
				return { name, display, frames: renderPattern(name, shape) };
			}),
		),
	];
	it.each(all)("$name on the $display display flashes at most three times a second", ({ frames }) => {
		expect(flashesPerSecond(frames)).toBeLessThanOrEqual(3);
	});

	it("that blinks four times a second would be found out", () => {
		const frame = (red: number, rest: number) =>
			Uint8Array.from({ length: 4000 }, (_, at) => [red, rest, rest, 255][at % 4] ?? 0);
		const blink = (light: Uint8Array) => Array.from({ length: FPS }, (_, at) => (at % 3 === 0 ? light : frame(0, 0)));
		expect(flashesPerSecond(blink(frame(255, 255)))).toBe(4);
		expect(flashesPerSecond(blink(frame(140, 0))), "in dark red").toBe(4);
	});
});

describe.each([
	...Object.entries(eyes).map(([who, eye]) => ({ display: "front" as const, who, eye })),
	{ display: "back" as const, who: "anyone", eye: eyes["most people"] },
])("check, cross and question on the $display display, to the eyes of $who", ({ display, eye }) => {
	const { width } = panels[display];
	const film = (name: OwnPattern) => drawFrames(name, display).map((frame) => brightness(frame, eye));

	it("have different shapes", () => {
		const [check, cross, question] = [
			brightShape(film("check")),
			brightShape(film("cross")),
			brightShape(film("question")),
		];
		const overlaps = [overlap(check, cross), overlap(cross, question), overlap(question, check)];
		expect(Math.max(...overlaps)).toBeLessThan(0.5);
	});

	it("move differently: to the right, inwards from both ends, to and fro", () => {
		const check = newLight(film("check"), width);
		expect(travel(check, "x", 0, 5)).toBeGreaterThan(0.5);

		const cross = newLight(film("cross"), width);
		for (const { x } of cross.slice(0, 5)) expect(Math.abs(x)).toBeLessThan(0.01);
		expect(travel(cross, "fromCenter", 0, 4)).toBeLessThan(-0.1);

		const question = newLight(film("question"), width);
		for (const { x } of question) expect(Math.abs(x)).toBeLessThan(0.2);
		expect(travel(question, "x", 0, 5)).toBeGreaterThan(0.1);
		expect(travel(question, "x", 12, 17)).toBeLessThan(-0.1);
	});
});

function linear(byte: number): number {
	const value = byte / 255;
	return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}

function fieldOf(rgba: Uint8Array, value: (red: number, green: number, blue: number) => number): Field {
	return Float64Array.from({ length: rgba.length / 4 }, (_, at) => {
		const [red = 0, green = 0, blue = 0] = rgba.subarray(at * 4, at * 4 + 3);
		return value(linear(red), linear(green), linear(blue));
	});
}

function brightness(rgba: Uint8Array, eye: Eye = eyes["most people"]): Field {
	return fieldOf(rgba, (red, green, blue) => red * eye[0] + green * eye[1] + blue * eye[2]);
}

function share(field: Field = new Float64Array(1), counts: (value: number, at: number) => boolean): number {
	return field.filter(counts).length / field.length;
}

/**
 * WCAG 2.3.1, on the strict side: flashes of a quarter of the panel need not coincide, and red need not be saturated.
 * A flash is a pair of opposing changes, by a tenth of full luminance or by 20/320 of red.
 */
function flashesPerSecond(frames: readonly Uint8Array[]): number {
	const luminance = frames.map((frame) => brightness(frame));
	const redness = frames.map((frame) => fieldOf(frame, (red, green, blue) => Math.max(0, red - green - blue)));
	return Math.max(mostFlashes(luminance, 0.1), mostFlashes(redness, 20 / 320));
}

/** The highest count that a quarter of the panel reaches within one second of the loop. */
function mostFlashes(film: readonly Field[], threshold: number): number {
	const pixels = film[0]?.length ?? 0;
	const counts = Array.from({ length: pixels }, (_, pixel) =>
		changesPerSecond(
			film.map((field) => field[pixel] ?? 0),
			threshold,
		),
	);
	return Math.floor((counts.sort((a, b) => b - a)[Math.ceil(pixels / 4) - 1] ?? 0) / 2);
}

/** The most opposing changes of one looped pixel within any second. */
function changesPerSecond(loop: readonly number[], threshold: number): number {
	const times: number[] = [];
	let [extreme, rising] = [loop[0] ?? 0, false];
	// Three seconds at least, so that the first, which may lack a change, does not matter.
	for (let time = 0; time < Math.max(3 * FPS, 3 * loop.length); time++) {
		const value = loop[time % loop.length] ?? 0;
		if (rising ? value > extreme : value < extreme) extreme = value;
		if (Math.abs(value - extreme) < threshold) continue;
		times.push(time);
		[extreme, rising] = [value, !rising];
	}
	return Math.max(0, ...times.map((start) => times.filter((time) => time >= start && time < start + FPS).length));
}

/** 1 for each pixel above half the top brightness, in the frame with the most of them. */
function brightShape(film: readonly Field[]): Field {
	const top = Math.max(...film.map((field) => Math.max(...field)));
	const shapes = film.map((field) => field.map((value) => (value > top / 2 ? 1 : 0)));
	return shapes.reduce((best, shape) => (area(shape) > area(best) ? shape : best));
}

function area(shape: Field): number {
	return shape.reduce((sum, value) => sum + value, 0);
}

/** Intersection over union, where they overlap most when one is moved sideways. */
function overlap(one: Field, other: Field): number {
	const shifts = Array.from({ length: 81 }, (_, index) => index - 40);
	const shared = Math.max(
		...shifts.map((shift) => area(one.map((value, at) => Math.min(value, other[at + shift] ?? 0)))),
	);
	return shared / (area(one) + area(other) - shared);
}

interface Place {
	/** In panel widths; the middle is 0. */
	readonly x: number;
	readonly fromCenter: number;
}

/** Where light appears, on average, from each frame to the next. */
function newLight(film: readonly Field[], width: number): Place[] {
	return film.slice(1).map((field, index) => {
		let [sum, x, fromCenter] = [0, 0, 0];
		for (const [at, value] of field.entries()) {
			const gain = Math.max(0, value - (film[index]?.[at] ?? 0));
			const place = ((at % width) + 0.5) / width - 0.5;
			sum += gain;
			x += gain * place;
			fromCenter += gain * Math.abs(place);
		}
		return sum === 0 ? { x: 0, fromCenter: 0 } : { x: x / sum, fromCenter: fromCenter / sum };
	});
}

function travel(places: readonly Place[], along: keyof Place, first: number, last: number): number {
	return (places[last]?.[along] ?? 0) - (places[first]?.[along] ?? 0);
}
