// Pis of a crowd, real ones and light ones, that play runs; each writes down what it has asked of the bar.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Alert } from "../../extensions/busybar-alert/settings.ts";
import { startRpcPi } from "../support/pi.ts";
import { EXTENSION, type PiDesk } from "../support/pi-desk.ts";
import type { ScriptedStep } from "../support/scripted-model.ts";
import { ASKING, ask, say, WORK } from "../support/steps.ts";
import type { Dice } from "./crowd-random.ts";

/** A run as it will go. */
export interface PlannedRun {
	readonly turns: readonly {
		readonly thinksMs: number;
		/** The turn asks its user, who answers after this time. */
		readonly answersAfterMs?: number;
	}[];
	readonly ending: "done" | "error" | "aborted";
	readonly lastThinksMs: number;
}

interface Asked {
	readonly alert: Alert;
	/** As in the log, without `(final)`. */
	readonly reason: string;
	readonly atMs: number;
	answeredMs?: number;
}

/** One pi process, from its start to its end. All times are milliseconds since the Unix epoch. */
export interface Life {
	readonly name: string;
	readonly pid: number;
	readonly asked: readonly Asked[];
	/** When its user was back. */
	readonly backMs: readonly number[];
	/** Infinity if nobody has killed it. */
	readonly endedMs: number;
	readonly complaints: string;
	/** Rejects when it is killed meanwhile. */
	play(run: PlannedRun): Promise<void>;
	/** Rejects when it is killed meanwhile. */
	pause(ms: number): Promise<void>;
	kill(): Promise<void>;
	signal(name: "SIGSTOP" | "SIGCONT"): void;
	quit(): Promise<void>;
}

export type StartLife = (desk: PiDesk, addr: string, name: string, runs: readonly PlannedRun[]) => Promise<Life>;

/** @param pace makes it that much shorter */
export function planRun(dice: Dice, pace = 1): PlannedRun {
	const lasts = (from: number, to: number) => dice.between(from, to) / pace;
	const turns = Array.from({ length: Math.floor(dice.between(0, 4)) }, () => ({
		thinksMs: lasts(200, 2_500),
		...(dice.chance(20) && { answersAfterMs: lasts(300, 8_000) }),
	}));
	const ending = dice.chance(15) ? "error" : dice.chance(10) ? "aborted" : "done";
	return { turns, ending, lastThinksMs: lasts(300, 3_000) };
}

/** What both kinds have in common: the book that they keep, and signals. */
class Book {
	readonly name: string;
	readonly asked: Asked[] = [];
	readonly backMs: number[] = [];
	endedMs = Number.POSITIVE_INFINITY;
	readonly #ending = new AbortController();

	constructor(name: string) {
		this.name = name;
	}

	pause(ms: number): Promise<void> {
		return delay(ms, undefined, { signal: this.#ending.signal });
	}

	/** Rejects when it is killed before `promise` is settled. */
	async unlessKilled<T>(promise: Promise<T>): Promise<T> {
		const { signal } = this.#ending;
		const killed = once(signal, "abort").then(() => signal.throwIfAborted() as never);
		return Promise.race([promise, killed]);
	}

	noteAsked(alert: Alert, reason: string): Asked {
		const asked: Asked = { alert, reason, atMs: Date.now() };
		if (!this.#ending.signal.aborted) this.asked.push(asked);
		return asked;
	}

	noteKilled(): void {
		this.endedMs = Date.now();
		this.#ending.abort();
	}
}

const WORKER = fileURLToPath(new URL("./crowd-light-pi.ts", import.meta.url));
/** Shared by all runs: it halves the start of each. */
const COMPILED = join(tmpdir(), "pi-busybar-compiled", "light-pi");

class LightPi extends Book implements Life {
	readonly pid: number;
	readonly #child: ChildProcess;
	readonly #exit: Promise<unknown>;
	#turns = 0;
	complaints = "";

	constructor(name: string, child: ChildProcess) {
		super(name);
		this.pid = child.pid ?? 0;
		this.#child = child;
		this.#exit = once(child, "exit");
		child.stdin?.on("error", () => undefined);
		child.stderr?.on("data", (chunk: Buffer) => {
			this.complaints += chunk;
		});
	}

	async play({ turns, ending, lastThinksMs }: PlannedRun): Promise<void> {
		this.backMs.push(Date.now());
		this.#say("back");
		this.#say("run");
		for (const { thinksMs, answersAfterMs } of turns) {
			await this.pause(thinksMs);
			const index = this.#turns++;
			if (answersAfterMs !== undefined) {
				const asked = this.noteAsked("question", `question: ${index}`);
				this.#say(`asked ${index}`);
				await this.pause(answersAfterMs);
				asked.answeredMs = Date.now();
				this.#say("answered");
			}
			this.#say(`turn ${index} completed tools`);
		}
		await this.pause(lastThinksMs);
		const index = this.#turns++;
		if (ending !== "aborted") this.noteAsked(ending, `turn ${index}`);
		this.#say(`turn ${index} ${ending === "done" ? "completed" : ending}`);
		this.#say(`settled ${ending}`);
	}

	async kill(): Promise<void> {
		this.noteKilled();
		this.#child.kill("SIGKILL");
		await this.#exit;
	}

	signal(name: "SIGSTOP" | "SIGCONT"): void {
		this.#child.kill(name);
	}

	async quit(): Promise<void> {
		this.#child.stdin?.end();
		await this.#exit;
	}

	#say(line: string): void {
		this.#child.stdin?.write(`${line}\n`);
	}
}

export const startLightPi: StartLife = async (desk, addr, name) => {
	const env = desk.home.env({ env: { BUSYBAR_ADDR: addr, CROWD_PI: name, NODE_COMPILE_CACHE: COMPILED } });
	const child = spawn(process.execPath, [WORKER], { env, stdio: "pipe" });
	const pi = new LightPi(name, child);
	desk.home.own({ pid: pi.pid, exit: once(child, "exit").then(([code, signal]) => ({ code, signal })) });
	await once(createInterface(child.stdout), "line");
	return pi;
};

/** Many start at a time. */
const START_LIMIT_MS = 120_000;

class RealPi extends Book implements Life {
	readonly #pi: ReturnType<typeof startRpcPi>;

	constructor(name: string, pi: ReturnType<typeof startRpcPi>) {
		super(name);
		this.#pi = pi;
	}

	get pid(): number {
		return this.#pi.pid;
	}

	get complaints(): string {
		return this.#pi.stderr;
	}

	async play({ turns, ending }: PlannedRun): Promise<void> {
		this.backMs.push(Date.now());
		const first = this.#pi.events.length;
		await this.unlessKilled(this.#pi.prompt("go"));
		const seen = async (
			count: number,
			matches: (record: { readonly type: string; readonly method?: unknown }) => boolean,
		) => {
			for (;;) {
				const found = this.#pi.events.slice(first).filter(matches)[count - 1];
				if (found) return found;
				await this.pause(20);
			}
		};
		const questions = turns.flatMap(({ answersAfterMs }) => answersAfterMs ?? []);
		for (const [index, answersAfterMs] of questions.entries()) {
			const { id } = (await seen(index + 1, ({ method }) => method === "select")) as { id?: unknown };
			const asked = this.noteAsked("question", "question: select");
			await this.pause(answersAfterMs);
			asked.answeredMs = Date.now();
			this.#pi.send({ type: "extension_ui_response", id, value: "left" });
		}
		if (ending === "aborted") {
			// The turn before has ended: its model has begun with the last one.
			if (turns.length > 0) await seen(turns.length, ({ type }) => type === "turn_end");
			await this.pause(300);
			this.#pi.send({ type: "abort" });
		}
		await seen(1, ({ type }) => type === "agent_settled");
		if (ending !== "aborted") this.noteAsked(ending, `turn ${turns.length}`);
	}

	async kill(): Promise<void> {
		this.noteKilled();
		this.#pi.kill("SIGKILL");
		await this.#pi.exit;
	}

	signal(name: "SIGSTOP" | "SIGCONT"): void {
		this.#pi.kill(name);
	}

	async quit(): Promise<void> {
		await this.#pi.close();
	}
}

export const startRealPi: StartLife = async (desk, addr, name, runs) => {
	const script = runs.flatMap(stepsOf);
	const options = desk.pi(addr, { script, extensions: [EXTENSION, ASKING], env: { CROWD_PI: name } });
	const pi = startRpcPi(desk.home, options);
	// It answers once it has started.
	pi.send({ type: "get_state", id: "started" });
	await pi.waitFor(({ id }) => id === "started", START_LIMIT_MS);
	return new RealPi(name, pi);
};

function stepsOf({ turns, ending, lastThinksMs }: PlannedRun): readonly ScriptedStep[] {
	const working = turns.map(({ thinksMs, answersAfterMs }) => ({
		...(answersAfterMs === undefined ? WORK : ask("select")),
		delayMs: thinksMs,
	}));
	const last: Record<PlannedRun["ending"], ScriptedStep> = {
		done: { ...say("Done."), delayMs: lastThinksMs },
		error: { error: "invalid request", delayMs: lastThinksMs },
		aborted: { ...say("Too late."), delayMs: 60_000 },
	};
	return [...working, last[ending]];
}
