// The alert cycle with a clock that a test moves, and a CLI that draws on a bar held in memory.

import { AlertCycle } from "../../extensions/busybar-alert/alert.ts";
import type { Cli, CliAbilities } from "../../extensions/busybar-alert/busybar.ts";
import type { ExecFn, ExecResult } from "../../extensions/busybar-alert/cli/exec.ts";
import type { FailureKind } from "../../extensions/busybar-alert/cli/failures.ts";
import type { CliChoice } from "../../extensions/busybar-alert/cli/which-cli.ts";
import type { AssetResult } from "../../extensions/busybar-alert/cycle/assets.ts";
import { MemoryBarStore } from "../../extensions/busybar-alert/cycle/bar-store.ts";
import type { Parting } from "../../extensions/busybar-alert/cycle/drawing.ts";
import type { AlertRequest } from "../../extensions/busybar-alert/cycle/request.ts";
import type { LogRow } from "../../extensions/busybar-alert/log.ts";
import { Outcomes } from "../../extensions/busybar-alert/tell/outcomes.ts";
import { ALL_ABILITIES } from "./abilities.ts";
import { ManualClock } from "./manual-clock.ts";

/** How one run of the CLI goes. Without `code` it answers as the bar would. */
export interface Behaviour {
	readonly tookMs?: number;
	readonly code?: number;
	readonly stderr?: string;
	readonly killed?: boolean;
	readonly signal?: NodeJS.Signals;
	readonly spawnError?: string;
	/** Although the CLI fails, what it asked for happens at the bar. */
	readonly reachesBar?: boolean;
}

type Step = "show" | "clear";

/** One request that reached the bar. */
export interface Drawing {
	readonly atMs: number;
	readonly step: Step;
	readonly pattern: string | undefined;
	readonly args: readonly string[];
	/** The access key that the CLI was given. */
	readonly token: string | undefined;
}

/** How long the CLI takes with a draw or a clear of which nothing else is said. */
export const DRAW_MS = 60;

/** A bar that several pis may share, with what they remember of it. */
export class DeskBar {
	readonly clock = new ManualClock(0);
	readonly records: MemoryBarStore;
	readonly drawings: Drawing[] = [];
	/** The pattern that the bar shows. */
	shown: string | undefined;
	/** Pids of pis that are no more. */
	readonly dead = new Set<number>();
	pis = 0;
	#expiry: () => void = () => undefined;

	constructor(records = new MemoryBarStore()) {
		this.records = records;
	}

	take(drawing: Drawing): void {
		this.drawings.push(drawing);
		this.#expiry();
		this.shown = drawing.pattern;
		const { args } = drawing;
		if (!args.includes("--expires-after")) return;
		this.#expiry = this.clock.after(Number(args[args.indexOf("--expires-after") + 1]) * 1_000, () => {
			this.shown = undefined;
		});
	}
}

export class AlertDesk {
	readonly bar: DeskBar;
	readonly clock: ManualClock;
	readonly pid: number;
	readonly rows: LogRow[] = [];
	readonly notices: string[] = [];
	readonly cycle: AlertCycle;
	readonly outcomes: Outcomes;
	readonly stopListening: () => void;
	/** What the next runs of the CLI do, first come first served. */
	readonly behaviours: Record<Step, Behaviour[]> = { show: [], clear: [] };
	/** What all others do. */
	usual: Behaviour = {};
	/** How long making each asset takes, and how it ends. */
	assetTookMs = 0;
	readonly assetFailures: AssetResult[] = [];
	choice: CliChoice;
	readonly discarded: string[] = [];
	/** What the machine's memory of notices was told: kinds of failures, and `shown`. */
	readonly told: string[] = [];
	/** The `command` settings whose CLI was asked for. */
	readonly commands: string[] = [];
	/** Commands whose CLI is to be looked for anew. */
	readonly forgotten: string[] = [];
	/** Runs of the CLI that were cut off. */
	aborted = 0;
	/** It was killed: its commands reach nothing any more. */
	isDead = false;
	readonly abilities: CliAbilities;
	/** The most runs of the CLI at one time. */
	most = 0;
	#running = 0;

	constructor(abilities: Partial<CliAbilities> = {}, bar = new DeskBar()) {
		this.bar = bar;
		this.abilities = { ...ALL_ABILITIES, ...abilities };
		this.clock = bar.clock;
		bar.pis += 1;
		this.pid = 1_000 + bar.pis;
		const cli: Cli = {
			source: "bundled",
			file: "/opt/busybar",
			leadingArgs: [],
			abilities: this.abilities,
		};
		this.choice = { ok: true, cli, foreign: [] };
		this.outcomes = new Outcomes({
			clock: this.clock,
			log: { append: (row) => void this.rows.push(row) },
			notices: {
				shown: async () => void this.told.push("shown"),
				failed: async (kind) => {
					const isNews = !this.told.includes(kind);
					this.told.push(kind);
					return isNews;
				},
			},
		});
		this.cycle = new AlertCycle({
			exec: this.#exec,
			clock: this.clock,
			outcomes: this.outcomes,
			whichCli: { choose: this.#choose, forget: (command) => void this.forgotten.push(command) },
			assets: {
				ensure: async (pattern) => {
					await this.#elapse(this.assetTookMs);
					return this.assetFailures.shift() ?? { ok: true, anim: `/cache/${pattern}.anim` };
				},
				discard: async (anim) => void this.discarded.push(anim),
			},
			bars: this.bar.records,
			processes: {
				self: async () => ({ pid: this.pid, started: "once" }),
				isAlive: async ({ pid }) => !this.bar.dead.has(pid),
			},
			env: {},
		});
		this.stopListening = this.outcomes.listen({
			changed: () => undefined,
			notice: (message) => this.notices.push(message),
		});
	}

	/** The pattern that the bar shows. */
	get shown(): string | undefined {
		return this.bar.shown;
	}

	get drawings(): readonly Drawing[] {
		return this.bar.drawings;
	}

	/** Ends this pi; what is left to a process of its own comes back. */
	part(when: "now" | "after_hold" = "now"): Parting | undefined {
		let left: Parting | undefined;
		this.cycle.part(when, (parting) => {
			left = parting;
			return true;
		});
		return left;
	}

	/** What happened, in the words of the log: `fired turn 0`, `skipped turn 1 superseded`. */
	get story(): string[] {
		return this.rows.map((row) => {
			const detail = row.outcome === "skipped" ? row.gate : row.outcome === "error" ? row.kind : undefined;
			return [row.outcome, row.reason, detail].filter((word) => word !== undefined).join(" ");
		});
	}

	get steps(): string[] {
		return this.drawings.map(({ step, pattern }) => (pattern ? `${step} ${pattern}` : step));
	}

	async advance(ms: number): Promise<void> {
		await this.clock.advanceAsync(ms);
	}

	readonly #choose = async (command: string): Promise<CliChoice> => {
		this.commands.push(command);
		return this.choice;
	};

	readonly #exec: ExecFn = async (file, args, options) => {
		this.#running += 1;
		this.most = Math.max(this.most, this.#running);
		try {
			return await this.#execute(file, args, options);
		} finally {
			this.#running -= 1;
		}
	};

	readonly #execute: ExecFn = async (_file, args, options) => {
		const step: Step = args[0] === "show" ? "show" : "clear";
		if (this.isDead) return new Promise<never>(() => undefined);
		const behaviour = this.behaviours[step].shift() ?? this.usual;
		const isCutOff = await Promise.race([
			this.#elapse(Math.min(behaviour.tookMs ?? DRAW_MS, options.deadlineMs)),
			aborted(options.signal),
		]);
		if (isCutOff) {
			this.aborted += 1;
			return resultOf({ killed: true, signal: "SIGKILL" });
		}
		const fails = behaviour.killed || behaviour.signal || behaviour.spawnError || (behaviour.code ?? 0) !== 0;
		if (!fails || behaviour.reachesBar) this.#reachBar(step, args, options.env?.BUSYBAR_TOKEN);
		return resultOf(behaviour);
	};

	#reachBar(step: Step, args: readonly string[], token: string | undefined): void {
		const pattern = step === "show" ? /(\w+)\.anim$/.exec(args[args.indexOf("--input") + 1] ?? "")?.[1] : undefined;
		this.bar.take({ atMs: this.clock.now(), step, pattern, args, token });
	}

	#elapse(ms: number): Promise<void> {
		return ms === 0 ? Promise.resolve() : new Promise((resolve) => void this.clock.after(ms, resolve));
	}
}

function aborted(signal: AbortSignal | undefined): Promise<true> {
	return new Promise((resolve) => signal?.addEventListener("abort", () => resolve(true)));
}

export function alertRequest(given: Partial<AlertRequest> & { addr?: string } = {}): AlertRequest {
	const { addr = "10.0.4.20", ...rest } = given;
	return {
		alert: "turn",
		reason: "turn 0",
		session: "session",
		isManual: false,
		pattern: "spinner",
		fallbackPattern: "spinner",
		target: { addr, token: "", applicationName: "pi-turn-alert", display: "front", priority: 60 },
		holdSeconds: 3,
		command: "",
		clearOnShutdown: true,
		...rest,
	};
}

export const turn = (index: number) => alertRequest({ reason: `turn ${index}` });
export const done = (index: number) =>
	alertRequest({ alert: "done", reason: `turn ${index}`, pattern: "check", fallbackPattern: "check" });

export const refusal = (kind: FailureKind): Behaviour => {
	const words: Partial<Record<FailureKind, string>> = {
		unreachable: "Error: cannot reach 10.0.4.20: connection refused",
		not_a_bar: "Error: 10.0.4.20 answers, but is not a BUSY Bar; check the address.",
		preempted: "Error: HTTP 409 Not drawn due to low priority",
		forbidden: "Error: HTTP 403 Forbidden",
		device: "Error: HTTP 508 Failed to open file for writing",
	};
	return { code: 1, stderr: words[kind] ?? "Error: something new" };
};

function resultOf({ code = 0, stderr = "", killed = false, signal, spawnError }: Behaviour): ExecResult {
	return {
		code: signal ? null : code,
		signal: signal ?? null,
		killed,
		stdout: "",
		stderr,
		...(spawnError && { spawnError }),
	};
}
