/**
 * What became of each alert: tells the log, the status line and the user, and keeps the back-off. Has side effects only
 * through its ports; imports nothing from pi.
 */

import type { Failure, FailureKind } from "../cli/failures.ts";
import type { Clock } from "../clock.ts";
import { backoffMs } from "../cycle/backoff.ts";
import type { Shown } from "../cycle/bar-record.ts";
import type { AlertRequest } from "../cycle/request.ts";
import { type AlertLog, type LogEvent, rowOf } from "../log.ts";
import type { NoticeMemory } from "./notices.ts";

export interface OutcomePorts {
	readonly log: Pick<AlertLog, "append">;
	readonly notices: Pick<NoticeMemory, "shown" | "failed">;
	readonly clock: Clock;
}

export interface OutcomeListener {
	/** What the status line says may have changed. */
	changed(): void;
	/** Shows a message to the user once. */
	notice(message: string): void;
}

type Asked = Pick<AlertRequest, "alert" | "reason" | "session">;

const NO_BACKOFF = { failures: 0, untilMs: Number.NEGATIVE_INFINITY };

export class Outcomes {
	readonly #ports: OutcomePorts;
	readonly #backoff = { ...NO_BACKOFF };
	readonly #listeners = new Set<OutcomeListener>();
	/** The user's own pictures that could not be shown. The user is told once about each. */
	readonly #toldPatterns = new Set<string>();
	#alerting: AlertRequest | undefined;
	#problem: FailureKind | undefined;

	constructor(ports: OutcomePorts) {
		this.#ports = ports;
	}

	/** The alert that is on its way or on the bar. */
	get alerting(): AlertRequest | undefined {
		return this.#alerting;
	}

	/** How the last alert failed; undefined after a success. */
	get problem(): FailureKind | undefined {
		return this.#problem;
	}

	/** The CLI, or Node for it, was missing a moment ago. Whether the bar was missing is in the bar's record. */
	get backingOff(): boolean {
		return this.#ports.clock.monotonicMs() < this.#backoff.untilMs;
	}

	/** Returns the listener's removal. */
	listen(listener: OutcomeListener): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	/** For a manual test or a changed setting: the next alert is tried although others failed. */
	forgetFailures(): void {
		Object.assign(this.#backoff, NO_BACKOFF);
		this.#setProblem(undefined);
	}

	nowAlerting(request: AlertRequest | undefined): void {
		this.#alerting = request;
		this.#changed();
	}

	fired(request: AlertRequest, drawn: Omit<Extract<LogEvent, { outcome: "fired" }>, "outcome" | "lateMs">): void {
		const { owedSinceMs } = request;
		const lateMs = owedSinceMs === undefined ? undefined : Math.round(this.#ports.clock.sinceBootMs() - owedSinceMs);
		this.#log(request, { outcome: "fired", ...drawn, ...(lateMs !== undefined && { lateMs }) });
		this.forgetFailures();
		// Not awaited; it never rejects.
		void this.#ports.notices.shown();
	}

	/** While a verdict is being tried again, there is no new row until it is shown or given up. */
	skipped(request: AlertRequest, why: "superseded" | "withdrawn" | "backoff"): void {
		if (why === "backoff" && request.owedSinceMs !== undefined) return;
		this.#log(request, { outcome: "skipped", gate: why });
	}

	failed(request: AlertRequest, failure: Failure): void {
		if (failure.kind === "not_found" || failure.kind === "no_node") {
			this.#backoff.untilMs = this.#ports.clock.monotonicMs() + backoffMs(this.#backoff.failures);
			this.#backoff.failures += 1;
		}
		this.#setProblem(failure.kind);
		if (request.owedSinceMs !== undefined) return;
		this.#logFailure(request, failure);
		if (!request.isManual) this.#tellOnce(failure);
	}

	/** The user's own picture cannot be shown. The user is told once: the next success does not repair it. */
	patternFailed(request: AlertRequest, pattern: string, failure: Failure): void {
		this.#logFailure(request, failure);
		if (this.#toldPatterns.has(pattern)) return;
		this.#toldPatterns.add(pattern);
		const message = `${failure.message} Until then, ${request.alert} alerts show \`${request.fallbackPattern}\`.`;
		for (const listener of this.#listeners) listener.notice(message);
	}

	cleared(request: AlertRequest, { heldMs, handedOver }: { heldMs: number; handedOver: boolean }): void {
		this.#log(request, { outcome: "cleared", heldMs, ...(handedOver && { handedOver }) });
	}

	/** What a dead pi had left on the bar was cleared. */
	clearedLeftOver(left: Shown): void {
		const heldMs = Math.round(this.#ports.clock.sinceBootMs() - left.drawnMs);
		this.#log(left, { outcome: "cleared", heldMs, leftBy: left.owner.pid });
	}

	/** The clear is left to a separate process. */
	leftToClear(request: AlertRequest, heldMs: number): void {
		this.#log(request, { outcome: "cleared", heldMs, detached: true });
	}

	/** Does not extend the back-off: the draw has already done that. */
	clearFailed(request: AlertRequest, failure: Failure): void {
		const uncleared = { ...failure, message: `The alert could not be cleared. ${failure.message}` };
		this.#logFailure(request, uncleared);
		this.#setProblem(failure.kind);
		this.#tellOnce(uncleared);
	}

	/** Once per kind and outage. */
	#tellOnce({ kind, message }: Failure): void {
		// A notice that nobody sees must not count as shown.
		if (this.#listeners.size === 0) return;
		void this.#ports.notices.failed(kind).then((isNews) => {
			if (isNews) for (const listener of this.#listeners) listener.notice(message);
		});
	}

	#setProblem(problem: FailureKind | undefined): void {
		if (this.#problem === problem) return;
		this.#problem = problem;
		this.#changed();
	}

	#changed(): void {
		for (const listener of this.#listeners) listener.changed();
	}

	#logFailure(request: Asked, { kind, message }: Failure): void {
		this.#log(request, { outcome: "error", kind, error: message });
	}

	#log(request: Asked, event: LogEvent): void {
		this.#ports.log.append(rowOf(request, event, this.#ports.clock.now()));
	}
}
