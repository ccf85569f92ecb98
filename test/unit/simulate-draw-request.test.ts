import { describe, expect, test } from "vitest";
import { parseDrawRequest } from "../../busybar/simulate/draw-request.ts";

const ANIMATION = { id: "a", type: "animation", path: "a.anim" };
const TEXT = { id: "t", type: "text", text: "Hi", font: "small" };
const RECTANGLE = { id: "r", type: "rectangle", width: 3, height: 2 };

function draw(element: object) {
	return parseDrawRequest(JSON.stringify({ application_name: "app", elements: [element] }));
}

describe("a draw that the bar refuses, with its words", () => {
	test.each<[unknown, string]>([
		["{", "Missing application_name"],
		["[]", "Missing application_name"],
		[{ elements: [ANIMATION] }, "Missing application_name"],
		[{ application_name: "", elements: [ANIMATION] }, "Missing application_name"],
		[{ application_name: "app", priority: 0, elements: [ANIMATION] }, "Priority must be >= 1"],
		[{ application_name: "app", priority: 101, elements: [ANIMATION] }, "Priority must be <= 100"],
		[{ application_name: "app", priority: "60", elements: [ANIMATION] }, "Priority must be >= 1"],
		[{ application_name: "app", led_notification_color: "red", elements: [] }, "Invalid LED notification color"],
		[{ application_name: "app", led_notification_color: "#FF0000", elements: [] }, "Invalid LED notification color"],
		[{ application_name: "app" }, "Missing or invalid elements array"],
		[{ application_name: "app", elements: {} }, "Missing or invalid elements array"],
		[{ application_name: "app", elements: [] }, "Elements array is empty"],
		[{ application_name: "app", elements: [ANIMATION, 7] }, "elements[1].id is required"],
	])("%j", (body, message) => {
		const text = typeof body === "string" ? body : JSON.stringify(body);
		expect(() => parseDrawRequest(text)).toThrow(new Error(message));
	});

	test.each<[object, string]>([
		[{ ...ANIMATION, id: undefined }, "elements[0].id is required"],
		[{ ...ANIMATION, id: "a b" }, "elements[0].id value is invalid; must "],
		[{ ...ANIMATION, type: undefined }, "elements[0].type is required"],
		...["video", "countdown", "xpmbitmap"].map((type): [object, string] => [
			{ ...ANIMATION, type },
			"elements[0].type value is invalid; must be one of: text, image, animation, rectangle",
		]),
		...["stock_path", "display_until", "opacity", "z_index"].map((name): [object, string] => [
			{ ...ANIMATION, [name]: 1 },
			`elements[0].${name} value is invalid; must be left out`,
		]),
		[{ ...ANIMATION, path: undefined }, "elements[0].path is required"],
		[{ ...ANIMATION, path: "a b.anim" }, "elements[0].path value is invalid; must "],
		[{ ...ANIMATION, timeout: "3" }, "elements[0].timeout value is invalid; must "],
		[{ ...ANIMATION, timeout: 2.5 }, "elements[0].timeout value is invalid; must "],
		[{ ...ANIMATION, x: 4096 }, "elements[0].x value is invalid; must be an integer in range [-4096, 4095]"],
		[{ ...ANIMATION, y: -4097 }, "elements[0].y value is invalid; must "],
		[{ ...ANIMATION, display: "side" }, "elements[0].display value is invalid; must be one of: front, back"],
		[{ ...ANIMATION, align: "middle" }, "elements[0].align value is invalid; must "],
		[{ ...ANIMATION, loop: 1 }, "elements[0].loop value is invalid; must be a boolean"],
		[{ ...TEXT, font: undefined }, "elements[0].font is required"],
		[{ ...TEXT, font: "comic" }, "elements[0].font value is invalid; must "],
		[{ ...TEXT, text: "" }, "elements[0].text value is invalid; must "],
		[{ ...TEXT, text: "ä" }, "elements[0].text value is invalid; must "],
		[{ ...TEXT, color: "0xFF0000FF" }, "elements[0].color value is invalid; must "],
		[{ ...RECTANGLE, width: undefined }, "elements[0].width is required"],
		[{ ...RECTANGLE, height: 0 }, "elements[0].height value is invalid; must "],
		[{ ...RECTANGLE, fill: "dots" }, "elements[0].fill value is invalid; must "],
		[{ ...RECTANGLE, fill_colors: [] }, "elements[0].fill_colors value is invalid; must "],
		[{ ...RECTANGLE, fill_colors: ["red"] }, "elements[0].fill_colors value is invalid; must "],
		[{ ...RECTANGLE, border_color: "#FFF" }, "elements[0].border_color value is invalid; must "],
		[{ id: "i", type: "image" }, "elements[0].path is required"],
	])("%j", (element, message) => {
		expect(() => draw(element)).toThrow(message);
	});
});

test.each([
	ANIMATION,
	{ ...ANIMATION, z_index: null },
	TEXT,
	RECTANGLE,
	{ ...RECTANGLE, fill_colors: null },
	{ id: "i", type: "image", path: "i.png" },
])("the bar accepts %j", (element) => {
	expect(draw(element).elements[0]?.id).toBe(element.id);
});

test("missing fields have the firmware's defaults", () => {
	const request = draw(ANIMATION);
	expect(request.priority).toBe(50);
	expect(request.elements[0]).toMatchObject({
		display: "front",
		align: "top_left",
		x: 0,
		y: 0,
		timeoutSeconds: 0,
		section: "default",
		loop: false,
		file: "/ext/user_assets/app/a.anim",
	});
});
