/** What an alert is asked for with, and what becomes of it. Pure; imports nothing from pi. */

import type { Target } from "../busybar.ts";
import type { Failure } from "../cli/failures.ts";
import type { Alert, Pattern } from "../settings.ts";

/** An alert that passed the gates, with all that showing it takes: a running cycle reads no setting. */
export interface AlertRequest {
	readonly alert: Alert;
	/** For the log and the status line, such as `turn 3`. */
	readonly reason: string;
	readonly session: string;
	/** Asked for by a person, who reads the outcome and needs no notice of a failure. */
	readonly isManual: boolean;
	/** A name, or the absolute path of the user's own frames or `.anim` file. */
	readonly pattern: string;
	/** Shown instead when the user's own picture cannot be. */
	readonly fallbackPattern: Pattern;
	readonly target: Target;
	readonly holdSeconds: number;
	/** The `command` setting. */
	readonly command: string;
	readonly clearOnShutdown: boolean;
	/** Set for a verdict that could not be shown at first and is tried again; milliseconds since the machine started. */
	readonly owedSinceMs?: number;
}

/** What became of a request. */
export interface Ticket {
	readonly request: AlertRequest;
	readonly status: "waiting" | "shown" | "failed" | "superseded";
	readonly failure: Failure | undefined;
	/** Resolves when `status` is final. */
	readonly decided: Promise<void>;
}

/** The cycle's own side of a ticket. */
export class OpenTicket implements Ticket {
	readonly request: AlertRequest;
	readonly decided: Promise<void>;
	status: Ticket["status"] = "waiting";
	failure: Failure | undefined;
	/** Shortens the hold once its user is back; 0 ends it. */
	holdLimitMs = Number.POSITIVE_INFINITY;
	readonly #decision = Promise.withResolvers<void>();

	constructor(request: AlertRequest) {
		this.request = request;
		this.decided = this.#decision.promise;
	}

	/** The first decision stands. */
	decide(status: Exclude<Ticket["status"], "waiting">, failure?: Failure): void {
		if (this.status !== "waiting") return;
		this.status = status;
		this.failure = failure;
		this.#decision.resolve();
	}
}
