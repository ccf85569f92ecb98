/**
 * Who owns the bar's displays, and for how long: the rules of the firmware's canvas service (canvas.c). Touches only
 * the clock it is given. docs/bar.md lists what is left out.
 */

import type { Clock } from "./clock.ts";
import type { DrawElement, DrawRequest } from "./draw-request.ts";
import type { Model } from "./model.ts";

/** How long a refused draw waits for the loader's priority to change before the bar answers. */
export const PARKED_DRAW_MS = 1500;
/** The priority of the clock and of every other ordinary application on the bar. */
export const IDLE_LOADER_PRIORITY = 10;
/** The priority of a BUSY timer, running or paused: higher than any draw can have. */
export const BUSY_LOADER_PRIORITY = 101;
const MAX_ELEMENTS = 100;

export type DrawOutcome = "drawn" | "refused" | "too many elements" | "changed element";

export type ClearOutcome = "cleared" | "not displaying" | "unknown element";

export interface ShownElement {
	readonly element: DrawElement;
	/** When an animation shows its first frame. */
	readonly startedAtMs: number;
	/** Undefined: stays until cleared. */
	readonly expiresAtMs: number | undefined;
	readonly cancelExpiry: () => void;
}

interface ParkedDraw {
	readonly request: DrawRequest;
	readonly answer: (outcome: DrawOutcome) => void;
	readonly refusedAtMs: number;
	readonly cancelRefusal: () => void;
}

export class Canvas {
	readonly #clock: Clock;
	readonly #model: Model;
	readonly #elements = new Map<string, ShownElement>();
	#applicationName: string | undefined;
	#priority = 0;
	#loaderPriority = IDLE_LOADER_PRIORITY;
	#parked: ParkedDraw | undefined;

	constructor(clock: Clock, model: Model) {
		this.#clock = clock;
		this.#model = model;
	}

	/** Undefined while the canvas is idle. */
	get applicationName(): string | undefined {
		return this.#applicationName;
	}

	/** 0 while the canvas is idle. */
	get priority(): number {
		return this.#priority;
	}

	get loaderPriority(): number {
		return this.#loaderPriority;
	}

	/** From the lowest to the topmost: in the order in which their ids were first drawn. */
	get elements(): readonly ShownElement[] {
		return [...this.#elements.values()];
	}

	get parked(): { readonly request: DrawRequest; readonly refusedAtMs: number } | undefined {
		return this.#parked;
	}

	/** Answers at once, or within PARKED_DRAW_MS. Only one draw can wait: a second refused one ends the first's wait. */
	draw(request: DrawRequest, answer: (outcome: DrawOutcome) => void): void {
		if (!this.#isRefused(request)) {
			answer(this.#apply(request));
			return;
		}
		this.#refuseParked();
		this.#parked = {
			request,
			answer,
			refusedAtMs: this.#clock.now() + PARKED_DRAW_MS,
			cancelRefusal: this.#clock.after(PARKED_DRAW_MS, () => this.#refuseParked()),
		};
	}

	/** Clears the elements with these ids, or all of them; without a name, those of any application. */
	clear(applicationName?: string, elementIds?: readonly string[]): ClearOutcome {
		const { hasElementIds, refusesForeignClear } = this.#model;
		const isOwner = applicationName === undefined || applicationName === this.#applicationName;
		if (this.#applicationName !== undefined && !isOwner) return refusesForeignClear ? "not displaying" : "cleared";
		if (elementIds === undefined || !hasElementIds) {
			this.#close();
			return "cleared";
		}
		if (!elementIds.every((id) => this.#elements.has(id))) return "unknown element";
		for (const id of elementIds) this.#remove(id);
		return "cleared";
	}

	/** Clears the canvas if `priority` is higher than its own. After any change, a draw that waits is tried again. */
	setLoaderPriority(priority: number): void {
		if (priority === this.#loaderPriority) return;
		this.#loaderPriority = priority;
		if (this.#applicationName !== undefined && priority > this.#priority) this.#close();
		const parked = this.#parked;
		if (parked === undefined || this.#isRefused(parked.request)) return;
		this.#parked = undefined;
		parked.cancelRefusal();
		parked.answer(this.#apply(parked.request));
	}

	/** Cancels all timers, and refuses a draw that waits. */
	dispose(): void {
		this.#refuseParked();
		this.#close();
	}

	#isRefused({ applicationName, priority }: DrawRequest): boolean {
		const idle = this.#applicationName === undefined;
		const current = idle || this.#loaderPriority > this.#priority ? this.#loaderPriority : this.#priority;
		const equalIsEnough = idle || applicationName === this.#applicationName;
		return equalIsEnough ? priority < current : priority <= current;
	}

	/** Not atomic, as in the firmware: the elements before a wrong one stay. */
	#apply(request: DrawRequest): DrawOutcome {
		if (request.applicationName !== this.#applicationName) this.#close();
		this.#applicationName = request.applicationName;
		this.#priority = request.priority;
		for (const element of request.elements) {
			const before = this.#elements.get(element.id);
			if (before === undefined && this.#elements.size >= MAX_ELEMENTS) return "too many elements";
			if (before !== undefined && !isSameSlot(before.element, element)) return "changed element";
			before?.cancelExpiry();
			this.#elements.set(element.id, this.#show(element));
		}
		return "drawn";
	}

	#show(element: DrawElement): ShownElement {
		const nowMs = this.#clock.now();
		// The firmware multiplies in 32 bits, so that timeouts of 25 days and more overflow.
		const lifetimeMs = Math.imul(element.timeoutSeconds, 1000);
		if (lifetimeMs <= 0) {
			return { element, startedAtMs: nowMs, expiresAtMs: undefined, cancelExpiry: () => undefined };
		}
		const cancelExpiry = this.#clock.after(lifetimeMs, () => this.#remove(element.id));
		return { element, startedAtMs: nowMs, expiresAtMs: nowMs + lifetimeMs, cancelExpiry };
	}

	#remove(id: string): void {
		this.#elements.get(id)?.cancelExpiry();
		this.#elements.delete(id);
		if (this.#elements.size === 0) this.#close();
	}

	#close(): void {
		for (const shown of this.#elements.values()) shown.cancelExpiry();
		this.#elements.clear();
		this.#applicationName = undefined;
		this.#priority = 0;
	}

	#refuseParked(): void {
		const parked = this.#parked;
		this.#parked = undefined;
		parked?.cancelRefusal();
		parked?.answer("refused");
	}
}

function isSameSlot(before: DrawElement, after: DrawElement): boolean {
	return before.type === after.type && before.display === after.display;
}
