/**
 * What is, or may be, on the bar because of this process: draws it, clears it, hands it over when the process ends.
 * Imports nothing from pi; runs the CLI through the exec port.
 */

import { type Cli, type Command, CommandLine, type Target } from "../busybar.ts";
import type { ExecFn, ExecResult } from "../cli/exec.ts";
import { type Failure, failureOf } from "../cli/failures.ts";
import type { Clock } from "../clock.ts";
import type { AlertRequest } from "./request.ts";

export interface DrawingPorts {
	readonly exec: ExecFn;
	readonly clock: Clock;
	readonly env: NodeJS.ProcessEnv;
}

/** One picture, with all that taking it off again needs. */
export interface Picture {
	readonly request: AlertRequest;
	readonly cli: Cli;
	/** The fallback where the requested one could not be shown. */
	readonly pattern: string;
	readonly anim: string;
}

export interface Lit extends Picture {
	/** The bar has said so. Otherwise it may be on the bar: its answer is still to come, or was lost. */
	readonly isConfirmed: boolean;
	readonly sinceMs: number;
	/** When the bar ends it by itself; Infinity with a CLI that cannot let it expire. */
	readonly expiresAtMs: number;
}

/** The clear that is left to do when the process ends. */
export interface PartingClear {
	readonly cli: Cli;
	readonly target: Target;
	/** A draw that is under way may still appear after us. */
	readonly delayMs: number;
}

/** A draw that the bar has parked for 1.5 s can still appear after its client has gone: docs/bar.md. */
export const PARKED_DRAW_MS = 2_000;
/** The bar ends an alert by itself this long after its hold, should nobody clear it. */
const EXPIRY_MARGIN_SECONDS = 5;

/** How long the bar is to keep an alert if nobody clears it. */
export const lifetimeSeconds = (request: AlertRequest): number =>
	Math.ceil(request.holdSeconds) + EXPIRY_MARGIN_SECONDS;

export class Drawing {
	readonly #ports: DrawingPorts;
	#lit: Lit | undefined;
	/** Settles when everything asked for so far is done. */
	#last: Promise<unknown> = Promise.resolve();
	/** The command that is under way, and what ends it. */
	#running: { readonly name: "show" | "clear"; readonly ending: AbortController } | undefined;
	#partings = 0;

	constructor(ports: DrawingPorts) {
		this.#ports = ports;
	}

	/** Undefined when nothing of ours can be on the bar any more. */
	get lit(): Lit | undefined {
		return this.#lit && this.#lit.expiresAtMs > this.#ports.clock.monotonicMs() ? this.#lit : undefined;
	}

	/** A draw is on its way to the bar. */
	get isDrawing(): boolean {
		return this.#running?.name === "show";
	}

	/**
	 * Draws over what is lit. After a failure that is not late, what was lit before still is. Resolves to undefined when
	 * `part` has cut it off. Never rejects.
	 */
	draw(picture: Picture): Promise<{ readonly failure: Failure | undefined; readonly tookMs: number } | undefined> {
		return this.#next(async () => {
			const { request, cli } = picture;
			const { clock, env } = this.#ports;
			const command = new CommandLine(cli, env).show(picture.anim, request.target, lifetimeSeconds(request));
			const lifetimeMs = lifetimeSeconds(request) * 1_000;
			const litFor = (isConfirmed: boolean, sinceMs: number, ms: number): Lit => ({
				...picture,
				isConfirmed,
				sinceMs,
				expiresAtMs: cli.abilities.expiresAfter ? sinceMs + ms : Number.POSITIVE_INFINITY,
			});

			const before = this.lit;
			const startedMs = clock.monotonicMs();
			// From here on the picture may be on the bar, whatever becomes of us or of the answer.
			this.#lit = litFor(false, startedMs, lifetimeMs + command.deadlineMs + PARKED_DRAW_MS);
			const result = await this.#run("show", command);
			if (!result) return undefined;
			const failure = failureOf("show", command, result, request.target);
			const endedMs = clock.monotonicMs();
			if (failure === undefined) this.#lit = litFor(true, endedMs, lifetimeMs);
			else if (!failure.late) this.#lit = before;
			return { failure, tookMs: Math.round(endedMs - startedMs) };
		});
	}

	/**
	 * Keeps what is lit for this alert too, where drawing it again is impossible: a CLI that cannot let a drawing expire
	 * uploads on every call, and the bar cannot write the file that it plays. Resolves to what stays, or to undefined
	 * when the alert has to be drawn. Never rejects.
	 */
	keepFor(request: AlertRequest, cli: Cli): Promise<Lit | undefined> {
		return this.#next(async () => {
			const { lit } = this;
			if (!lit?.isConfirmed || cli.abilities.expiresAfter) return undefined;
			const isSamePicture = lit.pattern === request.pattern || lit.request.pattern === request.pattern;
			if (!isSamePicture || !samePlace(lit.request.target, request.target)) return undefined;
			this.#lit = { ...lit, request };
			return this.#lit;
		});
	}

	/** One try to take our picture off the bar. Resolves to undefined when there is none, or `part` took it over. Never rejects. */
	clear(): Promise<
		{ readonly failure: Failure | undefined; readonly cleared: Lit; readonly heldMs: number } | undefined
	> {
		return this.#next(async () => {
			const { lit } = this;
			if (!lit) return undefined;
			const { clock, env } = this.#ports;
			const command = new CommandLine(lit.cli, env).clear(lit.request.target);
			const result = await this.#run("clear", command);
			if (!result) return undefined;
			const failure = failureOf("clear", command, result, lit.request.target);
			const outcome = { cleared: lit, heldMs: Math.round(clock.monotonicMs() - lit.sinceMs) };
			// HTTP 400: nothing of ours is lit.
			if (failure && failure.httpStatus !== 400) return { failure, ...outcome };
			this.#lit = undefined;
			return { failure: undefined, ...outcome };
		});
	}

	/**
	 * Gives up what is lit to whoever clears it while the process ends. Undefined when nothing of ours can be lit, or when
	 * its user wants it to outlast pi.
	 * @param when `after_hold` lets the alert have its time first
	 */
	part(when: "now" | "after_hold"): PartingClear | undefined {
		const { lit } = this;
		if (!lit || (!lit.request.clearOnShutdown && Number.isFinite(lit.expiresAtMs))) return undefined;
		this.#lit = undefined;
		// No request of ours must reach the bar after the clear.
		this.#partings += 1;
		this.#running?.ending.abort();
		const holdLeftMs = lit.sinceMs + lit.request.holdSeconds * 1_000 - this.#ports.clock.monotonicMs();
		return {
			cli: lit.cli,
			target: lit.request.target,
			delayMs: Math.max(0, lit.isConfirmed ? 0 : PARKED_DRAW_MS, when === "after_hold" ? Math.round(holdLeftMs) : 0),
		};
	}

	/** One step at a time: a clear that reached the bar after a later draw would take that away. */
	#next<T>(step: () => Promise<T | undefined>): Promise<T | undefined> {
		const partings = this.#partings;
		const result = this.#last.then(() => (partings === this.#partings ? step() : undefined));
		this.#last = result.catch(() => undefined);
		return result;
	}

	/** Undefined when `part` has cut it off: whoever does the parting clear then owns what is on the bar. */
	async #run(name: "show" | "clear", command: Command): Promise<ExecResult | undefined> {
		const ending = new AbortController();
		this.#running = { name, ending };
		try {
			const result = await this.#ports.exec(command.file, command.args, { ...command, signal: ending.signal });
			return ending.signal.aborted ? undefined : result;
		} finally {
			this.#running = undefined;
		}
	}
}

/** A draw at this place replaces what is lit there: same bar, same owner, same display. */
export function samePlace(one: Target, other: Target): boolean {
	return one.addr === other.addr && one.applicationName === other.applicationName && one.display === other.display;
}
