/** The request for an alert, and what happens to it. Pure; imports nothing from pi. */

import type { Target } from "../busybar.ts";
import type { Failure } from "../cli/failures.ts";
import type { Alert, Pattern } from "../settings.ts";

/** An alert that passed the gates, with everything needed to show it: a running cycle reads no settings. */
export interface AlertRequest {
	readonly alert: Alert;
	/** For the log and the status line, such as `turn 3`. */
	readonly reason: string;
	readonly session: string;
	/** A manual test: the user sees its outcome, so a failure needs no notice. */
	readonly isManual: boolean;
	/** A name, or the absolute path of the user's own folder of frames or `.anim` file. */
	readonly pattern: string;
	/** Shown instead if the user's own picture cannot be shown. */
	readonly fallbackPattern: Pattern;
	readonly target: Target;
	readonly holdSeconds: number;
	/** The `command` setting. */
	readonly command: string;
	readonly clearOnShutdown: boolean;
	/** For a verdict that is tried again: when it first failed, in milliseconds since the machine started. */
	readonly owedSinceMs?: number;
}

/** What happened to a request. */
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
	/** Shortens the hold when its user is back; 0 ends it. */
	holdLimitMs = Number.POSITIVE_INFINITY;
	readonly #decision = Promise.withResolvers<void>();

	constructor(request: AlertRequest) {
		this.request = request;
		this.decided = this.#decision.promise;
	}

	/** Only the first decision counts. */
	decide(status: Exclude<Ticket["status"], "waiting">, failure?: Failure): void {
		if (this.status !== "waiting") return;
		this.status = status;
		this.failure = failure;
		this.#decision.resolve();
	}
}
