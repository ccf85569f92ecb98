// A pi extension that writes every run event it sees, in order, to the file named in RECORDED_EVENTS.

import { appendFileSync } from "node:fs";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

/** One line of the recording. */
export interface RecordedEvent {
	readonly type: string;
	readonly mode: string;
	readonly outcome?: string;
	readonly aborted?: boolean;
}

const EVENTS = [
	"session_start",
	"before_agent_start",
	"agent_start",
	"turn_start",
	"tool_execution_start",
	"tool_execution_end",
	"turn_end",
	"agent_end",
	"agent_before_settle",
	"agent_settled",
	"session_shutdown",
];

export default function record(pi: ExtensionAPI): void {
	const file = process.env.RECORDED_EVENTS;
	if (file === undefined) return;
	// The event names are data here, which the overloads of `on` cannot express.
	const on = pi.on.bind(pi) as unknown as (
		type: string,
		handler: (event: Omit<RecordedEvent, "mode">, ctx: { mode: string }) => void,
	) => void;
	for (const type of EVENTS) {
		on(type, ({ outcome, aborted }, { mode }) => {
			appendFileSync(file, `${JSON.stringify({ type, mode, outcome, aborted })}\n`);
		});
	}
	pi.registerCommand("notice", {
		description: "Show a notice and a status",
		handler: async (args, ctx) => {
			ctx.ui.notify(`notice: ${args}`, "info");
			ctx.ui.setStatus("recording", `status: ${args}`);
		},
	});
}
