// What one fault is played on: a user's home, a simulated bar in this process, the way to it, and the pis that are started;
// and what was seen of all of them. Touches one temporary folder and the processes it starts, and takes both away again.

import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { BarOptions } from "../../busybar/simulate/bar.ts";
import { type BarServer, startBarServer } from "../../busybar/simulate/server.ts";
import { AlertLog, type LogRow } from "../../extensions/busybar-alert/log.ts";
import type { Settings } from "../../extensions/busybar-alert/settings.ts";
import { type PiEvent, readEvents } from "../demo/probe.ts";
import { type PiOptions, type RpcPi, runPi, startRpcPi } from "../support/pi.ts";
import { type AtEnd, EXTENSION, PiDesk } from "../support/pi-desk.ts";
import { say } from "../support/steps.ts";
import { waitUntil } from "../support/wait.ts";
import { BarWatch } from "./bar-watch.ts";
import type { ProbedEnd } from "./end-probe-extension.ts";
import { endProcess, processesOf } from "./processes-of-home.ts";
import { Wire } from "./wire.ts";

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const PROBE_BEFORE = file("../demo/probe-before.ts");
const PROBE_AFTER = file("../demo/probe-after.ts");
const END_PROBE = file("./end-probe-extension.ts");
/** One verdict for each prompt, and a bar that is dark again soon. */
const SETTINGS = { alertOn: "agent_settled", holdSeconds: 1 } as const;
const LIMIT_MS = 40_000;
/** Of several pis that start at once, beside everything else. */
const START_LIMIT_MS = 90_000;
/** What pi leaves to a process of its own is a draw of 8 s and three clears of 5 s at a bar that hangs, with pauses. */
const CHILDREN_LIMIT_MS = 40_000;
const QUIT_LIMIT_MS = 20_000;
const LAST_ROW_MS = 500;

/** The reason in rows of the log that were there before. */
export const BEFORE = "before";

/** How a pi ended. */
export interface End {
	readonly exit: string;
	/** From the request to end to the end, without the time in which no processor was free; undefined for a killed pi. */
	readonly tookMs: number | undefined;
	readonly stderr: string;
}

export interface SceneOptions {
	readonly settings?: Partial<Settings>;
	readonly bar?: Partial<BarOptions>;
	/** A folder of animations that this user's pis have made before; undefined for a new machine. */
	readonly animations: string | undefined;
	readonly atEnd: AtEnd;
}

export class Scene {
	readonly atEnd: AtEnd;
	readonly desk: PiDesk;
	readonly bar: BarServer;
	readonly wire: Wire;
	readonly watch: BarWatch;
	readonly ends: End[] = [];
	/** When the question on the bar was answered. */
	answeredMs = Number.POSITIVE_INFINITY;
	/** The extension's cache folder as it is seen from here. */
	cache: string;
	readonly #holdMs: number;
	/** When the last pi was asked to end. */
	#endedMs = Number.POSITIVE_INFINITY;
	readonly #running = new Set<RpcPi>();
	readonly #all: RpcPi[] = [];
	readonly #eventFiles: string[] = [];

	static async open(options: SceneOptions): Promise<Scene> {
		const bar = await startBarServer(0, { api: "27.5", access: "usb", token: undefined, faults: {}, ...options.bar });
		const wire = new Wire(bar.port);
		await wire.open();
		return new Scene(options, bar, wire);
	}

	private constructor({ settings, animations, atEnd }: SceneOptions, bar: BarServer, wire: Wire) {
		const all = { ...SETTINGS, ...settings };
		this.atEnd = atEnd;
		this.bar = bar;
		this.wire = wire;
		this.watch = new BarWatch(bar);
		this.desk = new PiDesk(atEnd);
		this.cache = join(this.desk.home.cacheDir, "pi-busybar-alert");
		this.#holdMs = all.holdSeconds * 1_000;
		this.desk.saveSettings(all);
		mkdirSync(this.cache, { mode: 0o700 });
		// Of a user who has seen alerts before: the first outage on a new machine is told differently.
		writeFileSync(this.inCache("notices.json"), JSON.stringify({ welcomed: true, everShown: true, told: [] }));
		if (animations !== undefined) cpSync(animations, this.cache, { recursive: true });
		atEnd(async () => {
			for (const { pid } of await processesOf(this.desk.home.dir)) endProcess(pid);
			this.watch.stop();
			await wire.close();
			await bar.close();
		});
	}

	get #endsFile(): string {
		return join(this.desk.home.dir, "ends");
	}

	inCache(name: string): string {
		return join(this.cache, name);
	}

	/**
	 * pi over RPC, ready for a prompt, with the two halves of the stopwatch around the alerts' extension.
	 * @param measured what is between them
	 */
	async start(options: PiOptions = {}, measured: readonly string[] = [EXTENSION]): Promise<RpcPi> {
		const pi = startRpcPi(this.desk.home, this.#options(options, measured));
		this.#running.add(pi);
		this.#all.push(pi);
		pi.send({ id: "ready", type: "get_state" });
		await pi.waitFor(({ id }) => id === "ready", START_LIMIT_MS);
		return pi;
	}

	/** `pi -p`, to its end. */
	async print(options: PiOptions = {}): Promise<void> {
		const result = await runPi(this.desk.home, { ...this.#options(options), prompt: "please", deadlineMs: LIMIT_MS });
		const settled = this.events.findLast(({ type }) => type === "agent_settled");
		const [end] = this.#probedEnds();
		const tookMs = settled && end ? end.atMs - settled.atMs - end.queuedMs : undefined;
		this.ends.push({ exit: String(result.signal ?? result.code), tookMs, stderr: result.stderr });
	}

	/** Until pi has settled. */
	async prompt(pi: RpcPi): Promise<void> {
		await pi.prompt("please");
		await pi.waitFor("agent_settled", LIMIT_MS);
	}

	/** The process is stopped for a while, as by Ctrl-Z or a closed lid; what it has started goes on. */
	async stopFor(pi: RpcPi, ms: number): Promise<void> {
		pi.kill("SIGSTOP");
		await delay(ms);
		pi.kill("SIGCONT");
	}

	async kill(pi: RpcPi): Promise<void> {
		pi.kill("SIGKILL");
		const { signal } = await pi.exit;
		this.#running.delete(pi);
		this.ends.push({ exit: String(signal), tookMs: undefined, stderr: pi.stderr });
	}

	/** Has a pi, or all, quit in good order. */
	async quit(...pis: readonly RpcPi[]): Promise<void> {
		for (const pi of pis.length > 0 ? pis : [...this.#running]) {
			this.#running.delete(pi);
			const startedMs = Date.now();
			if (this.#running.size === 0) this.#endedMs = startedMs;
			const ended = await Promise.race([pi.close(), delay(QUIT_LIMIT_MS, undefined, { ref: false })]);
			const { atMs, queuedMs } = this.#probedEnds().find(({ pid }) => pid === pi.pid) ?? {
				atMs: Date.now(),
				queuedMs: 0,
			};
			const exit = ended ? String(ended.signal ?? ended.code) : "still running";
			this.ends.push({ exit, tookMs: atMs - startedMs - queuedMs, stderr: pi.stderr });
		}
	}

	/** Until the bar is dark and every process of this home is gone; not without end. Returns those that are left. */
	async aftermath(): Promise<string[]> {
		await this.untilDark().catch(() => undefined);
		const end = performance.now() + CHILDREN_LIMIT_MS;
		for (;;) {
			const left = await processesOf(this.desk.home.dir);
			if (left.length === 0 || performance.now() > end) return left.map(({ command }) => command);
			await delay(200);
		}
	}

	get events(): PiEvent[] {
		return this.#eventFiles.flatMap(readEvents);
	}

	/** What pi's user was told unasked. */
	get notices(): string[] {
		const records = this.#all.flatMap(({ events }) => events);
		return records.filter(({ notifyType }) => notifyType === "warning").map(({ message }) => String(message));
	}

	/** Without those that were there before. */
	async rows(): Promise<LogRow[]> {
		return (await new AlertLog(this.cache).read()).filter(({ reason }) => reason !== BEFORE);
	}

	/** As `story`, from what a pi shows its user of the log; it may need a moment for the last row. */
	async logInPi(): Promise<string[]> {
		const [pi] = this.#running;
		if (!pi) return [];
		await delay(LAST_ROW_MS);
		await pi.prompt("/busybar-alert-log 50");
		const { message } = await pi.waitFor(({ type, method }) => type === "extension_ui_request" && method === "notify");
		const lines = String(message).split("\n");
		return lines.map((line) => {
			const [, outcome, , rest = ""] = line.split(/ {2,}/);
			const [reason, detail = ""] = rest.split(", ");
			const isTold = outcome === "skipped" || outcome === "error";
			return [outcome, reason, ...(isTold ? [detail.split(":")[0]] : [])].join(" ");
		});
	}

	async story(): Promise<string[]> {
		return storyOf(await this.rows());
	}

	/** Until pi's user has read so many notices. */
	async told(count: number, limitMs = LIMIT_MS): Promise<void> {
		await waitUntil(`${count} notices`, limitMs, () => this.notices.length >= count);
	}

	/** Until the log has so many rows. */
	async logged(count: number, limitMs = LIMIT_MS): Promise<void> {
		let story: string[] = [];
		await waitUntil(
			`${count} rows in the log`,
			limitMs,
			async () => {
				story = await this.story();
				return story.length >= count;
			},
			() => story.join("\n"),
		);
	}

	async untilLit(): Promise<void> {
		await waitUntil("The bar lit", LIMIT_MS, () => this.watch.isLit);
	}

	async untilDark(): Promise<void> {
		await waitUntil("The bar dark", LIMIT_MS, () => !this.watch.isLit);
	}

	/** Until the bar has got this many requests such as `DELETE /api/display/draw`. */
	async requested(request: string, count = 1): Promise<void> {
		const isThere = () => this.watch.requests.filter((each) => each === request).length >= count;
		await waitUntil(`${count} × ${request}`, LIMIT_MS, isThere);
	}

	/** How long an alert stayed at most beyond the time that it was to stay, in seconds. */
	beyondHoldSeconds(): number {
		const beyond = this.watch.drawn.map(({ alert, atMs, untilMs }) => {
			const due = alert === "question" ? this.answeredMs : atMs + this.#holdMs;
			return untilMs - Math.min(due, this.#endedMs);
		});
		return Math.max(0, ...beyond) / 1_000;
	}

	#probedEnds(): ProbedEnd[] {
		if (!existsSync(this.#endsFile)) return [];
		const lines = readFileSync(this.#endsFile, "utf8").trim().split("\n");
		return lines.map((line) => JSON.parse(line) as ProbedEnd);
	}

	#options({ script, ...options }: PiOptions, measured: readonly string[] = [EXTENSION]): PiOptions {
		const events = join(this.desk.home.dir, `events-${this.#eventFiles.length}.jsonl`);
		this.#eventFiles.push(events);
		return this.desk.pi(this.wire.addr, {
			...options,
			script: script ?? Array(5).fill(say("It is done.")),
			extensions: [...(options.extensions ?? []), END_PROBE, PROBE_BEFORE, ...measured, PROBE_AFTER],
			env: { PI_DEMO_EVENTS: events, PI_FAULTS_ENDS: this.#endsFile, ...options.env },
		});
	}
}

/** `fired turn 0`, `skipped turn 1 in_flight`, `cleared turn 2 detached`. */
export function storyOf(rows: readonly LogRow[]): string[] {
	return rows.map((row) => {
		const detail = row.outcome === "skipped" ? row.gate : row.outcome === "error" ? row.kind : undefined;
		const detached = "detached" in row && row.detached ? "detached" : undefined;
		return [row.outcome, row.reason, detail, detached].filter((word) => word !== undefined).join(" ");
	});
}
