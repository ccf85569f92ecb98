/** Follows pi's runs and says which alert an event asks for. Pure: no settings file, no bar, nothing from pi. */

import type { Ticket } from "../cycle/request.ts";
import type { Alert } from "../settings.ts";

export type Outcome = "completed" | "aborted" | "error";

export interface Turn {
	/** Restarts at 0 with every `agent_start`, a retry included. */
	readonly index: number;
	readonly outcome: Outcome;
	readonly calledTools: boolean;
}

export interface Ask {
	readonly alert: Alert;
	readonly reason: string;
}

/** Everything from the first `agent_start` since pi last settled to `agent_settled`. */
export class Run {
	/** On a monotonic clock; undefined before the run's first `agent_start`. */
	startedMs: number | undefined;
	/** The alert of the question that pi waits for an answer to. */
	question: Ticket | undefined;
	#lastTurn: Turn | undefined;
	#lastTicket: Ticket | undefined;

	/** What a finished turn asks for when alerts come on `turn_end`. An error asks for nothing: pi may retry. */
	turnEnded(turn: Turn): Ask | undefined {
		this.#lastTurn = turn;
		this.#lastTicket = undefined;
		if (turn.outcome !== "completed") return undefined;
		return { alert: turn.calledTools ? "turn" : "done", reason: `turn ${turn.index}` };
	}

	/** Remembers what became of the last turn's ask. */
	accepted(ticket: Ticket): void {
		this.#lastTicket = ticket;
	}

	/** The verdict, unless that very verdict is already on its way or was shown for the last turn. */
	settled(alertOn: "turn_end" | "agent_settled"): Ask | undefined {
		const turn = this.#lastTurn;
		if (!turn || turn.outcome === "aborted") return undefined;
		const alert = turn.outcome === "error" ? "error" : "done";
		if (alertOn === "agent_settled") return { alert, reason: "agent settled" };
		const shown = this.#lastTicket?.status === "shown" || this.#lastTicket?.status === "waiting";
		if (shown && this.#lastTicket?.request.alert === alert) return undefined;
		return { alert, reason: `turn ${turn.index} (final)` };
	}
}
