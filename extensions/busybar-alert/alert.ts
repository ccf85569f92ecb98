/**
 * The alert cycle: get the asset, draw, hold, clear, unlock. One at a time in a pi process.
 * Imports nothing from pi. Has side effects only through its ports.
 */

import { type Cli, CommandLine, type Target } from "./busybar.ts";
import type { Failure } from "./cli/failures.ts";
import type { WhichCli } from "./cli/which-cli.ts";
import type { Assets } from "./cycle/assets.ts";
import { isBackingOff, outranksTurn } from "./cycle/bar-record.ts";
import type { BarName } from "./cycle/bar-store.ts";
import {
	Drawing,
	type DrawingPorts,
	PARKED_DRAW_MS,
	type Parting,
	type Picture,
	RENEW_EVERY_MS,
	sameBar,
} from "./cycle/drawing.ts";
import { type AlertRequest, OpenTicket, type Ticket } from "./cycle/request.ts";
import type { Outcomes } from "./tell/outcomes.ts";

export interface CyclePorts extends DrawingPorts {
	readonly outcomes: Outcomes;
	readonly whichCli: Pick<WhichCli, "choose" | "forget">;
	readonly assets: Pick<Assets, "ensure" | "discard">;
}

/** An alert stays at least this long although its user is back, or for its hold if that is shorter. */
const SEEN_AFTER_MS = 3_000;
const NOT_READY = "The run was over before its alert was ready. This alert was skipped; the next run will show one.";
const NO_NODE_LEFT = 'No Node was found to draw after pi\'s end. Install Node, or set `command` to "bundled".';
const CLEAR_PAUSES_MS = [0, 1_000, 3_000] as const;
const OWED_CLEAR_EVERY_MS = 60_000;
const OWED_CLEAR_TRIES = 60;

export class AlertCycle {
	readonly #ports: CyclePorts;
	readonly #drawing: Drawing;
	#next: OpenTicket | undefined;
	#current: OpenTicket | undefined;
	/** Never rejects. */
	#running: Promise<void> = Promise.resolve();
	#lastBeganMs = Number.NEGATIVE_INFINITY;
	#endWait: (() => void) | undefined;
	/** Whether its user can end the current wait. Other waits give the bar time. */
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

	/** What the gates need to know about the bar that all pis share. Never rejects. */
	async look(bar: BarName): Promise<{ readonly backingOff: boolean; readonly outranked: boolean }> {
		const { bars, processes, clock } = this.#ports;
		const [record, self] = await Promise.all([bars.read(bar), processes.self()]);
		const nowMs = clock.sinceBootMs();
		const above = outranksTurn(record, self, nowMs);
		const outranked = above !== undefined && (await processes.isAlive(above.owner));
		return { backingOff: isBackingOff(record, nowMs), outranked };
	}

	/** For a changed setting or a manual test: the next alert is tried although the bar did not answer before. Never rejects. */
	async forgetOutage(bar: BarName): Promise<void> {
		const { bars } = this.#ports;
		if ((await bars.read(bar)).outage === undefined) return;
		await bars.change(bar, async (record) => ({ record: { ...record, outage: undefined }, value: undefined }));
	}

	/** Clears what pis that have died left on any known bar. Never rejects. */
	async clearLeftOvers(cli: Cli, target: Target): Promise<void> {
		for (const { addr, applicationName } of await this.#ports.bars.known()) {
			// The access key of one bar must not go to another.
			const token = addr === target.addr ? target.token : "";
			await this.#clearLeftOver(cli, { ...target, addr, applicationName, token });
		}
	}

	/** Never rejects. */
	async #clearLeftOver(cli: Cli, target: Target): Promise<void> {
		const left = await this.#drawing.clearLeftOver(cli, target);
		if (left?.outcome === "cleared") this.#ports.outcomes.clearedLeftOver(left.shown);
		// By then there may be nobody else to do it.
		if (left?.outcome === "wait") this.#ports.clock.after(left.ms, () => void this.#clearLeftOver(cli, target));
	}

	/** Shows the alert now, or after the one that is being drawn. If several wait, only the newest is shown. Never throws. */
	show(request: AlertRequest): Ticket {
		const ticket = new OpenTicket(request);
		this.#lastBeganMs = this.#nowMs();
		const running = this.busy;
		this.#dropNext();
		this.#next = ticket;
		this.#endWait?.();
		if (running) this.#tell();
		else this.#running = this.#run();
		return ticket;
	}

	/** The user is back at this pi and has seen what is lit. A question stays until it is answered. */
	userIsBack(): void {
		const ticket = this.#current;
		if (!ticket || ticket.request.alert === "question") return;
		this.#release(ticket, Math.min(SEEN_AFTER_MS, ticket.request.holdSeconds * 1_000));
	}

	/** The question has been answered: its alert ends now, or is not drawn at all. */
	withdraw(ticket: Ticket): void {
		if (ticket === this.#current) this.#release(this.#current, 0);
		else if (ticket === this.#next) {
			this.#skip(this.#next, "withdrawn");
			this.#next = undefined;
			this.#tell();
		}
	}

	/** The user wants no more alerts: drops what waits and clears what is lit. */
	dismiss(): void {
		this.#dropNext();
		if (this.#current) this.#release(this.#current, 0);
	}

	/** pi is ending: draws nothing more. Resolves when nothing of ours is lit, however long that takes. Never rejects. */
	async end(): Promise<void> {
		this.#dropNext();
		const { lit } = this.#drawing;
		if (!lit || this.#drawing.outlasts(lit)) return;
		if (this.#current) this.#release(this.#current, 0);
		await this.#running;
	}

	/** Resolves when the newest alert is on the bar or never will be. Never rejects. */
	async decided(): Promise<void> {
		await (this.#next ?? this.#current)?.decided;
	}

	/**
	 * The process is ending: drops what waits, and leaves what is or may be lit to another process.
	 * @param when `after_hold` leaves the alert its time, and has it drawn again if a draw was cut off
	 * @param leave starts that process; returns false if it cannot
	 */
	part(when: "now" | "after_hold", leave: (parting: Parting) => boolean): void {
		const { outcomes } = this.#ports;
		this.#dropNext();
		const { lit } = this.#drawing;
		const current = this.#current;
		if (current?.status === "waiting" && lit?.request !== current.request) {
			current.holdLimitMs = 0;
			if (when === "now") this.#skip(current, "withdrawn");
			else this.#fail(current, { kind: "unknown", message: NOT_READY });
		} else if (current?.status === "waiting" && lit?.isConfirmed) {
			// Drawn a moment ago; only the record of the bar is still being written.
			outcomes.fired(lit.request, { pattern: lit.pattern, anim: lit.anim });
			current.decide("shown");
		}
		const parting = this.#drawing.part(when);
		this.#endWait?.();
		if (!parting || !lit) return;
		const isLeft = leave(parting);
		if (!isLeft && parting.redraw) outcomes.failed(lit.request, { kind: "no_node", message: NO_NODE_LEFT });
		if (!isLeft) return;
		if (parting.redraw) {
			outcomes.fired(lit.request, { pattern: lit.pattern, anim: lit.anim, detached: true });
		}
		const heldMs = Math.round(this.#ports.clock.sinceBootMs() - lit.sinceMs) + parting.delayMs;
		outcomes.leftToClear(lit.request, heldMs);
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
				// Only a bug gets here. It must cost this alert, not pi.
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
		// The next alert is drawn over what is lit. A clear in between would only make the bar flicker.
		if (!this.#next) await this.#clear();
	}

	/** Gets the picture on the bar and decides the ticket. */
	async #draw(ticket: OpenTicket): Promise<void> {
		const { request } = ticket;
		const { whichCli, outcomes } = this.#ports;
		// The user may just have installed or repaired it.
		if (request.isManual) whichCli.forget(request.command);
		const choice = await whichCli.choose(request.command);
		if (this.#overtaken(ticket)) return;
		if (!choice.ok) return this.#fail(ticket, choice.failure);

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

	/** Resolves to the failure, or to undefined if it was drawn or a newer alert replaces it. */
	async #drawPattern(ticket: OpenTicket, pattern: string, cli: Cli): Promise<Failure | undefined> {
		const { request } = ticket;
		const { assets, env, outcomes } = this.#ports;
		for (let isRebuilt = false; ; isRebuilt = true) {
			const asset = await assets.ensure(pattern, request.target.display, new CommandLine(cli, env));
			if (this.#overtaken(ticket)) return undefined;
			if (!asset.ok) return asset.failure;
			// Another bar or application name: this draw would not replace what is lit there.
			const { wanted } = this.#drawing;
			if (wanted && !sameBar(wanted.request.target, request.target)) {
				const uncleared = await this.#tryClear();
				if (uncleared) outcomes.clearFailed(request, uncleared);
				if (this.#overtaken(ticket)) return undefined;
			}
			const failure = await this.#drawPicture(ticket, { request, cli, pattern, anim: asset.anim });
			if (failure?.kind !== "bad_asset" || isRebuilt) return failure;
			await assets.discard(asset.anim);
		}
	}

	/** As `#drawPattern`, with the picture at hand. Waits until another pi's verdict has been lit long enough. */
	async #drawPicture(ticket: OpenTicket, picture: Picture): Promise<Failure | undefined> {
		const { request, pattern, anim } = picture;
		const { outcomes } = this.#ports;
		for (;;) {
			const drawn = await this.#drawing.draw(picture);
			// pi has ended meanwhile, and the alert has its row.
			if (ticket.status !== "waiting") return undefined;
			switch (drawn?.outcome) {
				case "wait":
					await this.#waitForUser(drawn.ms);
					if (this.#overtaken(ticket)) return undefined;
					continue;
				case "drawn":
					outcomes.fired(request, { pattern, anim, ms: drawn.tookMs });
					ticket.decide("shown");
					return undefined;
				case "extended":
				case "joined":
					outcomes.fired(request, { pattern, anim, [drawn.outcome]: true });
					ticket.decide("shown");
					return undefined;
				case "away":
					outcomes.skipped(request, "backoff");
					ticket.decide("failed", { kind: "unreachable", message: "Another pi found that the bar does not answer." });
					return undefined;
				case "failed":
					return drawn.failure;
				default:
					ticket.decide("superseded");
					return undefined;
			}
		}
	}

	/** Waits until its time is over, its user has seen it, or something else is to be drawn. */
	async #hold(ticket: OpenTicket): Promise<void> {
		const { clock } = this.#ports;
		// This time includes sleep, as the bar's own timer does.
		const sinceMs = clock.sinceBootMs();
		let renewedMs = sinceMs;
		while (!this.#next && this.#drawing.wanted) {
			const holdMs = Math.min(ticket.request.holdSeconds * 1_000, ticket.holdLimitMs);
			const leftMs = sinceMs + holdMs - clock.sinceBootMs();
			if (leftMs <= 0) return;
			await this.#waitForUser(Math.min(leftMs, renewedMs + RENEW_EVERY_MS - clock.sinceBootMs()));
			if (clock.sinceBootMs() - renewedMs < RENEW_EVERY_MS || this.#next) continue;
			renewedMs = clock.sinceBootMs();
			await this.#drawing.renew();
		}
	}

	/** Takes our picture off the bar. Returns early, with it still lit, if the next alert will be drawn over it. */
	async #clear(): Promise<void> {
		let failure: Failure | undefined;
		for (const pauseMs of CLEAR_PAUSES_MS) {
			if (pauseMs > 0) await this.#wait(pauseMs);
			if (this.#next) return;
			failure = await this.#tryClear();
			if (!failure) return;
		}
		const { wanted, lit } = this.#drawing;
		if (!failure || !wanted) return;
		this.#ports.outcomes.clearFailed(wanted.request, failure);
		// Otherwise the bar has ended it itself.
		if (lit) this.#oweClear(OWED_CLEAR_TRIES);
	}

	/** Resolves to the failure, if any. */
	async #tryClear(): Promise<Failure | undefined> {
		const done = await this.#drawing.clear();
		if (done?.outcome === "failed") return done.failure;
		if (done) this.#ports.outcomes.cleared(done.request, done);
		return undefined;
	}

	/** Tries again until the bar has ended the alert itself, the next alert has replaced it, or an hour has passed. */
	#oweClear(triesLeft: number): void {
		this.#cancelOwedClear();
		this.#cancelOwedClear = this.#ports.clock.after(OWED_CLEAR_EVERY_MS, () => {
			if (this.busy || !this.#drawing.lit || triesLeft === 0) return;
			// Not awaited; it never rejects.
			void this.#tryClear().then((failure) => {
				if (failure) this.#oweClear(triesLeft - 1);
				// The bar answers again.
				else this.#ports.outcomes.forgetFailures();
			});
		});
	}

	/** As `#wait`, but its user can end it. */
	async #waitForUser(ms: number): Promise<void> {
		this.#isHolding = true;
		await this.#wait(ms);
		this.#isHolding = false;
	}

	/** Ends after `ms`, or earlier if another alert waits or the process is ending. */
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

	/** Whether a newer alert replaces this one, or it is no longer wanted. */
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
