/**
 * The alert cycle: have the asset, draw, hold, clear, unlock; one at a time for the whole pi process.
 * Imports nothing from pi. Reaches the world only through its ports.
 */

import type { Assets } from "./assets.ts";
import { Backoff } from "./backoff.ts";
import { type Cli, CommandLine, type Failure, type FailureKind, failureOf, type Target } from "./busybar.ts";
import type { Clock } from "./clock.ts";
import type { ExecFn } from "./exec.ts";
import type { AlertLog, LogEvent } from "./log.ts";
import type { NoticeMemory } from "./notices.ts";
import type { Pattern } from "./settings.ts";
import type { WhichCli } from "./which-cli.ts";

export type Alert = "turn" | "done" | "error" | "question";

/** An alert that passed the gates, with all that showing it takes: a running cycle reads no setting. */
export interface AlertRequest {
	readonly alert: Alert;
	/** For the log and the status line, such as `turn 3`. */
	readonly reason: string;
	readonly session: string;
	/** A name, or the absolute path of the user's own frames or `.anim` file. */
	readonly pattern: string;
	/** Shown instead when the user's own picture cannot be. */
	readonly fallbackPattern: Pattern;
	readonly target: Target;
	readonly holdSeconds: number;
	/** The `command` setting. */
	readonly command: string;
	readonly clearOnShutdown: boolean;
}

/** What became of a request. */
export interface Ticket {
	readonly request: AlertRequest;
	readonly status: "waiting" | "shown" | "failed" | "superseded";
	readonly failure: Failure | undefined;
	/** Resolves when `status` is final. */
	readonly decided: Promise<void>;
}

export interface CycleStatus {
	/** The alert that is on its way or on the bar. */
	readonly alerting: AlertRequest | undefined;
	/** How the last alert failed; undefined after a success. */
	readonly problem: FailureKind | undefined;
}

export interface CycleListener {
	changed(status: CycleStatus): void;
	/** Something that a person should read, once. */
	notice(message: string): void;
}

export interface CyclePorts {
	readonly exec: ExecFn;
	readonly clock: Clock;
	readonly log: Pick<AlertLog, "append">;
	readonly notices: Pick<NoticeMemory, "shown" | "failed">;
	readonly whichCli: Pick<WhichCli, "choose" | "forget">;
	readonly assets: Pick<Assets, "ensure" | "discard">;
	readonly env: NodeJS.ProcessEnv;
}

/** The clear that is left to do when the process ends. */
export interface PartingClear {
	readonly cli: Cli;
	readonly target: Target;
	/** A draw that is under way may still appear after us. */
	readonly delayMs: number;
}

/** The bar ends an alert by itself this long after its hold, should nobody clear it. */
export const EXPIRY_MARGIN_SECONDS = 5;
/** A rejected draw stays parked at the bar for 1.5 s and can still appear: docs/bar.md. */
const PARKED_DRAW_MS = 2_000;
/** An alert that its user may have seen stays at least this long, or for its hold if that is less. */
const SEEN_AFTER_MS = 3_000;
const CLEAR_PAUSES_MS = [0, 1_000, 3_000] as const;
const OWED_CLEAR_EVERY_MS = 60_000;
const OWED_CLEAR_TRIES = 60;

/** What is, or may be, on the bar because of us. */
interface Lit {
	readonly request: AlertRequest;
	/** The fallback where the requested one could not be shown. */
	readonly pattern: string;
	readonly anim: string;
	readonly cli: Cli;
	readonly sinceMs: number;
	/** When the bar ends it by itself; Infinity with a CLI that cannot let it expire. */
	readonly expiresAtMs: number;
}

export class AlertCycle {
	readonly #ports: CyclePorts;
	readonly #backoff = new Backoff();
	readonly #listeners = new Set<CycleListener>();
	/** The user's own pictures that could not be shown: each is told once. */
	readonly #toldPatterns = new Set<string>();
	#next: OpenTicket | undefined;
	#current: OpenTicket | undefined;
	#lit: Lit | undefined;
	#drawing = false;
	#problem: FailureKind | undefined;
	#lastBeganMs = Number.NEGATIVE_INFINITY;
	#endWait: (() => void) | undefined;

	constructor(ports: CyclePorts) {
		this.#ports = ports;
	}

	/** An alert is on its way or on the bar. */
	get busy(): boolean {
		return this.#current !== undefined || this.#next !== undefined;
	}

	get backingOff(): boolean {
		return this.#backoff.active(this.#nowMs());
	}

	/** Infinity before the first alert. */
	get sinceLastAlertMs(): number {
		return this.#nowMs() - this.#lastBeganMs;
	}

	get status(): CycleStatus {
		return { alerting: (this.#current ?? this.#next)?.request, problem: this.#problem };
	}

	/** Returns the listener's removal. */
	listen(listener: CycleListener): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	/** A manual test or a changed setting: the next alert goes out whatever failed before. */
	forgetFailures(): void {
		this.#backoff.reset();
		this.#setProblem(undefined);
	}

	/** Shows the alert now, or next if one is on its way; of several that wait, only the newest. Never throws. */
	show(request: AlertRequest): Ticket {
		const ticket = new OpenTicket(request);
		this.#lastBeganMs = this.#nowMs();
		const running = this.busy;
		if (this.#next) this.#skip(this.#next, "superseded");
		this.#next = ticket;
		this.#endWait?.();
		if (running) this.#tell();
		else void this.#run();
		return ticket;
	}

	/** Its user is back at this pi: what is lit has been seen. A question stays until it is answered. */
	userIsBack(): void {
		const ticket = this.#current;
		if (ticket?.status !== "shown" || ticket.request.alert === "question") return;
		this.#release(ticket, Math.min(SEEN_AFTER_MS, ticket.request.holdSeconds * 1_000));
	}

	/** The question was answered: its alert ends now, or is not drawn at all. */
	withdraw(ticket: Ticket): void {
		if (ticket === this.#current) this.#release(this.#current, 0);
		else if (ticket === this.#next) {
			this.#skip(this.#next, "answered");
			this.#next = undefined;
			this.#tell();
		}
	}

	/**
	 * Gives up what is on the bar to whoever clears it while the process ends: afterwards this cycle leaves it alone.
	 * Undefined when nothing of ours can be lit, or when its user wants it to outlast pi.
	 * @param when `after_hold` lets the alert have its time first
	 */
	part(when: "now" | "after_hold" = "now"): PartingClear | undefined {
		if (this.#next) this.#skip(this.#next, "superseded");
		this.#next = undefined;
		const lit = this.#lit;
		if (!lit || lit.expiresAtMs <= this.#nowMs()) return undefined;
		if (!lit.request.clearOnShutdown && Number.isFinite(lit.expiresAtMs)) return undefined;
		this.#lit = undefined;
		this.#endWait?.();
		const holdLeftMs = lit.sinceMs + lit.request.holdSeconds * 1_000 - this.#nowMs();
		return {
			cli: lit.cli,
			target: lit.request.target,
			delayMs: Math.max(0, this.#drawing ? PARKED_DRAW_MS : 0, when === "after_hold" ? Math.round(holdLeftMs) : 0),
		};
	}

	/** Never rejects. */
	async #run(): Promise<void> {
		while (this.#next) {
			const ticket = this.#next;
			this.#next = undefined;
			this.#current = ticket;
			this.#tell();
			try {
				await this.#present(ticket);
			} catch (error) {
				// Only a bug gets here; it must cost this alert and not pi.
				this.#fail(ticket, { kind: "unknown", message: `The alert cycle failed: ${String(error)}` });
			}
			this.#current = undefined;
		}
		this.#tell();
	}

	async #present(ticket: OpenTicket): Promise<void> {
		await this.#draw(ticket);
		if (ticket.status === "shown") await this.#hold(ticket);
		else if (ticket.failure?.late) await this.#wait(PARKED_DRAW_MS);
		// What waits now is drawn over what is lit: a clear in between would only make the bar flicker.
		if (this.#next || !this.#lit) return;
		await this.#clear(ticket.request.reason);
	}

	/** Gets the picture on the bar and decides the ticket. */
	async #draw(ticket: OpenTicket): Promise<void> {
		const { request } = ticket;
		const choice = await this.#ports.whichCli.choose(request.command);
		if (this.#overtaken(ticket)) return;
		if (!choice.ok) return this.#fail(ticket, choice.failure);
		const { cli } = choice;

		if (this.#lit && stillShows(this.#lit, request, cli)) {
			this.#log(request, { outcome: "fired", pattern: request.pattern, anim: this.#lit.anim, extended: true });
			return this.#shown(ticket);
		}

		const commands = new CommandLine(cli, this.#ports.env);
		let { pattern } = request;
		for (let isRebuilt = false; ; ) {
			const asset = await this.#ports.assets.ensure(pattern, request.target.display, commands);
			if (this.#overtaken(ticket)) return;
			// Another bar, name or display: nothing that is drawn now could replace what is lit there.
			if (asset.ok && this.#lit && !samePlace(this.#lit.request.target, request.target)) {
				const uncleared = await this.#tryClear(request.reason);
				if (uncleared) this.#report(request, notCleared(uncleared));
				if (this.#overtaken(ticket)) return;
			}
			const failure = asset.ok ? await this.#show(request, cli, commands, pattern, asset.anim) : asset.failure;
			if (failure === undefined) return this.#shown(ticket);
			if (failure.kind === "bad_asset" && asset.ok && !isRebuilt) {
				await this.#ports.assets.discard(asset.anim);
				isRebuilt = true;
			} else if (failure.kind === "bad_asset" && pattern !== request.fallbackPattern) {
				this.#reportPattern(request, pattern, failure);
				pattern = request.fallbackPattern;
				isRebuilt = false;
			} else {
				if (failure.kind === "not_found") this.#ports.whichCli.forget(request.command);
				return this.#fail(ticket, failure);
			}
		}
	}

	/** Until its time is over, its user has seen it, or something else is to be drawn or has taken it over. */
	async #hold(ticket: OpenTicket): Promise<void> {
		const sinceMs = this.#nowMs();
		while (!this.#next && this.#lit) {
			const holdMs = Math.min(ticket.request.holdSeconds * 1_000, ticket.holdLimitMs);
			const leftMs = sinceMs + holdMs - this.#nowMs();
			if (leftMs <= 0) return;
			await this.#wait(leftMs);
		}
	}

	async #show(
		request: AlertRequest,
		cli: Cli,
		commands: CommandLine,
		pattern: string,
		anim: string,
	): Promise<Failure | undefined> {
		const lifetimeSeconds = Math.ceil(request.holdSeconds) + EXPIRY_MARGIN_SECONDS;
		const before = this.#lit;
		const startedMs = this.#nowMs();
		const command = commands.show(anim, request.target, lifetimeSeconds);
		const litAt = (sinceMs: number, lifetimeMs: number): Lit => ({
			request,
			pattern,
			anim,
			cli,
			sinceMs,
			expiresAtMs: cli.abilities.expiresAfter ? sinceMs + lifetimeMs : Number.POSITIVE_INFINITY,
		});
		// From here on the picture may be on the bar, whatever becomes of us or of the answer.
		const provisional = litAt(startedMs, lifetimeSeconds * 1_000 + command.deadlineMs + PARKED_DRAW_MS);
		this.#lit = provisional;
		this.#drawing = true;
		const result = await this.#ports.exec(command.file, command.args, command);
		this.#drawing = false;
		const failure = failureOf("show", command, result, request.target);
		const nowMs = this.#nowMs();
		// Otherwise the process is ending and the parting clear owns what is on the bar.
		if (this.#lit === provisional) {
			if (failure === undefined) this.#lit = litAt(nowMs, lifetimeSeconds * 1_000);
			else if (!failure.late) this.#lit = before;
		}
		if (failure === undefined) {
			this.#log(request, { outcome: "fired", pattern, anim, ms: Math.round(nowMs - startedMs) });
		}
		return failure;
	}

	/** Takes our picture off the bar; returns early, with it still lit, when the next alert is to be drawn over it. */
	async #clear(reason: string): Promise<void> {
		let failure: Failure | undefined;
		for (const pauseMs of CLEAR_PAUSES_MS) {
			if (pauseMs > 0) {
				await this.#wait(pauseMs);
				if (this.#next) return;
			}
			if (!this.#lit) return;
			failure = await this.#tryClear(reason);
			if (!failure) return;
		}
		if (failure && this.#lit) {
			const { request } = this.#lit;
			this.#report(
				{ ...request, reason },
				{ ...failure, message: `The alert could not be cleared. ${failure.message}` },
			);
			this.#oweClear(OWED_CLEAR_TRIES);
		}
	}

	async #tryClear(reason: string): Promise<Failure | undefined> {
		const lit = this.#lit;
		if (!lit) return undefined;
		const command = new CommandLine(lit.cli, this.#ports.env).clear(lit.request.target);
		const result = await this.#ports.exec(command.file, command.args, command);
		const failure = failureOf("clear", command, result, lit.request.target);
		// HTTP 400: nothing of ours is lit.
		if (failure && failure.httpStatus !== 400) return failure;
		if (this.#lit === lit) this.#lit = undefined;
		this.#log({ ...lit.request, reason }, { outcome: "cleared", heldMs: Math.round(this.#nowMs() - lit.sinceMs) });
		return undefined;
	}

	/** Tries again until the bar has ended the alert by itself, the next alert took it over, or an hour has passed. */
	#oweClear(triesLeft: number): void {
		this.#ports.clock.after(OWED_CLEAR_EVERY_MS, () => {
			const lit = this.#lit;
			if (this.busy || !lit || triesLeft === 0) return;
			if (lit.expiresAtMs <= this.#nowMs()) {
				this.#lit = undefined;
				return;
			}
			// #tryClear only awaits the exec port, which never rejects.
			void this.#tryClear(lit.request.reason).then((failure) => failure && this.#oweClear(triesLeft - 1));
		});
	}

	/** Ends after `ms`, or as soon as another alert waits or the process parts from what is lit. */
	#wait(ms: number): Promise<void> {
		if (this.#next) return Promise.resolve();
		return new Promise((resolve) => {
			const end = () => {
				cancel();
				this.#endWait = undefined;
				resolve();
			};
			const cancel = this.#ports.clock.after(ms, end);
			this.#endWait = end;
		});
	}

	#release(ticket: OpenTicket, afterMs: number): void {
		ticket.holdLimitMs = Math.min(ticket.holdLimitMs, afterMs);
		this.#endWait?.();
	}

	/** Nothing is drawn any more that a newer alert replaces, or whose question is answered. */
	#overtaken(ticket: OpenTicket): boolean {
		const why = this.#next ? "superseded" : ticket.holdLimitMs === 0 ? "answered" : undefined;
		if (why) this.#skip(ticket, why);
		return why !== undefined;
	}

	#skip(ticket: OpenTicket, why: "superseded" | "answered"): void {
		this.#log(ticket.request, { outcome: "skipped", gate: why });
		ticket.decide("superseded");
	}

	#shown(ticket: OpenTicket): void {
		this.#backoff.reset();
		this.#setProblem(undefined);
		void this.#ports.notices.shown();
		ticket.decide("shown");
	}

	#fail(ticket: OpenTicket, failure: Failure): void {
		this.#report(ticket.request, failure);
		ticket.decide("failed", failure);
	}

	#report(request: AlertRequest, failure: Failure): void {
		this.#log(request, { outcome: "error", kind: failure.kind, error: failure.message });
		this.#backoff.failed(failure.kind, this.#nowMs());
		this.#setProblem(failure.kind);
		void this.#ports.notices.failed(failure.kind).then((isNews) => {
			if (isNews) for (const listener of this.#listeners) listener.notice(failure.message);
		});
	}

	/** The user's own picture cannot be shown: told once, for the next success does not mend it. */
	#reportPattern(request: AlertRequest, pattern: string, failure: Failure): void {
		this.#log(request, { outcome: "error", kind: failure.kind, error: failure.message });
		if (this.#toldPatterns.has(pattern)) return;
		this.#toldPatterns.add(pattern);
		const message = `${failure.message} Until then, ${request.alert} alerts show \`${request.fallbackPattern}\`.`;
		for (const listener of this.#listeners) listener.notice(message);
	}

	#setProblem(problem: FailureKind | undefined): void {
		if (this.#problem === problem) return;
		this.#problem = problem;
		this.#tell();
	}

	#tell(): void {
		for (const listener of this.#listeners) listener.changed(this.status);
	}

	#log({ alert, reason, session }: AlertRequest, event: LogEvent): void {
		this.#ports.log.append({
			ts: new Date(this.#ports.clock.now()).toISOString(),
			reason,
			alert,
			...event,
			pid: process.pid,
			session,
		});
	}

	#nowMs(): number {
		return this.#ports.clock.monotonicMs();
	}
}

class OpenTicket implements Ticket {
	readonly request: AlertRequest;
	readonly decided: Promise<void>;
	status: Ticket["status"] = "waiting";
	failure: Failure | undefined;
	/** Shortens the hold once its user is back; 0 ends it. */
	holdLimitMs = Number.POSITIVE_INFINITY;
	#settle: () => void = () => undefined;

	constructor(request: AlertRequest) {
		this.request = request;
		this.decided = new Promise((resolve) => {
			this.#settle = resolve;
		});
	}

	/** The first decision stands. */
	decide(status: Exclude<Ticket["status"], "waiting">, failure?: Failure): void {
		if (this.status !== "waiting") return;
		this.status = status;
		this.failure = failure;
		this.#settle();
	}
}

/** A draw at this place replaces what is lit there: same bar, same owner, same display. */
function samePlace(one: Target, other: Target): boolean {
	return one.addr === other.addr && one.applicationName === other.applicationName && one.display === other.display;
}

/**
 * A CLI that cannot let a drawing expire uploads on every call, and the bar cannot write the file that it plays:
 * with such a CLI the same picture just stays longer.
 */
function stillShows(lit: Lit, request: AlertRequest, cli: Cli): boolean {
	return (
		!cli.abilities.expiresAfter && lit.pattern === request.pattern && samePlace(lit.request.target, request.target)
	);
}

function notCleared(failure: Failure): Failure {
	return { ...failure, message: `The alert could not be cleared. ${failure.message}` };
}
