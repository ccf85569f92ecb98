// Many pis on one bar: what becomes of their verdicts.

import { chmodSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { JournalEntry } from "../../busybar/simulate/journal.ts";
import { BUNDLED_CLI } from "../../extensions/busybar-alert/cli/which-cli.ts";
import { resolveSettings } from "../../extensions/busybar-alert/settings-file.ts";
import { PiDesk } from "../support/pi-desk.ts";
import type { SimulatedBar } from "../support/simulated-bar.ts";
import { type Life, type PlannedRun, planRun, type StartLife } from "./crowd-lives.ts";
import { Dice } from "./crowd-random.ts";
import { judge, type Verdicts } from "./crowd-verdicts.ts";

const HOLD_SECONDS = resolveSettings({}, {}).values.holdSeconds;
const MARK = fileURLToPath(new URL("./crowd-mark.js", import.meta.url));
const WATCH_EVERY_MS = 250;
const RUNS_OF_A_LIFE = 40;

export interface Crowd {
	readonly pis: number;
	readonly startLife: StartLife;
	readonly seed: number;
	readonly seconds: number;
	/** When a BUSY timer runs. */
	readonly busy?: readonly [fromSeconds: number, toSeconds: number];
	/** Between two pis that are killed or stopped, on average. */
	readonly harmEverySeconds?: number;
	/** Default: 2 to 15 s. */
	readonly idleMs?: readonly [number, number];
	/** At most so many start at a time. */
	readonly startsAtATime?: number;
}

export interface CrowdEnd {
	readonly verdicts: Verdicts;
	/** How often the bar was seen with a picture that it could not load. */
	readonly wrongPictures: number;
	readonly isLit: boolean;
	readonly kills: number;
	readonly stops: number;
	readonly complaints: readonly string[];
	/** Share of all cores that were at work, whoever had them work. */
	readonly load: number;
}

/** Plays it to its end, and then waits until every verdict is decided, every hold over, and 5 s more. */
export async function playCrowd(crowd: Crowd): Promise<CrowdEnd> {
	const closers: (() => Promise<void>)[] = [];
	const desk = new PiDesk((close) => void closers.push(close));
	try {
		return await play(desk, await desk.bar(), crowd);
	} finally {
		for (const close of closers.reverse()) await close();
	}
}

async function play(desk: PiDesk, bar: SimulatedBar, crowd: Crowd): Promise<CrowdEnd> {
	desk.saveSettings({ command: markedCli(desk) });
	const watch = new Watch(bar);
	const cpuBefore = cpuTimes();
	const lives: Life[] = [];
	const slots = new Starts(crowd.startsAtATime ?? 4);
	const ready = Promise.withResolvers<void>();
	let endMs = Number.POSITIVE_INFINITY;
	let started = 0;
	const players = Array.from({ length: crowd.pis }, async (_, index) => {
		const dice = new Dice(crowd.seed, `pi ${index}`);
		const [idleFrom, idleTo] = crowd.idleMs ?? [2_000, 15_000];
		for (let count = 0; Date.now() < endMs; count += 1) {
			const runs: PlannedRun[] = Array.from({ length: RUNS_OF_A_LIFE }, () => planRun(dice));
			const life = await slots.take(() => crowd.startLife(desk, bar.addr, `pi${index}.${count}`, runs));
			lives.push(life);
			started += 1;
			if (started === crowd.pis) ready.resolve();
			await ready.promise;
			try {
				for (const run of runs) {
					await life.pause(Math.min(dice.between(idleFrom, idleTo), Math.max(0, endMs - Date.now())));
					if (Date.now() >= endMs) break;
					await life.play(run);
				}
			} catch (error) {
				if (life.endedMs === Number.POSITIVE_INFINITY) throw error;
				await delay(dice.between(300, 2_000));
			}
		}
	});
	const playing = Promise.all(players);
	await Promise.race([ready.promise, playing]);
	endMs = Date.now() + crowd.seconds * 1_000;
	const busy: [number, number][] = [];
	const [harm] = await Promise.all([
		doHarm(crowd, lives, endMs),
		crowd.busy && runBusyTimer(bar, crowd.busy, busy),
		playing,
	]);
	const look = () => judge({ lives, rows: desk.log(), journal: watch.journal, busy, holdSeconds: HOLD_SECONDS });
	// What the BUSY timer was in the way of is shown within a minute.
	const limitMs = Date.now() + 75_000;
	for (;;) {
		const { lost, stillOwed } = look();
		if ((lost.length === 0 && stillOwed.length === 0) || Date.now() > limitMs) break;
		await delay(500);
	}
	await delay((HOLD_SECONDS + 5) * 1_000);
	const { front, back } = (await bar.state()).lit;
	const load = loadSince(cpuBefore);
	await Promise.all(lives.filter(({ endedMs }) => endedMs === Number.POSITIVE_INFINITY).map((life) => life.quit()));
	await watch.end();
	if (process.env.CROWD_DUMP)
		writeFileSync(
			process.env.CROWD_DUMP,
			JSON.stringify({
				lives: lives.map((l) => ({ name: l.name, pid: l.pid, asked: l.asked, backMs: l.backMs, endedMs: l.endedMs })),
				rows: desk.log(),
				journal: watch.journal,
				busy,
			}),
		);
	return {
		verdicts: look(),
		wrongPictures: watch.wrongPictures,
		isLit: front || back,
		...harm,
		complaints: lives.flatMap(({ name, complaints }) => (complaints === "" ? [] : [`${name}: ${complaints}`])),
		load,
	};
}

/** The bundled CLI, which tells the bar for whom it asks. */
function markedCli(desk: PiDesk): string {
	const path = join(desk.home.dir, "marked-cli");
	writeFileSync(path, `#!/bin/sh\nexec '${process.execPath}' --import '${MARK}' '${BUNDLED_CLI}' "$@"\n`);
	chmodSync(path, 0o755);
	return path;
}

async function doHarm({ seed, harmEverySeconds }: Crowd, lives: readonly Life[], endMs: number) {
	const dice = new Dice(seed, "harm");
	const done = { kills: 0, stops: 0 };
	if (harmEverySeconds === undefined) return done;
	const stopped = new Set<Life>();
	const stops: Promise<void>[] = [];
	for (;;) {
		await delay(Math.min(dice.between(0, harmEverySeconds * 2_000), Math.max(0, endMs - Date.now())));
		if (Date.now() >= endMs) break;
		const life = dice.of(lives.filter((one) => one.endedMs === Number.POSITIVE_INFINITY && !stopped.has(one)));
		if (!life) continue;
		if (dice.chance(40)) {
			done.kills += 1;
			await life.kill();
			continue;
		}
		done.stops += 1;
		stopped.add(life);
		life.stop();
		stops.push(
			delay(dice.between(1_000, 6_000)).then(() => {
				life.goOn();
				stopped.delete(life);
			}),
		);
	}
	await Promise.all(stops);
	return done;
}

async function runBusyTimer(
	bar: SimulatedBar,
	[from, to]: readonly [number, number],
	busy: [number, number][],
): Promise<void> {
	await delay(from * 1_000);
	const fromMs = Date.now();
	await bar.busy(true);
	await delay((to - from) * 1_000);
	await bar.busy(false);
	busy.push([fromMs, Date.now()]);
}

/** Lets so many at a time do something. */
class Starts {
	#free: number;
	readonly #waiting: (() => void)[] = [];

	constructor(free: number) {
		this.#free = free;
	}

	async take<T>(start: () => Promise<T>): Promise<T> {
		if (this.#free === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
		else this.#free -= 1;
		try {
			return await start();
		} finally {
			const next = this.#waiting.shift();
			if (next) next();
			else this.#free += 1;
		}
	}
}

/** Collects the bar's journal, of which the bar keeps the last entries only. */
class Watch {
	wrongPictures = 0;
	readonly #bar: SimulatedBar;
	readonly #entries = new Map<number, JournalEntry>();
	#revision = 0;
	#hasEnded = false;
	readonly #watching: Promise<void>;

	constructor(bar: SimulatedBar) {
		this.#bar = bar;
		this.#watching = this.#watch();
	}

	get journal(): readonly JournalEntry[] {
		return [...this.#entries.values()];
	}

	async end(): Promise<void> {
		this.#hasEnded = true;
		await this.#watching;
		await this.#look();
	}

	async #watch(): Promise<void> {
		while (!this.#hasEnded) {
			await this.#look();
			await delay(WATCH_EVERY_MS);
		}
	}

	async #look(): Promise<void> {
		const { journal, canvas } = await this.#bar.state(this.#revision);
		for (const entry of journal) {
			this.#entries.set(entry.seq, entry);
			this.#revision = Math.max(this.#revision, entry.revision);
		}
		if (canvas.elements.some(({ loadError }) => loadError)) this.wrongPictures += 1;
	}
}

function cpuTimes(): { readonly all: number; readonly idle: number } {
	const times = cpus().map((cpu) => cpu.times);
	const idle = times.reduce((sum, time) => sum + time.idle + 0, 0);
	return {
		idle,
		all: times.reduce((sum, { user, nice, sys, idle: free, irq }) => sum + user + nice + sys + free + irq, 0),
	};
}

function loadSince(before: ReturnType<typeof cpuTimes>): number {
	const now = cpuTimes();
	return 1 - (now.idle - before.idle) / (now.all - before.all);
}
