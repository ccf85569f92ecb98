// What a simulated bar in this process showed, and for how long: of the drawings of pi's alerts alone.

import { basename } from "node:path";
import type { JournalEntry } from "../../busybar/simulate/journal.ts";
import { isLit } from "../../busybar/simulate/picture.ts";
import type { BarServer } from "../../busybar/simulate/server.ts";
import type { Alert } from "../../extensions/busybar-alert/settings.ts";

/** Of every alert, as users have it who have changed no setting. */
export const APPLICATION = "pi-turn-alert";
const LOOK_EVERY_MS = 20;
const ALERT_OF: Readonly<Record<string, Alert>> = {
	alert: "turn",
	check: "done",
	cross: "error",
	question: "question",
};

/** A drawing that the bar took. */
export interface Drawn {
	readonly alert: Alert;
	/** Milliseconds since the Unix epoch. */
	readonly atMs: number;
	/** Until it was gone or drawn over; Infinity while it is there. */
	readonly untilMs: number;
}

export class BarWatch {
	readonly #bar: BarServer;
	readonly #darkMs: number[] = [];
	readonly #timer: NodeJS.Timeout;
	#isLit = false;
	/** Something was drawn, and not one LED shone. */
	hasShownNothing = false;

	constructor(bar: BarServer) {
		this.#bar = bar;
		this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
	}

	get isLit(): boolean {
		this.#look();
		return this.#isLit;
	}

	get drawn(): Drawn[] {
		const { isLit } = this;
		const draws = this.#bar.bar.journal.entries().filter(isDrawn);
		return draws.map((draw, index) => {
			// What was dark again before we looked was dark at once.
			const last = isLit ? Number.POSITIVE_INFINITY : draw.at;
			const darkMs = this.#darkMs.find((atMs) => atMs >= draw.at) ?? last;
			const nextMs = draws[index + 1]?.at ?? Number.POSITIVE_INFINITY;
			return { alert: alertIn(draw), atMs: draw.at, untilMs: Math.min(darkMs, nextMs) };
		});
	}

	/** The requests of our commands, such as `DELETE /api/display/draw`. */
	get requests(): string[] {
		return this.#bar.bar.journal.entries().map(({ method, path }) => `${method} ${path}`);
	}

	stop(): void {
		clearInterval(this.#timer);
	}

	#look(): void {
		const { canvas } = this.#bar.bar;
		const wasLit = this.#isLit;
		this.#isLit = canvas.applicationName === APPLICATION && canvas.elements.length > 0;
		if (this.#isLit && !wasLit && !isLit(this.#bar.bar.screen("front"))) this.hasShownNothing = true;
		if (wasLit && !this.#isLit) this.#darkMs.push(Date.now());
	}
}

function isDrawn({ method, path, status, applicationName }: JournalEntry): boolean {
	return method === "POST" && path === "/api/display/draw" && status === 200 && applicationName === APPLICATION;
}

function alertIn({ body }: JournalEntry): Alert {
	const { elements } = body as { readonly elements: readonly { readonly path: string }[] };
	const file = basename(elements[0]?.path ?? "");
	const alert = ALERT_OF[file.split("_")[0] ?? ""];
	if (!alert) throw new Error(`No alert draws ${file}.`);
	return alert;
}
