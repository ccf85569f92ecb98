/** Follows pi's runs and decides which alert an event asks for. Pure: no settings file, no bar, nothing from pi. */

import type { Ticket } from "../cycle/request.ts";
import type { Alert } from "../settings.ts";

export type Outcome = "completed" | "aborted" | "error";

export interface Turn {
	/** Starts again at 0 with every `agent_start`, including a retry. */
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
	/** The alert for the question that pi is waiting for an answer to. */
	question: Ticket | undefined;
	#lastTurn: Turn | undefined;
	#lastTicket: Ticket | undefined;

	/** What a finished turn asks for if `alertOn` is `turn_end`. An error asks for nothing, because pi may retry. */
	turnEnded(turn: Turn): Ask | undefined {
		this.#lastTurn = turn;
		this.#lastTicket = undefined;
		if (turn.outcome !== "completed") return undefined;
		return { alert: turn.calledTools ? "turn" : "done", reason: `turn ${turn.index}` };
	}

	/** Remembers the ticket of the last turn's alert. */
	accepted(ticket: Ticket): void {
		this.#lastTicket = ticket;
	}

	/** The verdict, unless the last turn's alert has already shown it or is about to. */
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
