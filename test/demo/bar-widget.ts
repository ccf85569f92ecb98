// A pi extension for the demo: shows the front display of the simulated bar above the editor, live.
// Asks the simulated bar at PI_DEMO_BAR ten times a second while a session is open in a terminal.

import { get } from "node:http";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { LiveView } from "../../busybar/simulate/controls.ts";
import { unpackScreen } from "../support/led-picture.ts";
import { colourLines, plainLines } from "./half-blocks.ts";

const WIDGET = "simulated-bar";
const INTERVAL_MS = 100;
/** In a narrower terminal, only the caption is shown. */
const COLUMNS = 74;

export default function barWidget(pi: ExtensionAPI): void {
	let stop = (): void => undefined;
	pi.on("session_start", (_event, ctx) => {
		const url = process.env.PI_DEMO_BAR;
		if (ctx.mode !== "tui" || url === undefined) return;
		ctx.ui.setWidget(WIDGET, (tui, theme) => {
			let pixels: string[] = [];
			const look = new Look(url, (front) => {
				pixels = front;
				tui.requestRender();
			});
			stop = () => look.end();
			return {
				render: (width) => {
					const caption = theme.fg(
						"dim",
						` Simulated BUSY Bar, also at ${url} - type anything and press Enter`.slice(0, width),
					);
					return width < COLUMNS ? [caption] : [...pixels.map((line) => ` ${line}`), caption];
				},
				invalidate: () => undefined,
				dispose: () => look.end(),
			};
		});
	});
	pi.on("session_shutdown", () => stop());
}

/** Reads the bar's display repeatedly, and reports changes. */
class Look {
	readonly #url: string;
	readonly #onChange: (lines: string[]) => void;
	readonly #timer: NodeJS.Timeout;
	#seen = "";
	#isAsking = false;

	constructor(url: string, onChange: (lines: string[]) => void) {
		this.#url = url;
		this.#onChange = onChange;
		this.#timer = setInterval(() => this.#ask(), INTERVAL_MS);
		this.#timer.unref();
	}

	end(): void {
		clearInterval(this.#timer);
	}

	#ask(): void {
		if (this.#isAsking) return;
		this.#isAsking = true;
		// Not fetch: it cannot read the bar's padded Content-Length.
		const call = get(`${this.#url}_sim/live?after=${Number.MAX_SAFE_INTEGER}`, { agent: false }, (response) => {
			let text = "";
			response.setEncoding("utf8").on("data", (chunk: string) => {
				text += chunk;
			});
			response.on("end", () => this.#show((JSON.parse(text) as LiveView).front));
		});
		// The bar ends together with pi, possibly first.
		call.on("error", () => undefined);
		call.on("close", () => {
			this.#isAsking = false;
		});
	}

	#show(front: string): void {
		if (front === this.#seen) return;
		this.#seen = front;
		const linesOf = process.stdout.getColorDepth() === 24 ? colourLines : plainLines;
		this.#onChange(linesOf(unpackScreen(front, "front")));
	}
}
