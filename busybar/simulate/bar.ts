/** The simulated bar without HTTP: its displays, files, BUSY timer, access and faults in one place. */

import type { Readable } from "node:stream";
import type { Display } from "../displays.ts";
import { BusyTimer } from "./busy-timer.ts";
import { BUSY_LOADER_PRIORITY, Canvas, IDLE_LOADER_PRIORITY } from "./canvas.ts";
import type { Clock } from "./clock.ts";
import { Journal } from "./journal.ts";
import { type ApiChoice, MODELS, type Model } from "./model.ts";
import { drawScreen, FileDecoder, type Picture } from "./picture.ts";
import { Storage } from "./storage.ts";

/** `usb`: the client is connected by cable. The others are the three modes for Wi-Fi in the bar's settings. */
export type Access = "usb" | "disabled" | "enabled" | "key";

export interface Faults {
	/** Requests take effect at once, but the answers are delayed by this time. */
	readonly slowMs?: number;
	/** Requests are never answered and have no effect. */
	readonly hang?: boolean;
	/** Connections are reset as soon as a request arrives. */
	readonly reset?: boolean;
	/** Requests take effect, then the connection is reset instead of answered. */
	readonly loseReplies?: boolean;
	/** After this many more uploads the bar stops answering until the faults are set again, as on firmware 1.2.4. */
	readonly wedgeAfterWrites?: number;
}

export interface BarOptions {
	readonly api: ApiChoice;
	readonly access: Access;
	/** The access key that requests must have. */
	readonly token: string | undefined;
	readonly faults: Faults;
}

export class Bar {
	readonly clock: Clock;
	readonly model: Model;
	readonly access: Access;
	readonly canvas: Canvas;
	readonly storage = new Storage();
	readonly busy: BusyTimer;
	readonly journal = new Journal();
	readonly bootedAtMs: number;
	readonly decoder = new FileDecoder();
	/** The files that are being uploaded, each with the stream that it comes from. */
	readonly uploading = new Map<Readable, string>();
	faults: Faults;
	readonly #token: string | undefined;

	constructor(options: BarOptions, clock: Clock) {
		this.clock = clock;
		this.model = MODELS[options.api];
		this.access = options.access;
		this.faults = options.faults;
		this.#token = options.token;
		this.bootedAtMs = clock.now();
		const canvas = new Canvas(clock, this.model);
		this.canvas = canvas;
		this.busy = new BusyTimer(clock, (active) =>
			canvas.setLoaderPriority(active ? BUSY_LOADER_PRIORITY : IDLE_LOADER_PRIORITY),
		);
	}

	get hasToken(): boolean {
		return this.#token !== undefined;
	}

	get isWedged(): boolean {
		return this.faults.wedgeAfterWrites !== undefined && this.faults.wedgeAfterWrites <= 0;
	}

	/** Even over USB, where no key is needed, a wrong one is refused. If the bar has no key, every key is wrong. */
	admits(token: string | undefined): boolean {
		if (this.access === "disabled") return false;
		if (this.access === "enabled") return true;
		if (this.access === "key") return this.hasToken && token === this.#token;
		return token === undefined || token === this.#token;
	}

	/** Whether an upload or an animation that is drawn keeps the file open. */
	isOpen(path: string): boolean {
		const isPlaying = this.canvas.elements.some(({ element }) => element.type === "animation" && element.file === path);
		return isPlaying || [...this.uploading.values()].includes(path);
	}

	screen(display: Display): Picture {
		return drawScreen(this.canvas.elements, display, this.clock.now(), (path) => this.storage.read(path), this.decoder);
	}

	/** For `wedgeAfterWrites`. */
	countWrite(): void {
		const left = this.faults.wedgeAfterWrites;
		if (left !== undefined) this.faults = { ...this.faults, wedgeAfterWrites: left - 1 };
	}

	dispose(): void {
		this.busy.stop();
		this.canvas.dispose();
	}
}
