/** pi wiring only: events, commands, the status line and notices. What happens, and when, is in policy.ts and alert.ts. */

import { join } from "node:path";
import {
	type ExtensionAPI,
	type ExtensionContext,
	getAgentDir,
	type TurnEndEvent,
} from "@earendil-works/pi-coding-agent";
import type { Alert } from "./alert.ts";
import { CommandLine } from "./busybar.ts";
import { systemClock } from "./clock.ts";
import { type CommandTarget, registerCommands } from "./commands.ts";
import { AlertLog } from "./log.ts";
import { isNested } from "./nesting.ts";
import { cacheFolder } from "./paths.ts";
import { AlertPolicy, type TestResult } from "./policy.ts";
import type { Outcome } from "./run.ts";
import { type LoadedSettings, PATTERNS, SettingsFile } from "./settings.ts";
import { type CycleParts, createCycleParts, partFrom, sharedCycleParts } from "./shared-cycle.ts";

const STATUS_KEY = "busybar-alert";
/** pi waits for shutdown handlers without limit; a log on a dead network share must not keep it. */
const FLUSH_LIMIT_MS = 500;

export default function busybarAlert(pi: ExtensionAPI): void {
	let session: Session | undefined;

	registerCommands(pi, () => session);

	pi.on("session_start", (_event, ctx) => {
		session = new Session(ctx);
	});
	pi.on("agent_start", () => session?.policy.runStarted());
	pi.on("turn_end", (event, ctx) => {
		const calledTools = event.toolResults.length > 0;
		session?.policy.turnEnded(
			{ index: event.turnIndex, outcome: outcomeOf(event), calledTools },
			ctx.signal?.aborted === true,
		);
	});
	// pi before 1.1 does not say `aborted`.
	pi.on("agent_settled", (event) => session?.policy.settled(event.aborted === true));
	pi.on("session_shutdown", (event) => {
		const ending = session;
		session = undefined;
		return ending?.end(event.reason === "quit");
	});
}

/** pi before 0.87 says how a turn ended only in its message. */
function outcomeOf(event: Pick<TurnEndEvent, "message"> & { outcome?: Outcome }): Outcome {
	if (event.outcome) return event.outcome;
	const stopReason = event.message.role === "assistant" ? event.message.stopReason : undefined;
	return stopReason === "error" || stopReason === "aborted" ? stopReason : "completed";
}

/** One bound pi session, from `session_start` to `session_shutdown`. */
class Session implements CommandTarget {
	readonly settings: SettingsFile;
	readonly log: AlertLog;
	readonly policy: AlertPolicy;
	readonly #ctx: ExtensionContext;
	/** The process-wide parts; undefined where this instance must not touch them. */
	readonly #shared: CycleParts | undefined;
	/** Those of a manual test in an instance that must not touch the shared ones. */
	#own: CycleParts | undefined;
	#loaded: LoadedSettings | undefined;
	readonly #stopListening: () => void;
	#shownState: string | undefined;
	#ended = false;

	constructor(ctx: ExtensionContext) {
		this.#ctx = ctx;
		const nested = isNested(ctx.mode, process.env, process.pid);
		const headless = ctx.mode === "print" || ctx.mode === "json";
		const shared = nested || headless ? undefined : sharedCycleParts(cacheFolder());
		this.#shared = shared;
		this.log = shared?.log ?? new AlertLog(cacheFolder());
		this.settings = new SettingsFile(join(getAgentDir(), "busybar-alert.json"));
		this.policy = new AlertPolicy({
			settings: this.settings,
			log: this.log,
			clock: systemClock,
			cycle: () => this.#parts().cycle,
			session: ctx.sessionManager.getSessionId(),
			nested,
			headless,
			onSettings: (loaded) => this.onSettings(loaded),
		});
		this.#stopListening =
			shared?.cycle.listen({
				changed: () => this.#showStatus(),
				notice: (message) => this.#tell(message, "warning"),
			}) ?? (() => undefined);
		if (shared) setImmediate(() => void this.#prepare(shared));
	}

	async test(alert: Alert): Promise<TestResult> {
		const result = await this.policy.test(alert);
		await result.ticket.decided;
		return result;
	}

	onSettings(loaded: LoadedSettings): void {
		if (loaded === this.#loaded) return;
		const isChange = this.#loaded !== undefined;
		this.#loaded = loaded;
		if (!this.#shared) return;
		if (isChange) this.#shared.cycle.forgetFailures();
		this.#showStatus();
		const untold = loaded.warnings.filter((warning) => !this.#shared?.toldWarnings.has(warning));
		for (const warning of untold) this.#shared.toldWarnings.add(warning);
		if (untold.length > 0) this.#tell(untold.join("\n"), "warning");
	}

	/** Waits for rows that are still to be written, not for the bar. Never rejects. */
	async end(isQuit: boolean): Promise<void> {
		this.#ended = true;
		this.#stopListening();
		const written = this.policy.idle().then(() => this.log.flush());
		await Promise.race([written, new Promise((resolve) => setTimeout(resolve, FLUSH_LIMIT_MS).unref())]);
		if (!isQuit) return;
		if (this.#shared) partFrom(this.#shared.cycle, "now");
		if (this.#own) partFrom(this.#own.cycle, "after_hold");
	}

	#parts(): CycleParts {
		if (this.#shared) return this.#shared;
		this.#own ??= createCycleParts(cacheFolder(), systemClock);
		return this.#own;
	}

	/** What the first alert would else have to wait for. Never rejects. */
	async #prepare({ notices, whichCli, assets }: CycleParts): Promise<void> {
		const loaded = await this.settings.load();
		this.onSettings(loaded);
		const { enabled, addr, command, display, pattern, patternDone, patternError } = loaded.values;
		if (!enabled) return;
		if (await notices.welcome()) {
			this.#tell(
				`BUSY Bar alerts are on, for the bar at ${addr}. /busybar-alert-test shows one, /busybar-alert-toggle switches ` +
					`them off; BUSYBAR_ADDR or ${this.settings.path} changes the address.`,
				"info",
			);
		}
		const choice = await whichCli.choose(command);
		if (!choice.ok) return;
		for (const used of new Set([pattern, patternDone, patternError])) {
			const known = PATTERNS.find((candidate) => candidate === used);
			if (known) await assets.check(known, display, new CommandLine(choice.cli));
		}
	}

	#showStatus(): void {
		const { alerting, problem } = this.#shared?.cycle.status ?? {};
		const enabled = this.#loaded?.values.enabled ?? true;
		const state = alerting ? `alerting (${alerting.reason})` : !enabled ? "off" : (problem ?? "on");
		if (state === this.#shownState) return;
		this.#shownState = state;
		this.#withContext((ctx) => ctx.ui.setStatus(STATUS_KEY, `busybar:${state}`));
	}

	#tell(message: string, level: "info" | "warning"): void {
		this.#withContext((ctx) => ctx.ui.notify(message, level));
	}

	#withContext(use: (ctx: ExtensionContext) => void): void {
		if (this.#ended) return;
		try {
			use(this.#ctx);
		} catch {
			// pi replaced the session a moment ago and its objects throw; the next instance shows what holds then.
		}
	}
}
