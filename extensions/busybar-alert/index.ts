/** Only the wiring to pi: which event calls what. What then happens is in session.ts, policy.ts and alert.ts. */

import { writeSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
	type ExtensionAPI,
	type ExtensionContext,
	getAgentDir,
	type TurnEndEvent,
} from "@earendil-works/pi-coding-agent";
import { claimPlace, isPxScreenOpen, registerPiExtension } from "../_shared/registry.ts";
import { systemClock } from "./clock.ts";
import { piExtension, registerCommands } from "./commands.ts";
import { cacheFolder } from "./files/cache-folder.ts";
import { Session, type SessionHost } from "./session.ts";
import { focusReportsOfPi } from "./terminal/pi-screen.ts";
import { TerminalPresence } from "./terminal/presence.ts";
import type { Outcome } from "./when/run.ts";

const NAME = "busybar-alert";

export default function busybarAlert(pi: ExtensionAPI): void {
	if (!claimPlace(pi, NAME)) {
		pi.on("session_start", (_event, ctx) => sayPassive(ctx));
		return;
	}

	let host: SessionHost | undefined;
	let session: Session | undefined;
	// Created after pi has gone on, or by the first event if that comes earlier.
	const current = (): Session | undefined => {
		if (!session && host) session = new Session(host);
		return session;
	};
	const toolNames = new Map<string, string>();

	registerCommands(pi, current);
	registerPiExtension(pi, piExtension(current));

	pi.on("session_start", (_event, ctx) => {
		// Over RPC, pi before 1.6 fires this twice for a session that replaces another.
		void session?.end(false);
		session = undefined;
		host = hostOf(ctx);
		setImmediate(current);
	});
	pi.on("agent_start", () => current()?.policy.runStarted());
	pi.on("turn_end", (event, ctx) => {
		current()?.policy.turnEnded(
			{ index: event.turnIndex, outcome: outcomeOf(event), calledTools: event.toolResults.length > 0 },
			ctx.signal?.aborted === true,
		);
	});
	// pi before 1.1 does not set `aborted`.
	pi.on("agent_settled", (event) => current()?.policy.settled(event.aborted === true));

	pi.on("tool_execution_start", ({ toolCallId, toolName }) => void toolNames.set(toolCallId, toolName));
	pi.on("tool_execution_end", ({ toolCallId }) => void toolNames.delete(toolCallId));
	pi.on("ui_prompt_start", (event) => {
		// Every extension's screen is `custom`, even one that the user opened during a run.
		if (event.kind === "custom" && (isPxScreenOpen(pi.events) || !runsToolOfExtension(pi, toolNames.values()))) return;
		current()?.policy.questionAsked(event.kind);
	});
	pi.on("ui_prompt_end", () => current()?.policy.questionAnswered());
	pi.on("input", (event) => {
		if (event.source !== "extension") current()?.policy.userIsBack();
	});

	pi.on("session_shutdown", (event) => {
		const ending = current();
		host = undefined;
		session = undefined;
		return ending?.end(event.reason === "quit");
	});
}

function hostOf(ctx: ExtensionContext): SessionHost {
	const watchTerminal: NonNullable<SessionHost["watchTerminal"]> = (onPresence, known) =>
		new TerminalPresence({
			stdin: process.stdin,
			write: (text) => void writeSync(process.stdout.fd, text),
			clock: systemClock,
			piReportsFocus: focusReportsOfPi(ctx.ui),
			onPresence,
			...(known && { known }),
		});
	return {
		mode: ctx.mode,
		sessionId: ctx.sessionManager.getSessionId(),
		agentFolder: getAgentDir(),
		cacheFolder: cacheFolder(),
		setStatus: (text) => ctx.ui.setStatus(NAME, text),
		notify: (message, level) => ctx.ui.notify(message, level),
		...(ctx.mode === "tui" && { watchTerminal }),
	};
}

/** Before pi 0.87, only the message says how a turn ended. */
function outcomeOf(event: Pick<TurnEndEvent, "message"> & { outcome?: Outcome }): Outcome {
	if (event.outcome) return event.outcome;
	const stopReason = event.message.role === "assistant" ? event.message.stopReason : undefined;
	return stopReason === "error" || stopReason === "aborted" ? stopReason : "completed";
}

function runsToolOfExtension(pi: ExtensionAPI, running: Iterable<string>): boolean {
	const names = new Set(running);
	return pi.getAllTools().some((tool) => names.has(tool.name) && tool.sourceInfo.source !== "builtin");
}

/** Once per process, because pi runs the factory again on /new, /resume, /fork and /reload. */
function sayPassive(ctx: ExtensionContext): void {
	const holder = globalThis as { [SAID_PASSIVE]?: true };
	if (holder[SAID_PASSIVE]) return;
	holder[SAID_PASSIVE] = true;
	const path = fileURLToPath(import.meta.url);
	ctx.ui.notify(
		`pi-busybar-alert is loaded twice. The copy in ${path} does nothing; remove one of the two from pi's settings or packages.`,
		"warning",
	);
}

const SAID_PASSIVE = Symbol.for("pi-busybar-alert/said-passive");
