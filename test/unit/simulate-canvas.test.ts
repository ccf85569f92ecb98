import { describe, expect, test } from "vitest";
import {
	BUSY_LOADER_PRIORITY,
	Canvas,
	type DrawOutcome,
	IDLE_LOADER_PRIORITY,
	PARKED_DRAW_MS,
} from "../../busybar/simulate/canvas.ts";
import type { DrawElement, DrawRequest } from "../../busybar/simulate/draw-request.ts";
import { type ApiChoice, MODELS } from "../../busybar/simulate/model.ts";
import { ManualClock } from "../support/manual-clock.ts";

function setup(api: ApiChoice = "27.5") {
	const clock = new ManualClock();
	const canvas = new Canvas(clock, MODELS[api]);
	/** The answers to one draw so far: none while it waits. */
	const draw = (applicationName: string, priority: number, elements = [animation("a")]): DrawOutcome[] => {
		const answers: DrawOutcome[] = [];
		canvas.draw(request(applicationName, priority, elements), (outcome) => answers.push(outcome));
		return answers;
	};
	const ids = () => canvas.elements.map(({ element }) => element.id);
	return { clock, canvas, draw, ids };
}

function request(applicationName: string, priority: number, elements: readonly DrawElement[]): DrawRequest {
	return { applicationName, priority, elements };
}

function animation(id: string, more: Partial<DrawElement> = {}): DrawElement {
	return {
		id,
		type: "animation",
		display: "front",
		x: 0,
		y: 0,
		align: "top_left",
		timeoutSeconds: 0,
		file: `/ext/user_assets/app/${id}.anim`,
		section: "default",
		loop: true,
		...more,
	} as DrawElement;
}

describe("who may draw", () => {
	test.each([
		["the priority of the clock", 10, "drawn"],
		["a lower priority than the clock", 9, "refused"],
	])("with %s, %i, a draw is %s", (_, priority, outcome) => {
		const { clock, draw } = setup();
		const answers = draw("app", priority);
		clock.advance(PARKED_DRAW_MS);
		expect(answers).toEqual([outcome]);
	});

	test.each([
		["app", 60, "drawn"],
		["app", 61, "drawn"],
		["app", 59, "refused"],
		["other", 61, "drawn"],
		["other", 60, "refused"],
		["other", 59, "refused"],
	])("while app shows a drawing at 60, a draw by %s at %i is %s", (name, priority, outcome) => {
		const { clock, draw } = setup();
		draw("app", 60);
		const answers = draw(name, priority);
		clock.advance(PARKED_DRAW_MS);
		expect(answers).toEqual([outcome]);
	});

	test("the same application adds to its drawing by id, and raises its priority", () => {
		const { canvas, draw, ids } = setup();
		draw("app", 60, [animation("a"), animation("b")]);
		draw("app", 70, [animation("b"), animation("c")]);
		expect(ids()).toEqual(["a", "b", "c"]);
		expect(canvas.priority).toBe(70);
	});

	test("another application with a higher priority replaces the drawing, and it does not come back", () => {
		const { canvas, draw, ids } = setup();
		draw("app", 60, [animation("a")]);
		draw("other", 61, [animation("b")]);
		expect(ids()).toEqual(["b"]);
		canvas.clear("other");
		expect(canvas.applicationName).toBeUndefined();
	});

	test("no priority overrides a BUSY timer", () => {
		const { clock, canvas, draw } = setup();
		canvas.setLoaderPriority(BUSY_LOADER_PRIORITY);
		const answers = draw("app", 100);
		clock.advance(PARKED_DRAW_MS);
		expect(answers).toEqual(["refused"]);
	});

	test("a BUSY timer clears the drawing when it starts, and it does not come back", () => {
		const { canvas, draw } = setup();
		draw("app", 100);
		canvas.setLoaderPriority(BUSY_LOADER_PRIORITY);
		canvas.setLoaderPriority(IDLE_LOADER_PRIORITY);
		expect(canvas.applicationName).toBeUndefined();
		expect(canvas.priority).toBe(0);
	});

	test("an application on the bar with the same priority does not clear the drawing", () => {
		const { canvas, draw } = setup();
		draw("app", 60);
		canvas.setLoaderPriority(60);
		expect(canvas.applicationName).toBe("app");
	});
});

describe("a refused draw", () => {
	test("is answered after 1.5 seconds, not earlier", () => {
		const { clock, draw } = setup();
		draw("app", 60);
		const answers = draw("other", 60);
		clock.advance(PARKED_DRAW_MS - 1);
		expect(answers).toEqual([]);
		clock.advance(1);
		expect(answers).toEqual(["refused"]);
	});

	test("appears if the BUSY timer ends while it waits", () => {
		const { clock, canvas, draw } = setup();
		canvas.setLoaderPriority(BUSY_LOADER_PRIORITY);
		const answers = draw("app", 60);
		clock.advance(1000);
		canvas.setLoaderPriority(IDLE_LOADER_PRIORITY);
		expect(answers).toEqual(["drawn"]);
		clock.advance(10_000);
		expect(answers).toEqual(["drawn"]);
		expect(canvas.applicationName).toBe("app");
	});

	test("does not appear just because the drawing before it was cleared", () => {
		const { clock, canvas, draw } = setup();
		draw("app", 60);
		const answers = draw("other", 60);
		canvas.clear("app");
		clock.advance(PARKED_DRAW_MS);
		expect(answers).toEqual(["refused"]);
		expect(canvas.applicationName).toBeUndefined();
	});

	test("waits until the next one is refused: only one can wait", () => {
		const { clock, draw } = setup();
		draw("app", 60);
		const first = draw("second", 60);
		const next = draw("third", 60);
		expect([first, next]).toEqual([["refused"], []]);
		clock.advance(PARKED_DRAW_MS);
		expect([first, next]).toEqual([["refused"], ["refused"]]);
	});
});

describe("how long an element stays", () => {
	test("for its timeout, to the millisecond; after the last element nothing is drawn", () => {
		const { clock, canvas, draw, ids } = setup();
		draw("app", 60, [animation("a", { timeoutSeconds: 3 }), animation("b", { timeoutSeconds: 5 })]);
		clock.advance(2999);
		expect(ids()).toEqual(["a", "b"]);
		clock.advance(1);
		expect(ids()).toEqual(["b"]);
		expect(canvas.applicationName).toBe("app");
		clock.advance(2000);
		expect(canvas.applicationName).toBeUndefined();
		expect(canvas.priority).toBe(0);
	});

	test("a redraw with a timeout restarts it, and the animation", () => {
		const { clock, canvas, draw, ids } = setup();
		draw("app", 60, [animation("a", { timeoutSeconds: 3 })]);
		clock.advance(2000);
		draw("app", 60, [animation("a", { timeoutSeconds: 3 })]);
		expect(canvas.elements[0]?.startedAtMs).toBe(clock.now());
		clock.advance(2999);
		expect(ids()).toEqual(["a"]);
		clock.advance(1);
		expect(ids()).toEqual([]);
	});

	test("a redraw without a timeout makes it permanent", () => {
		const { clock, draw, ids } = setup();
		draw("app", 60, [animation("a", { timeoutSeconds: 3 })]);
		draw("app", 60, [animation("a")]);
		clock.advance(1_000_000);
		expect(ids()).toEqual(["a"]);
	});

	test("a clear also cancels the timeouts", () => {
		const { clock, canvas, draw, ids } = setup();
		draw("app", 60, [animation("a", { timeoutSeconds: 3 })]);
		canvas.clear("app");
		draw("app", 60, [animation("a")]);
		clock.advance(10_000);
		expect(ids()).toEqual(["a"]);
		expect(clock.pendingTimers).toBe(0);
	});
});

describe("the canvas refuses", () => {
	test.each<[string, Partial<DrawElement>]>([
		["display", { display: "back" }],
		["type", { type: "text" }],
	])("the same id with another %s, and keeps the elements before it", (_, change) => {
		const { draw, ids } = setup();
		draw("app", 60, [animation("a")]);
		expect(draw("app", 60, [animation("b"), animation("a", change), animation("c")])).toEqual(["changed element"]);
		expect(ids()).toEqual(["a", "b"]);
	});

	test("the 101st element, counted over all requests", () => {
		const { draw, ids } = setup();
		const many = Array.from({ length: 99 }, (_, index) => animation(`e${index}`));
		expect(draw("app", 60, many)).toEqual(["drawn"]);
		expect(draw("app", 60, [animation("x"), animation("y")])).toEqual(["too many elements"]);
		expect(ids()).toHaveLength(100);
	});
});

describe("clear", () => {
	test.each<[string, ApiChoice, string | undefined, string, boolean]>([
		["the owner", "27.5", "app", "cleared", false],
		["no application", "27.5", undefined, "cleared", false],
		["another application", "27.5", "other", "not displaying", true],
		["the owner", "25", "app", "cleared", false],
		["another application", "25", "other", "cleared", true],
	])("for %s on API %s", (_, api, name, outcome, staysLit) => {
		const { canvas, draw } = setup(api);
		draw("app", 60);
		expect(canvas.clear(name)).toBe(outcome);
		expect(canvas.applicationName === "app").toBe(staysLit);
	});

	test("is accepted with any name if nothing is drawn, but not with an element", () => {
		const { canvas } = setup();
		expect(canvas.clear("app")).toBe("cleared");
		expect(canvas.clear("app", ["a"])).toBe("unknown element");
	});

	test("of single elements keeps the others; of one that does not exist, keeps all", () => {
		const { canvas, draw, ids } = setup();
		draw("app", 60, [animation("a"), animation("b")]);
		expect(canvas.clear("app", ["a", "nope"])).toBe("unknown element");
		expect(canvas.clear("other", ["nope"])).toBe("not displaying");
		expect(ids()).toEqual(["a", "b"]);
		canvas.clear("app", ["a"]);
		expect(ids()).toEqual(["b"]);
		canvas.clear("app", ["b"]);
		expect(canvas.applicationName).toBeUndefined();
	});

	test("of single elements clears everything on API 25", () => {
		const { canvas, draw } = setup("25");
		draw("app", 60, [animation("a"), animation("b")]);
		canvas.clear("app", ["nope"]);
		expect(canvas.applicationName).toBeUndefined();
	});
});

test("a later element is on top, and one that is drawn again keeps its place", () => {
	const { draw, ids } = setup();
	draw("app", 60, [animation("low"), animation("top")]);
	draw("app", 60, [animation("low")]);
	expect(ids()).toEqual(["low", "top"]);
});
