// A desk: a user's home with the extension's settings and log, and a simulated bar that stands on it.
// For tests (desk.ts closes it with the test) and for the demo; what it starts ends with `atEnd`.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { JournalEntry } from "../../busybar/simulate/journal.ts";
import type { LogRow } from "../../extensions/busybar-alert/log.ts";
import type { Settings } from "../../extensions/busybar-alert/settings.ts";
import { PiHome, type PiOptions } from "./pi.ts";
import type { ScriptedStep } from "./scripted-model.ts";
import { type SimulatedBar, type SimulatedBarOptions, startSimulatedBar } from "./simulated-bar.ts";
import { waitUntil } from "./wait.ts";

export const EXTENSION = fileURLToPath(new URL("../../extensions/busybar-alert/index.ts", import.meta.url));

/** One prompt, two turns: the model calls a tool, then answers. */
export const TWO_TURNS: readonly ScriptedStep[] = [
	{ text: "Let me look.", toolCalls: [{ name: "bash", args: { command: "true" } }] },
	{ text: "It is done." },
];

/** Where nothing listens: port 1 of loopback refuses at once. */
export const DEAD_ADDRESS = "127.0.0.1:1";

/** Takes what is to be called at the end; the last one first is fine. */
export type AtEnd = (close: () => Promise<void>) => void;

export class PiDesk {
	readonly home: PiHome;
	readonly #atEnd: AtEnd;

	constructor(atEnd: AtEnd) {
		this.#atEnd = atEnd;
		this.home = new PiHome(atEnd);
	}

	/** What pi is started with; `addr` is where the extension looks for its bar. */
	pi(addr: string, more: PiOptions = {}): PiOptions {
		return { script: TWO_TURNS, extensions: [EXTENSION], ...more, env: { BUSYBAR_ADDR: addr, ...more.env } };
	}

	saveSettings(settings: Partial<Settings>): void {
		writeFileSync(join(this.home.agentDir, "busybar-alert.json"), JSON.stringify(settings));
	}

	async bar(options: SimulatedBarOptions = {}): Promise<SimulatedBar> {
		const bar = await startSimulatedBar(options);
		this.#atEnd(() => bar.close());
		return bar;
	}

	/** The log's rows so far. */
	log(): LogRow[] {
		try {
			const text = readFileSync(join(this.home.cacheDir, "pi-busybar-alert", "alerts.jsonl"), "utf8");
			return text
				.split("\n")
				.filter((line) => line !== "")
				.map((line) => JSON.parse(line) as LogRow);
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
			throw error;
		}
	}

	/** What the log tells, in short: `fired turn 0`, `skipped turn 1 in_flight`. */
	story(): string[] {
		return this.log().map((row) => {
			const detail = row.outcome === "skipped" ? row.gate : row.outcome === "error" ? row.kind : undefined;
			return [row.outcome, row.reason, detail].filter((word) => word !== undefined).join(" ");
		});
	}

	/** Waits until a line of `story` is, or matches, `wanted`. */
	async logged(wanted: string | RegExp): Promise<void> {
		const matches = (line: string) => (typeof wanted === "string" ? line === wanted : wanted.test(line));
		await waitUntil(
			`A log row ${wanted}`,
			25_000,
			() => this.story().some(matches),
			() => this.story().join("\n"),
		);
	}
}

export async function untilLit(bar: SimulatedBar): Promise<void> {
	await waitUntil("The bar's front display lit", 20_000, async () => (await bar.state()).lit.front);
}

export async function untilDark(bar: SimulatedBar): Promise<void> {
	await waitUntil("The bar dark again", 20_000, async () => {
		const { lit, canvas } = await bar.state();
		return !lit.front && !lit.back && canvas.elements.length === 0;
	});
}

/** The requests that a bar got, such as `POST /api/display/draw`. */
export function requests(journal: readonly JournalEntry[]): string[] {
	return journal.map(({ method, path }) => `${method} ${path}`);
}
