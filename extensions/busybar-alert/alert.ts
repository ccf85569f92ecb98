/**
 * The alert cycle: have the asset, draw, hold, clear, unlock; one at a time for the whole pi process.
 * Imports nothing from pi. Reaches the world only through its ports.
 */

import { type Cli, CommandLine } from "./busybar.ts";
import type { Failure } from "./cli/failures.ts";
import type { WhichCli } from "./cli/which-cli.ts";
import type { Assets } from "./cycle/assets.ts";
import { Drawing, type DrawingPorts, PARKED_DRAW_MS, type PartingClear, samePlace } from "./cycle/drawing.ts";
import { type AlertRequest, OpenTicket, type Ticket } from "./cycle/request.ts";
import type { Outcomes } from "./tell/outcomes.ts";

export interface CyclePorts extends DrawingPorts {
	readonly outcomes: Outcomes;
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
	#next: OpenTicket | undefined;
	#current: OpenTicket | undefined;
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

	/** Infinity before the first alert. */
	get sinceLastAlertMs(): number {
		return this.#nowMs() - this.#lastBeganMs;
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

	/** Its user wants no more alerts: what waits is dropped, what is lit goes. */
	dismiss(): void {
		this.#dropNext();
		if (this.#current) this.#release(this.#current, 0);
	}

	/** The process ends: what waits is dropped, and what is lit is given up to whoever does the clear that comes back. */
	part(when: "now" | "after_hold" = "now"): PartingClear | undefined {
		this.#dropNext();
		const current = this.#current;
		if (current?.status === "waiting" && !this.#drawing.isDrawing) {
			current.holdLimitMs = 0;
			this.#skip(current, "withdrawn");
		}
		const { lit } = this.#drawing;
		const parting = this.#drawing.part(when);
		if (!parting || !lit) return undefined;
		const heldMs = Math.round(this.#nowMs() - lit.sinceMs) + parting.delayMs;
		this.#ports.outcomes.leftToClear(lit.request, heldMs);
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
			this.#current = undefined;
		}
		this.#tell();
	}

	async #present(ticket: OpenTicket): Promise<void> {
		await this.#draw(ticket);
		if (ticket.status === "shown") await this.#hold(ticket);
		else if (ticket.failure?.late) await this.#wait(PARKED_DRAW_MS);
		// What waits now is drawn over what is lit: a clear in between would only make the bar flicker.
		if (!this.#next) await this.#clear();
	}

	/** Gets the picture on the bar and decides the ticket. */
	async #draw(ticket: OpenTicket): Promise<void> {
		const { request } = ticket;
		const { whichCli, outcomes } = this.#ports;
		// Whoever tests by hand may just have installed or mended it.
		if (request.isManual) whichCli.forget(request.command);
		const choice = await whichCli.choose(request.command);
		if (this.#overtaken(ticket)) return;
		if (!choice.ok) return this.#fail(ticket, choice.failure);

		const kept = await this.#drawing.keepFor(request, choice.cli);
		if (kept) {
			outcomes.fired(request, { pattern: kept.pattern, anim: kept.anim, extended: true });
			return ticket.decide("shown");
		}

		for (const pattern of new Set([request.pattern, request.fallbackPattern])) {
			const failure = await this.#drawPattern(ticket, pattern, choice.cli);
			if (!failure) return;
			if (failure.kind === "bad_asset" && pattern !== request.fallbackPattern) {
				outcomes.patternFailed(request, pattern, failure);
				continue;
			}
			if (failure.kind === "not_found") whichCli.forget(request.command);
			return this.#fail(ticket, failure);
		}
	}

	/** Resolves to why it could not be drawn; to nothing when it was, or when something newer is to be drawn. */
	async #drawPattern(ticket: OpenTicket, pattern: string, cli: Cli): Promise<Failure | undefined> {
		const { request } = ticket;
		const { assets, env, outcomes } = this.#ports;
		for (let isRebuilt = false; ; isRebuilt = true) {
			const asset = await assets.ensure(pattern, request.target.display, new CommandLine(cli, env));
			if (this.#overtaken(ticket)) return undefined;
			if (!asset.ok) return asset.failure;
			// Another bar, name or display: nothing that is drawn now could replace what is lit there.
			const { lit } = this.#drawing;
			if (lit && !samePlace(lit.request.target, request.target)) {
				const uncleared = await this.#tryClear();
				if (uncleared) outcomes.clearFailed(request, uncleared);
				if (this.#overtaken(ticket)) return undefined;
			}
			const drawn = await this.#drawing.draw({ request, cli, pattern, anim: asset.anim });
			if (!drawn) {
				ticket.decide("superseded");
				return undefined;
			}
			if (!drawn.failure) {
				outcomes.fired(request, { pattern, anim: asset.anim, ms: drawn.tookMs });
				ticket.decide("shown");
				return undefined;
			}
			if (drawn.failure.kind !== "bad_asset" || isRebuilt) return drawn.failure;
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
			if (pauseMs > 0) await this.#wait(pauseMs);
			if (this.#next) return;
			failure = await this.#tryClear();
			if (!failure) return;
		}
		const { lit } = this.#drawing;
		if (!failure || !lit) return;
		this.#ports.outcomes.clearFailed(lit.request, failure);
		this.#oweClear(OWED_CLEAR_TRIES);
	}

	/** Resolves to why what is lit could not be cleared. */
	async #tryClear(): Promise<Failure | undefined> {
		const done = await this.#drawing.clear();
		if (done && !done.failure) this.#ports.outcomes.cleared(done.cleared.request, done.heldMs);
		return done?.failure;
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
				else this.#ports.outcomes.forgetFailures();
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
		this.#ports.outcomes.skipped(ticket.request, why);
		ticket.decide("superseded");
	}

	#fail(ticket: OpenTicket, failure: Failure): void {
		this.#ports.outcomes.failed(ticket.request, failure);
		ticket.decide("failed", failure);
	}

	#tell(): void {
		this.#ports.outcomes.nowAlerting((this.#current ?? this.#next)?.request);
	}

	#nowMs(): number {
		return this.#ports.clock.monotonicMs();
	}
}
