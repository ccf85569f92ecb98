/**
 * Reads the JSON body of `POST /api/display/draw` with the checks of the firmware (api_display.c) and, as far as they
 * are known, in its words: of "value is invalid; must ..." only the beginning is known. Pure.
 */

import type { Display } from "../displays.ts";
import { isRecord, parseObject } from "../json.ts";

/** R, G, B, A, each 0..255. */
export type Color = readonly [number, number, number, number];

const ALIGNMENTS = [
	"top_left",
	"top_mid",
	"top_right",
	"mid_left",
	"center",
	"mid_right",
	"bottom_left",
	"bottom_mid",
	"bottom_right",
] as const;
const FILLS = ["none", "solid", "gradient_h", "gradient_v"] as const;
const FONTS = [
	"tiny",
	"small",
	"normal",
	"condensed",
	"bold",
	"large",
	"extra_large",
	"global",
	"superscript",
] as const;

/** A real bar has these. If one were ignored, the display would not look like that of a real bar. */
const LEFT_OUT = ["stock_path", "display_until", "opacity", "z_index"];

export type Alignment = (typeof ALIGNMENTS)[number];

interface Placement {
	readonly id: string;
	readonly display: Display;
	readonly x: number;
	readonly y: number;
	readonly align: Alignment;
	/** 0 or less: none. */
	readonly timeoutSeconds: number;
}

export interface AnimationElement extends Placement {
	readonly type: "animation";
	/** The absolute path in the bar's storage. */
	readonly file: string;
	readonly section: string;
	readonly loop: boolean;
}

interface ImageElement extends Placement {
	readonly type: "image";
	readonly file: string;
}

export interface RectangleElement extends Placement {
	readonly type: "rectangle";
	readonly width: number;
	readonly height: number;
	readonly radius: number;
	readonly fill: (typeof FILLS)[number];
	readonly fillColors: readonly [Color, Color];
	readonly borderWidth: number;
	readonly borderColor: Color;
}

/** Checked and put on the canvas like the others, but without pixels: the simulated bar has no fonts. */
interface TextElement extends Placement {
	readonly type: "text";
}

export type DrawElement = AnimationElement | ImageElement | RectangleElement | TextElement;

export interface DrawRequest {
	readonly applicationName: string;
	readonly priority: number;
	readonly elements: readonly DrawElement[];
}

/** HTTP 400; the message is the bar's own text. */
export class BadRequest extends Error {}

export function parseDrawRequest(body: string): DrawRequest {
	const request = parseObject(body);
	const applicationName = request?.application_name;
	// Invalid JSON ends up here too: the firmware looks for the name in whatever the parser returned.
	if (request === undefined || typeof applicationName !== "string" || applicationName === "") {
		throw new BadRequest("Missing application_name");
	}
	const priority = request.priority === undefined ? 50 : wholeNumber(request.priority);
	if (priority < 1) throw new BadRequest("Priority must be >= 1");
	if (priority > 100) throw new BadRequest("Priority must be <= 100");
	const led = request.led_notification_color;
	if (led !== undefined && parseColor(led) === undefined) throw new BadRequest("Invalid LED notification color");
	const elements = request.elements;
	if (!Array.isArray(elements)) throw new BadRequest("Missing or invalid elements array");
	if (elements.length === 0) throw new BadRequest("Elements array is empty");
	return {
		applicationName,
		priority,
		elements: elements.map((element: unknown, index) => parseElement(element, index, applicationName)),
	};
}

/** Which elements a clear names: undefined for all of them. */
export function parseElementIds(body: string): readonly string[] | undefined {
	const ids = parseObject(body)?.element_ids;
	if (ids === undefined) return undefined;
	if (Array.isArray(ids) && ids.every((id) => typeof id === "string")) return ids;
	throw new BadRequest("element_ids must be an array of strings");
}

function parseElement(value: unknown, index: number, applicationName: string): DrawElement {
	const fields = new Fields(isRecord(value) ? value : {}, index);
	const id = fields.text("id", /^[A-Za-z0-9._-]+$/, "contain only letters, digits, '.', '_' and '-'");
	const type = fields.choice("type", ["text", "image", "animation", "rectangle"]);
	const placement = { id, ...parsePlacement(fields) };
	switch (type) {
		case "animation":
			return {
				...placement,
				type,
				file: parseFile(fields, applicationName),
				section: fields.text("section", /^/, "be a string", "default"),
				loop: fields.flag("loop"),
			};
		case "image":
			return { ...placement, type, file: parseFile(fields, applicationName) };
		case "rectangle":
			return parseRectangle(fields, placement);
		case "text":
			fields.text("text", /^[\x20-\x7e]+$/, "be printable ASCII");
			fields.choice("font", FONTS);
			fields.color("color");
			fields.integer("width", 1, 2 ** 31 - 1, 1);
			for (const name of ["scroll_rate", "scroll_start_delay", "scroll_repeat_delay"]) {
				fields.integer(name, 0, 2 ** 31 - 1, 0);
			}
			return { ...placement, type };
	}
}

function parsePlacement(fields: Fields): Omit<Placement, "id"> {
	for (const name of LEFT_OUT) {
		if (fields.has(name)) throw fields.invalid(name, "be left out: the simulated bar does not support it");
	}
	return {
		display: fields.choice("display", ["front", "back"], "front"),
		x: fields.integer("x", -4096, 4095, 0),
		y: fields.integer("y", -4096, 4095, 0),
		align: fields.choice("align", ALIGNMENTS, "top_left"),
		timeoutSeconds: fields.integer("timeout", -(2 ** 31), 2 ** 31 - 1, 0),
	};
}

function parseFile(fields: Fields, applicationName: string): string {
	const path = fields.text("path", /^[A-Za-z0-9._/-]+$/, "contain only letters, digits, '.', '_', '/' and '-'");
	return `/ext/user_assets/${applicationName}/${path}`;
}

function parseRectangle(fields: Fields, placement: Placement): RectangleElement {
	const colors = fields.colors("fill_colors");
	return {
		...placement,
		type: "rectangle",
		width: fields.integer("width", 1, 2 ** 31 - 1),
		height: fields.integer("height", 1, 2 ** 31 - 1),
		radius: fields.integer("radius", 0, 2 ** 31 - 1, 0),
		fill: fields.choice("fill", FILLS, "none"),
		fillColors: [colors[0] ?? [255, 255, 255, 255], colors[1] ?? [0, 0, 0, 0]],
		borderWidth: fields.integer("border_width", 0, 2 ** 31 - 1, 1),
		borderColor: fields.color("border_color"),
	};
}

/** The fields of one element. A field without a default is required. */
class Fields {
	readonly #values: Record<string, unknown>;
	readonly #index: number;

	constructor(values: Record<string, unknown>, index: number) {
		this.#values = values;
		this.#index = index;
	}

	has(name: string): boolean {
		const value = this.#values[name];
		return value !== undefined && value !== null;
	}

	invalid(name: string, must: string): BadRequest {
		return new BadRequest(`elements[${this.#index}].${name} value is invalid; must ${must}`);
	}

	text(name: string, pattern: RegExp, must: string, fallback?: string): string {
		const value = this.#get(name, fallback);
		if (typeof value !== "string" || !pattern.test(value)) throw this.invalid(name, must);
		return value;
	}

	integer(name: string, min: number, max: number, fallback?: number): number {
		const value = this.#get(name, fallback);
		if (!Number.isInteger(value) || Number(value) < min || Number(value) > max) {
			throw this.invalid(name, `be an integer in range [${min}, ${max}]`);
		}
		return Number(value);
	}

	choice<T extends string>(name: string, choices: readonly T[], fallback?: T): T {
		const value = this.#get(name, fallback);
		const found = choices.find((choice) => choice === value);
		if (found === undefined) throw this.invalid(name, `be one of: ${choices.join(", ")}`);
		return found;
	}

	flag(name: string): boolean {
		const value = this.#get(name, false);
		if (typeof value !== "boolean") throw this.invalid(name, "be a boolean");
		return value;
	}

	color(name: string): Color {
		const color = parseColor(this.#get(name, "#FFFFFFFF"));
		if (color === undefined) throw this.invalid(name, "be a color in #RRGGBBAA format");
		return color;
	}

	colors(name: string): readonly Color[] {
		if (!this.has(name)) return [];
		const values = this.#values[name];
		if (!Array.isArray(values) || values.length < 1 || values.length > 2) {
			throw this.invalid(name, "be an array of 1 or 2 colors");
		}
		return values.map((value: unknown) => {
			const color = parseColor(value);
			if (color === undefined) throw this.invalid(name, "be colors in #RRGGBBAA format");
			return color;
		});
	}

	#get(name: string, fallback: unknown): unknown {
		const value = this.#values[name] ?? fallback;
		if (value === undefined) throw new BadRequest(`elements[${this.#index}].${name} is required`);
		return value;
	}
}

function parseColor(value: unknown): Color | undefined {
	if (typeof value !== "string" || !/^#[0-9A-Fa-f]{8}$/.test(value)) return undefined;
	const bits = Number.parseInt(value.slice(1), 16);
	return [(bits >>> 24) & 255, (bits >>> 16) & 255, (bits >>> 8) & 255, bits & 255];
}

/** Like the firmware's parser: cuts off fractions, and takes what is not a number as 0. */
function wholeNumber(value: unknown): number {
	return typeof value === "number" ? Math.trunc(value) : 0;
}
