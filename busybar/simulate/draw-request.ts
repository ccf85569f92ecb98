/**
 * Reads the JSON body of `POST /api/display/draw` with the firmware's checks and, as far as known, its words. Pure.
 * The firmware's rules come from its api_display.c; the text after "must" is ours, since only its beginning is known.
 */

import type { Display } from "../displays.ts";
import { isRecord, parseObject } from "../json.ts";
import type { Model } from "./model.ts";

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

export type Alignment = (typeof ALIGNMENTS)[number];

interface Placement {
	readonly id: string;
	readonly display: Display;
	readonly x: number;
	readonly y: number;
	readonly align: Alignment;
	/** 0 or less: none. */
	readonly timeoutSeconds: number;
	/** Unix time; the other way to say how long. */
	readonly displayUntilSeconds: number | undefined;
	readonly zIndex: number | undefined;
}

export interface AnimationElement extends Placement {
	readonly type: "animation";
	/** Absolute path in the bar's storage. */
	readonly file: string;
	readonly section: string;
	readonly loop: boolean;
	/** Percent. */
	readonly opacity: number;
}

interface ImageElement extends Placement {
	readonly type: "image";
	readonly file: string;
	readonly stock: boolean;
	readonly opacity: number;
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

/** Checked like the others, and on the canvas, but without pixels: the simulated bar has no fonts. */
interface UndrawnElement extends Placement {
	readonly type: "text" | "countdown" | "xpmbitmap";
}

export type DrawElement = AnimationElement | ImageElement | RectangleElement | UndrawnElement;

export interface DrawRequest {
	readonly applicationName: string;
	readonly priority: number;
	readonly elements: readonly DrawElement[];
}

/** A 400; the message is the bar's own text. */
export class BadRequest extends Error {}

export function parseDrawRequest(body: string, model: Model): DrawRequest {
	const request = parseObject(body);
	const applicationName = request?.application_name;
	// Malformed JSON ends here too: the firmware looks for the name in whatever the parser gave it.
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
		elements: elements.map((element: unknown, index) => parseElement(element, index, applicationName, model)),
	};
}

/** The body of a clear, of which only `element_ids` counts: firmware 27 reads a name there and then loses it. */
export function parseElementIds(body: string): readonly string[] | undefined {
	const ids = parseObject(body)?.element_ids;
	if (ids === undefined) return undefined;
	if (!Array.isArray(ids) || !ids.every((id) => typeof id === "string")) throw new BadRequest("Bad Request");
	return ids;
}

function parseElement(value: unknown, index: number, applicationName: string, model: Model): DrawElement {
	const fields = new Fields(isRecord(value) ? value : {}, index);
	const id = fields.text("id", /^[A-Za-z0-9._-]+$/, "contain only letters, digits, '.', '_' and '-'");
	const types = ["text", "image", "animation", "countdown", "rectangle", "xpmbitmap"] as const;
	const type = fields.choice("type", model.hasCanvasAdditions ? types : types.slice(0, 5));
	const placement = { id, ...parsePlacement(fields, model) };
	switch (type) {
		case "animation":
			return {
				...placement,
				type,
				...parseSource(fields, applicationName, "animations"),
				section: fields.text("section", /^/, "be a string", "default"),
				loop: fields.flag("loop"),
				opacity: fields.integer("opacity", 0, 100, 100),
			};
		case "image":
			return {
				...placement,
				type,
				...parseSource(fields, applicationName, "images"),
				opacity: fields.integer("opacity", 0, 100, 100),
			};
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
		case "countdown":
			fields.text("timestamp", /^[0-9]+$/, "be a Unix timestamp in a string");
			fields.choice("direction", ["time_left", "time_since"]);
			fields.choice("show_hours", ["when_non_zero", "always"]);
			fields.color("color");
			return { ...placement, type };
		case "xpmbitmap":
			fields.text("data", /^! XPM2\s/, "be an XPM2 picture");
			return { ...placement, type };
	}
}

function parsePlacement(fields: Fields, model: Model): Omit<Placement, "id"> {
	const until = fields.has("display_until")
		? Number(fields.text("display_until", /^[0-9]+$/, "be a Unix timestamp in a string"))
		: undefined;
	if (until !== undefined && fields.has("timeout")) throw fields.invalid("display_until", "not come with timeout");
	return {
		display: fields.choice("display", ["front", "back"], "front"),
		x: fields.integer("x", -4096, 4095, 0),
		y: fields.integer("y", -4096, 4095, 0),
		align: fields.choice("align", ALIGNMENTS, "top_left"),
		timeoutSeconds: fields.integer("timeout", -(2 ** 31), 2 ** 31 - 1, 0),
		displayUntilSeconds: until,
		zIndex:
			model.hasCanvasAdditions && fields.has("z_index") ? fields.integer("z_index", 0, 2 ** 31 - 1, 0) : undefined,
	};
}

function parseSource(fields: Fields, applicationName: string, stockFolder: string): { file: string; stock: boolean } {
	if (fields.has("path") && fields.has("stock_path")) throw fields.invalid("path", "not come with stock_path");
	if (fields.has("stock_path")) {
		const path = fields.text("stock_path", /^shared\/[A-Za-z0-9_.]+$/, "look like shared/NAME");
		return { file: `/ext/apps_assets/shared/${stockFolder}/${path.slice("shared/".length)}`, stock: true };
	}
	const path = fields.text("path", /^[A-Za-z0-9._/-]+$/, "contain only letters, digits, '.', '_', '/' and '-'");
	return { file: `/ext/user_assets/${applicationName}/${path}`, stock: false };
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

/** One element's fields. Without a default a field is required. */
class Fields {
	readonly #values: Record<string, unknown>;
	readonly #index: number;

	constructor(values: Record<string, unknown>, index: number) {
		this.#values = values;
		this.#index = index;
	}

	has(name: string): boolean {
		return this.#values[name] !== undefined;
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

/** As the firmware's parser has it: fractions are cut, and what is no number counts as 0. */
function wholeNumber(value: unknown): number {
	return typeof value === "number" ? Math.trunc(value) : 0;
}
