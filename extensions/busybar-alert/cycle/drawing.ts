/**
 * What this process has, or may have, on the bar: draws it, renews it, clears it, and hands it over when the process ends.
 * Each step considers what other pis have on the bar. Imports nothing from pi; runs the CLI through the exec port.
 */

import { type Cli, type Command, CommandLine, type Target } from "../busybar.ts";
import { type Failure, failureOf } from "../cli/failures.ts";
import type { Clock } from "../clock.ts";
import type { ProcessIdentity } from "../processes.ts";
import {
	type BarRecord,
	isBackingOff,
	isLeftOver,
	isSame,
	isSamePicture,
	type Lease,
	maySkipBackoff,
	mostUrgent,
	outageAfter,
	type Shown,
	stillShown,
	TELL_WISH_EVERY_MS,
	turnMs,
	wishesOfOthers,
} from "./bar-record.ts";
import { type BarStepPorts, BarSteps } from "./bar-steps.ts";
import type { Changed } from "./bar-store.ts";
import type { AlertRequest } from "./request.ts";

export interface DrawingPorts extends BarStepPorts {
	readonly clock: Clock;
	readonly env: NodeJS.ProcessEnv;
}

/** A picture, with everything needed to clear it again. */
export interface Picture {
	readonly request: AlertRequest;
	readonly cli: Cli;
	/** The fallback if the requested one could not be shown. */
	readonly pattern: string;
	readonly anim: string;
}

/** What is or may be on the bar for this process. Times are milliseconds since the machine started. */
export interface Lit extends Picture {
	/** The bar has confirmed it. Otherwise it may be on the bar: the answer is still to come, or was lost. */
	readonly isConfirmed: boolean;
	readonly sinceMs: number;
	/** When the bar ends it itself; Infinity if the CLI lacks `--expires-after`. */
	readonly expiresMs: number;
}

export type Drawn =
	| { readonly outcome: "drawn"; readonly tookMs: number }
	/** It is already lit, by this pi or by another, and a CLI without `--expires-after` cannot draw it again. */
	| { readonly outcome: "extended" | "joined" }
	/** Another pi's verdict must be lit for its time first. */
	| { readonly outcome: "wait"; readonly ms: number }
	/** Another pi found a moment ago that the bar does not answer. */
	| { readonly outcome: "away" }
	| { readonly outcome: "failed"; readonly failure: Failure };

export type Cleared =
	/** `handedOver`: another pi's alert is on the bar now. */
	| {
			readonly outcome: "cleared";
			readonly request: AlertRequest;
			readonly heldMs: number;
			readonly handedOver: boolean;
	  }
	| { readonly outcome: "failed"; readonly failure: Failure };

/** What a dead pi has on the bar. */
type LeftOver =
	| { readonly outcome: "cleared"; readonly shown: Shown }
	/** Its hold is not over. */
	| { readonly outcome: "wait"; readonly ms: number };

/** What is left to do when the process ends: a clear, and perhaps a draw before it. */
export interface Parting {
	readonly cli: Cli;
	readonly target: Target;
	/** A draw that is under way may still appear after this process has ended. */
	readonly delayMs: number;
	/** Skip the clear if the record in this file says that another process has drawn since. */
	readonly unlessShownByOther: { readonly path: string; readonly self: ProcessIdentity } | undefined;
	/** A draw that was cut off and must be repeated first. */
	readonly redraw: Picture | undefined;
}

/** The bar parks a draw for up to 1.5 s and may show it after its client has gone: docs/bar.md. */
export const PARKED_DRAW_MS = 2_000;
/** The bar ends an alert itself this long after its hold, if nobody clears it. */
const EXPIRY_MARGIN_SECONDS = 5;
/**
 * A longer alert gets a short lifetime and is renewed, so that it does not stay for its whole hold after `kill -9`.
 * A multiple of the length of our patterns, so that they do not jump.
 */
export const RENEW_EVERY_MS = 30_000;
const RENEWED_LIFETIME_SECONDS = 45;

/** The lifetime, on the bar, of an alert that still has `leftMs` to stay. */
export function lifetimeSeconds(leftMs: number): number {
	const seconds = Math.ceil(leftMs / 1_000) + EXPIRY_MARGIN_SECONDS;
	return leftMs > RENEW_EVERY_MS ? Math.min(seconds, RENEWED_LIFETIME_SECONDS) : seconds;
}

export class Drawing {
	readonly #ports: DrawingPorts;
	#lit: Lit | undefined;
	readonly #steps: BarSteps;

	constructor(ports: DrawingPorts) {
		this.#ports = ports;
		this.#steps = new BarSteps(ports);
	}

	/** What this process wants on the bar, even if the bar has ended it or shows another pi's alert. */
	get wanted(): Lit | undefined {
		return this.#lit;
	}

	/** Undefined when nothing of ours can be on the bar any more. */
	get lit(): Lit | undefined {
		return this.#lit && this.#lit.expiresMs > this.#nowMs() ? this.#lit : undefined;
	}

	/**
	 * Draws over what is lit. Resolves to undefined if `part` has cut it off. Never rejects.
	 */
	async draw(picture: Picture): Promise<Drawn | undefined> {
		const { request, cli, anim } = picture;
		const stillToWait = await this.#stillToWait(picture);
		if (stillToWait) return stillToWait;
		return this.#steps.change<Drawn>(request.target, async (record, self) => {
			const nowMs = this.#nowMs();
			const answer = (value: Drawn | undefined) => ({ record, value });
			if (isBackingOff(record, nowMs) && !maySkipBackoff(request, record, nowMs)) return answer({ outcome: "away" });
			const leases = await this.#leasesOfOthers(record, self);
			const shown = stillShown(record, nowMs);
			const isOurs = shown !== undefined && isSame(shown.owner, self);
			const isThere = shown?.isConfirmed && isSamePicture(shown, { anim, display: request.target.display });
			if (isThere && !cli.abilities.expiresAfter && (isOurs || (await this.#isAlive(shown.owner)))) {
				this.#lit = { ...picture, isConfirmed: true, sinceMs: nowMs, expiresMs: Number.POSITIVE_INFINITY };
				const mine = leaseOf(picture, self, nowMs);
				const kept = isOurs ? { ...shown, ...mine } : shown;
				const outcome = isOurs ? "extended" : "joined";
				return { record: { ...record, leases: [...leases, mine], shown: kept }, value: { outcome } };
			}
			const others = wishesOfOthers(record, self, nowMs);
			const sinceMs = record.wishes.find(({ owner }) => isSame(owner, self))?.sinceMs ?? nowMs;
			const wish = { ...leaseOf(picture, self, sinceMs), toldMs: nowMs };
			const waitMs = Math.ceil(turnMs(record, leases, wish, nowMs) - nowMs);
			if (waitMs > 0) {
				return { record: { ...record, wishes: [...others, wish] }, value: { outcome: "wait", ms: waitMs } };
			}
			// The bar refuses to move an element to the other display.
			if (shown && shown.display !== request.target.display) {
				if (!(await this.#clearOnce(cli, request.target, record))) return answer(undefined);
			}
			const drawnBy = (isConfirmed: boolean): BarRecord => {
				const mine = leaseOf(picture, self, this.#nowMs());
				const now = this.#shownOf(mine, cli, request.holdSeconds * 1_000, isConfirmed, shown);
				return { ...record, leases: [...leases, mine], wishes: others, shown: now };
			};
			const litBefore = this.lit;
			const drawn = await this.#show(picture, drawnBy(false));
			if (!drawn) return answer(undefined);
			const { failure, tookMs } = drawn;
			if (failure && !failure.late) this.#lit = litBefore;
			const isLit = this.#lit && (!failure || failure.late);
			const changed: BarRecord = {
				...(isLit ? drawnBy(!failure) : record),
				...(failure && { leases }),
				wishes: others,
				outage: outageAfter(record.outage, failure?.kind, this.#nowMs()),
			};
			return { record: changed, value: failure ? { outcome: "failed", failure } : { outcome: "drawn", tookMs } };
		});
	}

	/** Looks without the lock, which many that wait would otherwise keep from the one whose turn it is. */
	async #stillToWait({ request, anim }: Picture): Promise<Drawn | undefined> {
		const { self } = this.#steps;
		if (!self) return undefined;
		const nowMs = this.#nowMs();
		const record = await this.#ports.bars.read(request.target);
		const wish = record.wishes.find(({ owner }) => isSame(owner, self));
		const isTold = wish?.alert === request.alert && wish.anim === anim && nowMs < wish.toldMs + TELL_WISH_EVERY_MS;
		if (!isTold) return undefined;
		const ms = Math.ceil(turnMs(record, await this.#leasesOfOthers(record, self), wish, nowMs) - nowMs);
		return ms > 0 ? { outcome: "wait", ms } : undefined;
	}

	/** Renews the lifetime of our alert, or shows it again, unless another pi's is on the bar. Never rejects. */
	async renew(): Promise<void> {
		const lit = this.#lit;
		if (!lit?.cli.abilities.expiresAfter) return;
		await this.#steps.change(lit.request.target, async (record, self) => {
			const nowMs = this.#nowMs();
			const shown = stillShown(record, nowMs);
			const isOthers = shown && !isSame(shown.owner, self) && (await this.#isAlive(shown.owner));
			if (isOthers || isBackingOff(record, nowMs) || this.#lit !== lit) return { record, value: undefined };
			const leftMs = lit.sinceMs + lit.request.holdSeconds * 1_000 - nowMs;
			const command = this.#showCommand(lit, lit.request.target, leftMs, true);
			const result = await this.#steps.run(command, record);
			if (!result) return { record, value: undefined };
			const failure = failureOf("show", command, result, lit.request.target);
			if (failure) {
				const outage = outageAfter(record.outage, failure.kind, nowMs);
				return { record: { ...record, outage }, value: undefined };
			}
			const expiresMs = this.#nowMs() + lifetimeSeconds(leftMs) * 1_000;
			this.#lit = { ...lit, expiresMs };
			const mine = leaseOf(lit, self, lit.sinceMs);
			const leases = [...(await this.#leasesOfOthers(record, self)), mine];
			return {
				record: { ...record, leases, shown: this.#shownOf(mine, lit.cli, leftMs, true, shown) },
				value: undefined,
			};
		});
	}

	/**
	 * Tries once to end our alert. If another pi's alert is on the bar, it stays; if another pi still wants one there, that is
	 * drawn; otherwise the bar is cleared. Resolves to undefined if there is nothing of ours, or `part` has taken it over.
	 * Never rejects.
	 */
	async clear(): Promise<Cleared | undefined> {
		const target = this.#lit?.request.target;
		if (!target) return undefined;
		let lit: Lit | undefined;
		const cleared = await this.#steps.change<Cleared>(target, async (record, self) => {
			lit = this.#lit;
			if (!lit) return { record, value: undefined };
			const leases = await this.#leasesOfOthers(record, self);
			const settled = await this.#settle({ ...record, leases }, lit.cli, target, self, this.lit !== undefined);
			if (!settled) return { record, value: undefined };
			const { failure, handedOver } = settled.value;
			if (failure) return { record, value: { outcome: "failed", failure } };
			const heldMs = Math.round(this.#nowMs() - lit.sinceMs);
			return { record: settled.record, value: { outcome: "cleared", request: lit.request, heldMs, handedOver } };
		});
		if (cleared?.outcome !== "cleared") return cleared;
		// While the record was being written, pi ended, and whoever took over has said so.
		if (this.#lit !== lit) return undefined;
		this.#lit = undefined;
		return cleared;
	}

	/** Clears what a dead pi has left on this bar, unless it still has time left. Never rejects. */
	clearLeftOver(cli: Cli, target: Target): Promise<LeftOver | undefined> {
		return this.#steps.change<LeftOver>(target, async (record, self) => {
			const nowMs = this.#nowMs();
			const shown = stillShown(record, nowMs);
			if (!shown || (await this.#isAlive(shown.owner))) return { record, value: undefined };
			if (!isLeftOver(shown, nowMs)) return { record, value: { outcome: "wait", ms: shown.untilMs - nowMs } };
			const leases = await this.#leasesOfOthers(record, self);
			const settled = await this.#settle({ ...record, leases }, cli, target, self, false);
			if (!settled || settled.value.failure) return { record, value: undefined };
			return { record: settled.record, value: { outcome: "cleared", shown } };
		});
	}

	/**
	 * Gives up what is lit, because the process is ending. Undefined if nothing of ours can be lit, or if the user wants it to
	 * outlast pi.
	 * @param when `after_hold` leaves the alert its time
	 */
	part(when: "now" | "after_hold"): Parting | undefined {
		const { lit } = this;
		if (lit && this.outlasts(lit)) return undefined;
		// No request of this process may reach the bar after the clear, nor one that still waits for other pis.
		this.#steps.cutOff();
		if (!lit) return undefined;
		this.#lit = undefined;
		const holdLeftMs = lit.sinceMs + lit.request.holdSeconds * 1_000 - this.#nowMs();
		const path = this.#ports.bars.pathOf(lit.request.target);
		const { self } = this.#steps;
		return {
			cli: lit.cli,
			target: lit.request.target,
			delayMs: Math.max(0, lit.isConfirmed ? 0 : PARKED_DRAW_MS, when === "after_hold" ? Math.round(holdLeftMs) : 0),
			unlessShownByOther: path !== undefined && self ? { path, self } : undefined,
			redraw: when === "after_hold" && !lit.isConfirmed ? lit : undefined,
		};
	}

	/** Whether the user wants the alert to outlast pi, and the bar can end it itself. */
	outlasts(lit: Lit): boolean {
		return !lit.request.clearOnShutdown && Number.isFinite(lit.expiresMs);
	}

	/** Shows what belongs on the bar once this process wants nothing there. Undefined if `part` has cut it off. */
	async #settle(
		record: BarRecord,
		cli: Cli,
		target: Target,
		self: ProcessIdentity,
		mayBeLit: boolean,
	): Promise<Changed<{ readonly failure?: Failure; readonly handedOver: boolean }> | undefined> {
		const nowMs = this.#nowMs();
		const shown = stillShown(record, nowMs);
		const isOthers = shown !== undefined && !isSame(shown.owner, self);
		if (isOthers && (!isLeftOver(shown, nowMs) || (await this.#isAlive(shown.owner)))) {
			return { record, value: { handedOver: true } };
		}
		const next = mostUrgent(record.leases, nowMs);
		if (next) {
			if (shown && isSamePicture(shown, next) && !cli.abilities.expiresAfter) {
				return { record: { ...record, shown: { ...shown, ...next } }, value: { handedOver: true } };
			}
			if (shown && shown.display !== next.display && !(await this.#clearOnce(cli, target, record))) return undefined;
			const place = { ...target, display: next.display, priority: next.priority };
			const command = this.#showCommand({ cli, anim: next.anim }, place, next.untilMs - nowMs, false);
			const result = await this.#steps.run(command, record);
			if (!result) return undefined;
			if (!failureOf("show", command, result, target)) {
				const now = this.#shownOf(next, cli, next.untilMs - nowMs, true, shown);
				return { record: { ...record, shown: now }, value: { handedOver: true } };
			}
		}
		if (!shown && !mayBeLit) return { record, value: { handedOver: false } };
		const cleared = await this.#clearOnce(cli, target, record);
		if (!cleared) return undefined;
		const { failure } = cleared;
		if (failure) return { record, value: { failure, handedOver: false } };
		return { record: { ...record, shown: undefined }, value: { handedOver: false } };
	}

	/** From the start of the draw the picture counts as possibly lit, whatever happens to the answer. */
	async #show(
		picture: Picture,
		meanwhile: BarRecord,
	): Promise<{ readonly failure: Failure | undefined; readonly tookMs: number } | undefined> {
		const { request, cli } = picture;
		const holdMs = request.holdSeconds * 1_000;
		const command = this.#showCommand(picture, request.target, holdMs, false);
		const litFor = (isConfirmed: boolean, sinceMs: number, moreMs: number): Lit => ({
			...picture,
			isConfirmed,
			sinceMs,
			expiresMs: cli.abilities.expiresAfter
				? sinceMs + lifetimeSeconds(holdMs) * 1_000 + moreMs
				: Number.POSITIVE_INFINITY,
		});
		let startedMs = 0;
		const result = await this.#steps.run(command, meanwhile, () => {
			startedMs = this.#ports.clock.monotonicMs();
			this.#lit = litFor(false, this.#nowMs(), command.deadlineMs + PARKED_DRAW_MS);
		});
		if (!result) return undefined;
		const failure = failureOf("show", command, result, request.target);
		if (!failure) this.#lit = litFor(true, this.#nowMs(), 0);
		return { failure, tookMs: Math.round(this.#ports.clock.monotonicMs() - startedMs) };
	}

	/** HTTP 400 means that nothing of ours is lit, which counts as cleared. Undefined if `part` has cut it off. */
	async #clearOnce(
		cli: Cli,
		target: Target,
		meanwhile: BarRecord,
	): Promise<{ readonly failure: Failure | undefined } | undefined> {
		const command = new CommandLine(cli, this.#ports.env).clear(target);
		const result = await this.#steps.run(command, meanwhile);
		if (!result) return undefined;
		const failure = failureOf("clear", command, result, target);
		return { failure: failure?.httpStatus === 400 ? undefined : failure };
	}

	#showCommand(
		{ cli, anim }: Pick<Picture, "cli" | "anim">,
		target: Target,
		leftMs: number,
		isOnBar: boolean,
	): Command {
		const options = { expiresAfterSeconds: lifetimeSeconds(leftMs), isOnBar, whilePid: process.pid };
		return new CommandLine(cli, this.#ports.env).show(anim, target, options);
	}

	#shownOf(lease: Lease, cli: Cli, leftMs: number, isConfirmed: boolean, before: Shown | undefined): Shown {
		const drawnMs = this.#nowMs();
		const expiresMs = cli.abilities.expiresAfter ? drawnMs + lifetimeSeconds(leftMs) * 1_000 : null;
		const upMs = before && isSamePicture(before, lease) ? before.upMs : drawnMs;
		return { ...lease, drawnMs, upMs, expiresMs, isConfirmed };
	}

	/** Those of pis that are alive, and whose time is not over. */
	async #leasesOfOthers({ leases }: BarRecord, self: ProcessIdentity): Promise<readonly Lease[]> {
		const nowMs = this.#nowMs();
		const others = leases.filter(({ owner, untilMs }) => !isSame(owner, self) && untilMs > nowMs);
		const alive = await Promise.all(others.map(({ owner }) => this.#isAlive(owner)));
		return others.filter((_, index) => alive[index]);
	}

	#isAlive(owner: ProcessIdentity): Promise<boolean> {
		return this.#ports.processes.isAlive(owner);
	}

	#nowMs(): number {
		return this.#ports.clock.sinceBootMs();
	}
}

function leaseOf({ request, pattern, anim }: Picture, owner: ProcessIdentity, sinceMs: number): Lease {
	const { alert, reason, session, target, holdSeconds } = request;
	const { display, priority } = target;
	return {
		owner,
		alert,
		reason,
		session,
		pattern,
		anim,
		display,
		priority,
		sinceMs,
		untilMs: sinceMs + holdSeconds * 1_000,
	};
}

/** The same bar and application name: a draw replaces what is lit there. */
export function sameBar(one: Target, other: Target): boolean {
	return one.addr === other.addr && one.applicationName === other.applicationName;
}
