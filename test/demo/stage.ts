// What all acts use: a user's home, a simulated bar, pi in a terminal, and the folder for pictures.
// Everything except the pictures is in temporary folders, and is removed at the end.

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { resolveSettings } from "../../extensions/busybar-alert/settings-file.ts";
import { ledPng, type Screen } from "../support/led-picture.ts";
import { startTerminalPi } from "../support/pi.ts";
import { EXTENSION, PiDesk } from "../support/pi-desk.ts";
import type { ScriptedStep } from "../support/scripted-model.ts";
import type { SimulatedBar } from "../support/simulated-bar.ts";
import { KEY, type Terminal } from "../support/terminal.ts";
import { waitUntil } from "../support/wait.ts";
import { type PiEvent, readEvents } from "./probe.ts";
import { Report } from "./report.ts";

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export const LAUNCHER = file("../../extensions/launcher/index.ts");
const PICTURES = file("../../demo-output");
const LED_PIXELS = 12;
const PARTING_LIMIT_MS = 3000;
const PARTING_END_MS = 300;
/** Narrow enough to print pi's output in 80 columns with an indent, and long enough that nothing scrolls away. */
const SCREEN = { columns: 68, rows: 120 };

/** The settings are the defaults. */
export const HOLD_SECONDS = resolveSettings({}, {}).values.holdSeconds;

/** Collects what was started, and closes it in the same order. */
export class Closers {
	readonly #closers: (() => Promise<void>)[] = [];
	#closing: Promise<void> | undefined;

	get areClosing(): boolean {
		return this.#closing !== undefined;
	}

	readonly add = (close: () => Promise<void>): void => {
		this.#closers.push(close);
	};

	/** Safe to call twice. */
	closeAll(): Promise<void> {
		this.#closing ??= this.#closeAll();
		return this.#closing;
	}

	async #closeAll(): Promise<void> {
		for (let close = this.#closers.shift(); close; close = this.#closers.shift()) await close();
	}
}

/** A home and a bar. The bar is closed after all pis of that home, because a pi can leave a clear behind. */
export async function openDesk(closers: Closers): Promise<{ desk: PiDesk; bar: SimulatedBar }> {
	const desk = new PiDesk(closers.add);
	let bar: SimulatedBar | undefined;
	closers.add(async () => {
		if (bar) await leftClear(bar);
	});
	bar = await desk.bar();
	// The process that does the clear has created its cache folder again.
	closers.add(() => rm(desk.home.dir, { recursive: true, force: true }));
	return { desk, bar };
}

/** Waits, not for long, for a clear that an ended pi has left behind, and for the end of its process. Never rejects. */
async function leftClear(bar: SimulatedBar): Promise<void> {
	// Ctrl-C in a terminal also ends the bar, and then the clear fails at once.
	const isLit = () =>
		bar.state().then(
			({ lit }) => lit.front,
			() => false,
		);
	const end = performance.now() + PARTING_LIMIT_MS;
	while ((await isLit()) && performance.now() < end) await delay(20);
	await delay(PARTING_END_MS);
}

export class Stage {
	readonly report = new Report();
	readonly pictures = PICTURES;
	readonly desk: PiDesk;
	readonly bar: SimulatedBar;
	#actors = 0;

	static async open(closers: Closers): Promise<Stage> {
		const { desk, bar } = await openDesk(closers);
		return new Stage(desk, bar);
	}

	private constructor(desk: PiDesk, bar: SimulatedBar) {
		this.desk = desk;
		this.bar = bar;
		rmSync(PICTURES, { recursive: true, force: true });
		mkdirSync(PICTURES);
	}

	/** Starts pi in a terminal and records its events. @param options.extensions the ones that are measured */
	async startPi(options: {
		readonly script: readonly ScriptedStep[];
		readonly addr?: string;
		readonly extensions?: readonly string[];
	}): Promise<ActingPi> {
		const events = join(this.desk.home.dir, `events-${++this.#actors}.jsonl`);
		const { addr = this.bar.addr, script, extensions = [LAUNCHER, EXTENSION] } = options;
		const acting = this.desk.pi(addr, {
			script,
			extensions: [file("./probe-before.ts"), ...extensions, file("./probe-after.ts")],
			env: { PI_DEMO_EVENTS: events },
		});
		const terminal = await startTerminalPi(this.desk.home, { ...acting, ...SCREEN });
		return new ActingPi(terminal, events);
	}

	picture(name: string, { rgb, width, height }: Screen): void {
		writeFileSync(join(PICTURES, `${name}.png`), ledPng(rgb, width, height, LED_PIXELS));
	}
}

/** A pi that the demo types to. */
export class ActingPi {
	readonly terminal: Terminal;
	readonly #eventsFile: string;
	#prompts = 0;

	constructor(terminal: Terminal, eventsFile: string) {
		this.terminal = terminal;
		this.#eventsFile = eventsFile;
	}

	get events(): PiEvent[] {
		return readEvents(this.#eventsFile);
	}

	/** Types a prompt that is not on the screen yet, and waits until pi has settled. Resolves with the events of the run. */
	async prompt(text: string): Promise<PiEvent[]> {
		const before = this.events.length;
		this.terminal.write(text);
		await this.terminal.waitForText(text);
		this.terminal.write(KEY.enter);
		this.#prompts += 1;
		await waitUntil(
			`The end of prompt ${this.#prompts}`,
			20_000,
			() => this.events.filter(({ type }) => type === "agent_settled").length === this.#prompts,
			() => this.terminal.screen().join("\n"),
		);
		return this.events.slice(before);
	}

	async quit(): Promise<void> {
		this.terminal.write(KEY.ctrlD);
		await this.terminal.exit;
	}
}

/** When the first event of a kind happened. Throws if there was none. */
export function eventAt(events: readonly PiEvent[], type: string, turnIndex?: number): number {
	const event = events.find((each) => each.type === type && (turnIndex === undefined || each.turnIndex === turnIndex));
	if (!event) throw new Error(`pi reported no ${type}.`);
	return event.atMs;
}
