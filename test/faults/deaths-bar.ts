// A simulated bar in this process, with a record of when it was lit. The process that looks on has it at hand, so that
// "when it went dark" is known to the hundredth of a second without a request.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { assetName } from "../../busybar/asset.ts";
import type { Bar } from "../../busybar/simulate/bar.ts";
import type { JournalEntry } from "../../busybar/simulate/journal.ts";
import { startBarServer } from "../../busybar/simulate/server.ts";
import { uploadPath } from "../../busybar/simulate/storage.ts";

const LOOK_MS = 10;

/** Times are milliseconds since the Unix epoch; `toMs` is undefined while it is lit. */
export interface LitTime {
	readonly fromMs: number;
	readonly toMs: number | undefined;
}

export class WatchedBar {
	readonly addr: string;
	readonly #bar: Bar;
	readonly #lit: LitTime[] = [];
	readonly #stop: () => Promise<void>;

	static async start(): Promise<WatchedBar> {
		const server = await startBarServer(0, { api: "27.5", access: "usb", token: undefined, faults: {} });
		return new WatchedBar(server.bar, `127.0.0.1:${server.port}`, () => server.close());
	}

	private constructor(bar: Bar, addr: string, close: () => Promise<void>) {
		this.#bar = bar;
		this.addr = addr;
		const watch = setInterval(() => this.#look(), LOOK_MS);
		this.#stop = async () => {
			clearInterval(watch);
			await close();
		};
	}

	/** Puts every `.anim` of the folder on the bar, as an earlier `show` has. */
	upload(folder: string, applicationName: string): void {
		for (const name of readdirSync(folder).filter((file) => file.endsWith(".anim"))) {
			const bytes = readFileSync(join(folder, name));
			const path = uploadPath(applicationName, assetName(name, bytes));
			if (path !== undefined) this.#bar.storage.append(path, bytes);
		}
	}

	get isLit(): boolean {
		return this.#bar.canvas.elements.length > 0;
	}

	/** A refused draw may still appear: for how long. Undefined if there is none. */
	get parkedForMs(): number | undefined {
		const { parked } = this.#bar.canvas;
		return parked && parked.refusedAtMs - Date.now();
	}

	/** Oldest first. */
	get lit(): readonly LitTime[] {
		this.#look();
		return this.#lit;
	}

	get journal(): readonly JournalEntry[] {
		return this.#bar.journal.entries();
	}

	/** From now on the bar does at once what it is asked for, but answers such requests so much later. */
	slowDown(slowMs: number, isSlow: (request: JournalEntry) => boolean = () => true): void {
		const { journal } = this.#bar;
		this.#bar.faults = {
			get slowMs() {
				const request = journal.entries().at(-1);
				return request && isSlow(request) ? slowMs : 0;
			},
		};
	}

	/** A BUSY timer refuses every draw. */
	setBusy(isBusy: boolean): void {
		if (isBusy) this.#bar.busy.start();
		else this.#bar.busy.stop();
	}

	async close(): Promise<void> {
		await this.#stop();
	}

	#look(): void {
		const last = this.#lit.at(-1);
		const wasLit = last !== undefined && last.toMs === undefined;
		if (this.isLit === wasLit) return;
		if (wasLit) this.#lit[this.#lit.length - 1] = { ...last, toMs: Date.now() };
		else this.#lit.push({ fromMs: Date.now(), toMs: undefined });
	}
}

export const isDraw = ({ method, path }: JournalEntry): boolean => method === "POST" && path === "/api/display/draw";
export const isClear = ({ method, path }: JournalEntry): boolean => method === "DELETE" && path === "/api/display/draw";
