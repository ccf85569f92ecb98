// Plays a crowd of pis on one simulated bar, harms some of them, and watches the bar.

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
import type { Life, PlannedRun, StartLife } from "./crowd-lives.ts";
import { Dice } from "./crowd-random.ts";
import { judge, type Verdicts } from "./crowd-verdicts.ts";

/** What a pi's user does. */
export interface Rhythm {
	/** When the runs begin, in seconds after all pis are there; one that would begin too early begins at once. */
	readonly startsAfter: (dice: Dice, previousSeconds: number | undefined) => number;
	readonly plan: (dice: Dice) => PlannedRun;
	/** Does not wait until the others are there. */
	readonly isHasty?: true;
}

export interface Crowd {
	readonly pis: number;
	readonly startLife: StartLife;
	readonly rhythm: Rhythm;
	readonly seed: number;
	/** No run begins after that. */
	readonly seconds: number;
	/** When a BUSY timer runs. */
	readonly busySeconds?: readonly [from: number, to: number];
	/** Between one pi that is killed or stopped and the next, on average. */
	readonly harmEverySeconds?: number;
	readonly startsAtATime: number;
}

export interface CrowdEnd {
	readonly verdicts: Verdicts;
	/** How often the bar was seen with a picture that it could not load. */
	readonly wrongPictures: number;
	readonly isLit: boolean;
	readonly kills: number;
	readonly stops: number;
	/** What pis wrote to stderr. */
	readonly complaints: readonly string[];
	/** How busy the machine was, with this and whatever else. */
	readonly loadPercent: number;
}

const HOLD_SECONDS = resolveSettings({}, {}).values.holdSeconds;
const MARK = fileURLToPath(new URL("./crowd-mark.js", import.meta.url));
const WATCH_EVERY_MS = 250;
const RUNS_OF_A_LIFE = 30;
/** A verdict that met the BUSY timer is shown within a minute after it, and what waits for its turn is shown a little later. */
const DECIDED_WITHIN_MS = 75_000;

/** Plays it to its end, and then waits until every verdict is decided, every hold over, and 5 s more. */
export async function playCrowd(crowd: Crowd): Promise<CrowdEnd> {
	const closers: (() => Promise<void>)[] = [];
	const desk = new PiDesk((close) => void closers.push(close));
	try {
		desk.saveSettings({ command: markedCli(desk) });
		const bar = await desk.bar();
		const watch = new Watch(bar);
		try {
			return await play(desk, bar, watch, crowd);
		} finally {
			await watch.end();
		}
	} finally {
		for (const close of closers.reverse()) await close();
	}
}

/** The bundled CLI, which tells the bar for whom it asks. */
function markedCli(desk: PiDesk): string {
	const path = join(desk.home.dir, "marked-cli");
	writeFileSync(path, `#!/bin/sh\nexec '${process.execPath}' --import '${MARK}' '${BUNDLED_CLI}' "$@"\n`);
	chmodSync(path, 0o755);
	return path;
}

async function play(desk: PiDesk, bar: SimulatedBar, watch: Watch, crowd: Crowd): Promise<CrowdEnd> {
	const cpuBefore = cpuTimes();
	const lives: Life[] = [];
	const busy: [number, number][] = [];
	const everybody = Promise.withResolvers<number>();
	const starts = new Turnstile(crowd.startsAtATime);
	let isOver = false;
	const join = async (name: string, runs: readonly PlannedRun[]) => {
		const life = await starts.pass(async () => {
			if (isOver) throw new Error("The crowd is over.");
			return crowd.startLife(desk, bar.addr, name, runs);
		});
		lives.push(life);
		if (lives.length === crowd.pis) everybody.resolve(Date.now());
		return life;
	};
	const players = Array.from({ length: crowd.pis }, (_, index) => playPi(crowd, index, everybody.promise, join));
	const harmed = everybody.promise.then((beginMs) => doHarm(crowd, lives, beginMs));
	const timed = everybody.promise.then(() => crowd.busySeconds && runBusyTimer(bar, crowd.busySeconds, busy));
	const [harm] = await Promise.all([harmed, timed, ...players]).finally(() => {
		isOver = true;
	});

	const verdicts = () => judge({ lives, rows: desk.log(), journal: watch.journal, busy, holdSeconds: HOLD_SECONDS });
	const limitMs = Date.now() + DECIDED_WITHIN_MS;
	for (let soFar = verdicts(); soFar.lost.length + soFar.owed.length > 0 && Date.now() < limitMs; soFar = verdicts()) {
		await delay(500);
	}
	await delay((HOLD_SECONDS + 5) * 1_000);
	const { front, back } = (await bar.state()).lit;
	await watch.end();
	const end: CrowdEnd = {
		verdicts: verdicts(),
		wrongPictures: watch.wrongPictures,
		isLit: front || back,
		...harm,
		complaints: lives.flatMap(({ name, complaints }) => (complaints === "" ? [] : [`${name}: ${complaints}`])),
		loadPercent: loadPercentSince(cpuBefore),
	};
	await Promise.all(lives.filter(isAlive).map((life) => life.quit()));
	return end;
}

/** One pi, which is started again whenever it was killed. */
async function playPi(
	{ rhythm, seed, seconds }: Crowd,
	index: number,
	everybodyThere: Promise<number>,
	join: (name: string, runs: readonly PlannedRun[]) => Promise<Life>,
): Promise<void> {
	const dice = new Dice(seed, `pi ${index}`);
	const plan = () => Array.from({ length: RUNS_OF_A_LIFE }, () => rhythm.plan(dice));
	let runs = plan();
	let life = await join(`pi${index}`, runs);
	const beginMs = rhythm.isHasty ? Date.now() : await everybodyThere;
	let startsAfter: number | undefined;
	for (let lives = 1; ; ) {
		startsAfter = rhythm.startsAfter(dice, startsAfter);
		try {
			const run = runs.shift();
			if (startsAfter > seconds || !run) return;
			await life.pause(Math.max(0, beginMs + startsAfter * 1_000 - Date.now()));
			await life.play(run);
		} catch (error) {
			if (isAlive(life)) throw error;
			await delay(dice.between(300, 2_000));
			lives += 1;
			runs = plan();
			life = await join(`pi${index}.${lives}`, runs);
			startsAfter = (Date.now() - beginMs) / 1_000;
		}
	}
}

async function doHarm({ seed, seconds, harmEverySeconds }: Crowd, lives: readonly Life[], beginMs: number) {
	const dice = new Dice(seed, "harm");
	const stopped = new Set<Life>();
	const stops: Promise<void>[] = [];
	let kills = 0;
	for (let after = 0; harmEverySeconds !== undefined; ) {
		after += dice.between(0, harmEverySeconds * 2);
		if (after > seconds) break;
		await delay(Math.max(0, beginMs + after * 1_000 - Date.now()));
		const victim = dice.of(lives.filter((life) => isAlive(life) && !stopped.has(life)));
		if (!victim) continue;
		if (dice.chance(40)) {
			kills += 1;
			await victim.kill();
			continue;
		}
		stopped.add(victim);
		victim.signal("SIGSTOP");
		const stopMs = dice.between(1_000, 6_000);
		const goOn = () => {
			stopped.delete(victim);
			victim.signal("SIGCONT");
		};
		stops.push(delay(stopMs).then(goOn));
	}
	await Promise.all(stops);
	return { kills, stops: stops.length };
}

async function runBusyTimer(
	bar: SimulatedBar,
	[from, to]: readonly [number, number],
	busy: [number, number][],
): Promise<void> {
	await delay(from * 1_000);
	const span: [number, number] = [Date.now(), Number.POSITIVE_INFINITY];
	busy.push(span);
	await bar.busy(true);
	await delay((to - from) * 1_000);
	await bar.busy(false);
	span[1] = Date.now();
}

function isAlive({ endedMs }: Life): boolean {
	return endedMs === Number.POSITIVE_INFINITY;
}

/** Lets so many in at a time. */
class Turnstile {
	#free: number;
	readonly #waiting: (() => void)[] = [];

	constructor(free: number) {
		this.#free = free;
	}

	async pass<T>(step: () => Promise<T>): Promise<T> {
		if (this.#free > 0) this.#free -= 1;
		else await new Promise<void>((resolve) => this.#waiting.push(resolve));
		try {
			return await step();
		} finally {
			const next = this.#waiting.shift();
			if (next) next();
			else this.#free += 1;
		}
	}
}

/** Collects the whole journal, of which the bar keeps the last entries only. */
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
	}

	async #watch(): Promise<void> {
		for (;;) {
			const isLast = this.#hasEnded;
			const { journal, canvas } = await this.#bar.state(this.#revision);
			for (const entry of journal) {
				this.#entries.set(entry.seq, entry);
				this.#revision = Math.max(this.#revision, entry.revision);
			}
			if (canvas.elements.some(({ loadError }) => loadError)) this.wrongPictures += 1;
			if (isLast) return;
			await delay(WATCH_EVERY_MS);
		}
	}
}

interface CpuTimes {
	readonly idle: number;
	readonly all: number;
}

function cpuTimes(): CpuTimes {
	const times = cpus().map((cpu) => cpu.times);
	const sum = (of: (time: (typeof times)[number]) => number) => times.reduce((total, time) => total + of(time), 0);
	return {
		idle: sum(({ idle }) => idle),
		all: sum(({ user, nice, sys, idle, irq }) => user + nice + sys + idle + irq),
	};
}

function loadPercentSince(before: CpuTimes): number {
	const now = cpuTimes();
	return Math.round(100 * (1 - (now.idle - before.idle) / (now.all - before.all)));
}
