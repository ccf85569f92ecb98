/**
 * The alert cycle: have the asset, draw, hold, clear, unlock; one at a time for the whole pi process.
 * Imports nothing from pi. Reaches the world only through its ports.
 */

import { type Cli, CommandLine } from "./busybar.ts";
import type { Failure, FailureKind } from "./cli/failures.ts";
import type { WhichCli } from "./cli/which-cli.ts";
import type { Assets } from "./cycle/assets.ts";
import { Backoff } from "./cycle/backoff.ts";
import {
	Drawing,
	type DrawingPorts,
	PARKED_DRAW_MS,
	type PartingClear,
	samePlace,
	stillShows,
} from "./cycle/drawing.ts";
import { type AlertRequest, OpenTicket, type Ticket } from "./cycle/request.ts";
import { type AlertLog, type LogEvent, rowOf } from "./log.ts";
import type { NoticeMemory } from "./tell/notices.ts";

export interface CycleStatus {
	/** The alert that is on its way or on the bar. */
	readonly alerting: AlertRequest | undefined;
	/** How the last alert failed; undefined after a success. */
	readonly problem: FailureKind | undefined;
}

export interface CycleListener {
	changed(): void;
	/** Something that a person should read, once. */
	notice(message: string): void;
}

export interface CyclePorts extends DrawingPorts {
	readonly log: Pick<AlertLog, "append">;
	readonly notices: Pick<NoticeMemory, "shown" | "failed">;
	readonly whichCli: Pick<WhichCli, "choose" | "forget">;
	readonly assets: Pick<Assets, "ensure" | "discard">;
}

/** An alert that its user may have seen stays at least this long, or for its hold if that is less. */
const SEEN_AFTER_MS = 3_000;
const CLEAR_PAUSES_MS = [0, 1_000, 3_000] as const;
const OWED_CLEAR_EVERY_MS = 60_000;
const OWED_CLEAR_TRIES = 60;

export class AlertCycle {
	readonly #ports: CyclePorts;
	readonly #drawing: Drawing;
	readonly #backoff = new Backoff();
	readonly #listeners = new Set<CycleListener>();
	/** The user's own pictures that could not be shown: each is told once. */
	readonly #toldPatterns = new Set<string>();
	#next: OpenTicket | undefined;
	#current: OpenTicket | undefined;
	#problem: FailureKind | undefined;
	#lastBeganMs = Number.NEGATIVE_INFINITY;
	#endWait: (() => void) | undefined;
	/** The current wait is a hold, which its user may end; the others leave the bar time. */
	#isHolding = false;
	#cancelOwedClear: () => void = () => undefined;

	constructor(ports: CyclePorts) {
		this.#ports = ports;
		this.#drawing = new Drawing(ports);
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
		this.#dropNext();
		this.#next = ticket;
		this.#endWait?.();
		if (running) this.#tell();
		else void this.#run();
		return ticket;
	}

	/** Its user is back at this pi: what is lit has been seen. A question stays until it is answered. */
	userIsBack(): void {
		const ticket = this.#current;
		if (!ticket || ticket.request.alert === "question") return;
		this.#release(ticket, Math.min(SEEN_AFTER_MS, ticket.request.holdSeconds * 1_000));
	}

	/** The question was answered: its alert ends now, or is not drawn at all. */
	withdraw(ticket: Ticket): void {
		if (ticket === this.#current) this.#release(this.#current, 0);
		else if (ticket === this.#next) {
			this.#skip(this.#next, "withdrawn");
			this.#next = undefined;
			this.#tell();
		}
	}

	/** Its user wants to hear no more: what waits is dropped, what is lit goes. */
	dismiss(): void {
		this.#dropNext();
		if (this.#current) this.#release(this.#current, 0);
	}

	/** The process ends: what waits is dropped, and what is lit is given up to whoever does the clear that comes back. */
	part(when: "now" | "after_hold" = "now"): PartingClear | undefined {
		this.#dropNext();
		const current = this.#current;
		if (current?.status === "waiting" && !this.#drawing.isUnderWay) {
			current.holdLimitMs = 0;
			this.#skip(current, "withdrawn");
		}
		const { lit } = this.#drawing;
		const parting = this.#drawing.part(when);
		if (!parting || !lit) return undefined;
		const heldMs = Math.round(this.#nowMs() - lit.sinceMs) + parting.delayMs;
		this.#log(lit.request, { outcome: "cleared", heldMs, detached: true });
		this.#endWait?.();
		return parting;
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
			ticket.end();
			this.#current = undefined;
		}
		this.#tell();
	}

	async #present(ticket: OpenTicket): Promise<void> {
		await this.#draw(ticket);
		if (ticket.status === "shown") await this.#hold(ticket);
		else if (ticket.failure?.late) await this.#wait(PARKED_DRAW_MS);
		// What waits now is drawn over what is lit: a clear in between would only make the bar flicker.
		if (this.#next || !this.#drawing.lit) return;
		await this.#clear();
	}

	/** Gets the picture on the bar and decides the ticket. */
	async #draw(ticket: OpenTicket): Promise<void> {
		const { request } = ticket;
		// Whoever tests by hand may just have installed or mended it.
		if (request.isManual) this.#ports.whichCli.forget(request.command);
		const choice = await this.#ports.whichCli.choose(request.command);
		if (this.#overtaken(ticket)) return;
		if (!choice.ok) return this.#fail(ticket, choice.failure);
		const { cli } = choice;

		const { lit } = this.#drawing;
		if (lit && stillShows(lit, request, cli)) {
			this.#drawing.keepFor(request);
			this.#log(request, { outcome: "fired", pattern: lit.pattern, anim: lit.anim, extended: true });
			return this.#shown(ticket);
		}

		for (const pattern of new Set([request.pattern, request.fallbackPattern])) {
			const failure = await this.#drawPattern(ticket, pattern, cli);
			if (!failure) return;
			if (failure.kind === "bad_asset" && pattern !== request.fallbackPattern) {
				this.#reportPattern(request, pattern, failure);
				continue;
			}
			if (failure.kind === "not_found") this.#ports.whichCli.forget(request.command);
			return this.#fail(ticket, failure);
		}
	}

	/** Resolves to why it could not be drawn; to nothing when it was, or when something newer is to be drawn. */
	async #drawPattern(ticket: OpenTicket, pattern: string, cli: Cli): Promise<Failure | undefined> {
		const { request } = ticket;
		const { assets, env } = this.#ports;
		for (let isRebuilt = false; ; isRebuilt = true) {
			const asset = await assets.ensure(pattern, request.target.display, new CommandLine(cli, env));
			if (this.#overtaken(ticket)) return undefined;
			if (!asset.ok) return asset.failure;
			// Another bar, name or display: nothing that is drawn now could replace what is lit there.
			if (this.#drawing.lit && !samePlace(this.#drawing.lit.request.target, request.target)) {
				const uncleared = await this.#tryClear();
				if (uncleared) this.#reportUncleared(request, uncleared);
				if (this.#overtaken(ticket)) return undefined;
			}
			const drawn = await this.#drawing.draw({ request, cli, pattern, anim: asset.anim });
			if (!drawn) {
				ticket.decide("superseded");
				return undefined;
			}
			const { failure, tookMs } = drawn;
			if (!failure) {
				this.#log(request, { outcome: "fired", pattern, anim: asset.anim, ms: tookMs });
				this.#shown(ticket);
				return undefined;
			}
			if (failure.kind !== "bad_asset" || isRebuilt) return failure;
			await assets.discard(asset.anim);
		}
	}

	/** Until its time is over, its user has seen it, or something else is to be drawn or has taken it over. */
	async #hold(ticket: OpenTicket): Promise<void> {
		const sinceMs = this.#nowMs();
		while (!this.#next && this.#drawing.lit) {
			const holdMs = Math.min(ticket.request.holdSeconds * 1_000, ticket.holdLimitMs);
			const leftMs = sinceMs + holdMs - this.#nowMs();
			if (leftMs <= 0) return;
			this.#isHolding = true;
			await this.#wait(leftMs);
			this.#isHolding = false;
		}
	}

	/** Takes our picture off the bar; returns early, with it still lit, when the next alert is to be drawn over it. */
	async #clear(): Promise<void> {
		let failure: Failure | undefined;
		for (const pauseMs of CLEAR_PAUSES_MS) {
			if (pauseMs > 0) {
				await this.#wait(pauseMs);
				if (this.#next) return;
			}
			failure = await this.#tryClear();
			if (!failure) return;
		}
		const { lit } = this.#drawing;
		if (!failure || !lit) return;
		this.#reportUncleared(lit.request, failure);
		this.#oweClear(OWED_CLEAR_TRIES);
	}

	async #tryClear(): Promise<Failure | undefined> {
		const { lit } = this.#drawing;
		if (!lit) return undefined;
		const cleared = await this.#drawing.clear();
		if (cleared && !cleared.failure) this.#log(lit.request, { outcome: "cleared", heldMs: cleared.heldMs });
		return cleared?.failure;
	}

	/** Tries again until the bar has ended the alert by itself, the next alert took it over, or an hour has passed. */
	#oweClear(triesLeft: number): void {
		this.#cancelOwedClear();
		this.#cancelOwedClear = this.#ports.clock.after(OWED_CLEAR_EVERY_MS, () => {
			if (this.busy || !this.#drawing.lit || triesLeft === 0) return;
			// Nobody awaits this, and nothing in it rejects.
			void this.#tryClear().then((failure) => {
				if (failure) this.#oweClear(triesLeft - 1);
				// The bar has answered: the outage is over.
				else this.forgetFailures();
			});
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
		if (this.#isHolding) this.#endWait?.();
	}

	#dropNext(): void {
		if (this.#next) this.#skip(this.#next, "superseded");
		this.#next = undefined;
	}

	/** Nothing is drawn any more that a newer alert replaces, or that is no longer wanted. */
	#overtaken(ticket: OpenTicket): boolean {
		const why = this.#next ? "superseded" : ticket.holdLimitMs === 0 ? "withdrawn" : undefined;
		if (why) this.#skip(ticket, why);
		return why !== undefined;
	}

	#skip(ticket: OpenTicket, why: "superseded" | "withdrawn"): void {
		if (ticket.status !== "waiting") return;
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
		const { request } = ticket;
		this.#backoff.failed(failure.kind, this.#nowMs());
		this.#logFailure(request, failure);
		this.#setProblem(failure.kind);
		if (!request.isManual) this.#tellOnce(failure);
		ticket.decide("failed", failure);
	}

	/** Backs off no further: the draw before it has told how the bar is. */
	#reportUncleared(request: AlertRequest, failure: Failure): void {
		const uncleared = { ...failure, message: `The alert could not be cleared. ${failure.message}` };
		this.#logFailure(request, uncleared);
		this.#setProblem(failure.kind);
		this.#tellOnce(uncleared);
	}

	/** Once per kind and outage. */
	#tellOnce({ kind, message }: Failure): void {
		// A notice that nobody hears must not count as told.
		if (this.#listeners.size === 0) return;
		void this.#ports.notices.failed(kind).then((isNews) => {
			if (isNews) for (const listener of this.#listeners) listener.notice(message);
		});
	}

	/** The user's own picture cannot be shown: told once, for the next success does not mend it. */
	#reportPattern(request: AlertRequest, pattern: string, failure: Failure): void {
		this.#logFailure(request, failure);
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
		for (const listener of this.#listeners) listener.changed();
	}

	#logFailure(request: AlertRequest, { kind, message }: Failure): void {
		this.#log(request, { outcome: "error", kind, error: message });
	}

	#log(request: AlertRequest, event: LogEvent): void {
		this.#ports.log.append(rowOf(request, event, this.#ports.clock.now()));
	}

	#nowMs(): number {
		return this.#ports.clock.monotonicMs();
	}
}
