/**
 * The policy of one extension instance: turns pi's events into alerts or log rows, in order and without holding pi up.
 * Imports nothing from pi.
 */

import type { AlertCycle } from "./alert.ts";
import type { Clock } from "./clock.ts";
import type { AlertRequest, Ticket } from "./cycle/request.ts";
import { type AlertLog, type LogEvent, rowOf } from "./log.ts";
import { type Alert, PATTERN_SETTING, type Pattern, type Settings, settingField } from "./settings.ts";
import type { LoadedSettings, SettingsFile } from "./settings-file.ts";
import type { Outcomes } from "./tell/outcomes.ts";
import { type Gate, gateOf, isQuietAt } from "./when/gates.ts";
import { type Ask, Run, type Turn } from "./when/run.ts";

export interface PolicyPorts {
	readonly settings: Pick<SettingsFile, "load">;
	readonly log: Pick<AlertLog, "append">;
	readonly clock: Clock;
	/** What shows alerts. An instance that must stay silent (nested, or headless with `headless` off) asks for it only in a manual test. */
	readonly parts: () => { readonly cycle: AlertCycle; readonly outcomes: Outcomes };
	readonly session: string;
	readonly nested: boolean;
	/** Print or json mode. */
	readonly headless: boolean;
	/** Whether pi's terminal is known to have the focus. */
	readonly isFocused: () => boolean;
	/** `/busybar-alert-mute here` is in force. */
	readonly isMutedHere: () => boolean;
	/** Prepares the CLI and the animations of these alerts in the background. */
	readonly prepare: (alerts: readonly Alert[], settings: Settings) => void;
	/** Called each time the settings are read; the object is the same as long as nothing has changed. */
	readonly onSettings: (loaded: LoadedSettings) => void;
}

/** What a manual test did. */
export interface TestResult {
	readonly ticket: Ticket;
	/** What would silence an automatic alert of this kind now: a gate, or `off`. */
	readonly silence: Gate | "off" | undefined;
}

/** The promise is one minute; this leaves time for the draw. */
const OWED_TRY_EVERY_MS = 55_000;
const OWED_FOR_MS = 4 * 3_600_000;

export class AlertPolicy {
	readonly #ports: PolicyPorts;
	#mutedUntilMs: number | undefined;
	#run = new Run();
	/** The verdict that will be tried again. */
	#owed: { readonly ask: Ask; readonly run: Run; readonly cancel: () => void } | undefined;
	#hasEnded = false;
	/** Handles events in the order in which they came. Never rejects. */
	#chain: Promise<void> = Promise.resolve();

	constructor(ports: PolicyPorts) {
		this.#ports = ports;
	}

	/** Returns at once, as do the other event methods. */
	runStarted(): void {
		// A retry starts the agent again within the same run.
		this.#run.startedMs ??= this.#ports.clock.monotonicMs();
		if (!this.#ports.headless) return;
		this.#enqueue(async () => {
			const settings = await this.#settings();
			// In print mode pi ends with its run, so there is no time for it later.
			if (settings.enabled && !this.#isSilent(settings)) this.#ports.prepare(["done", "error"], settings);
		});
	}

	/** @param aborting the run's signal is aborted: the user stopped it, whatever the turn itself says */
	turnEnded(turn: Turn, aborting: boolean): void {
		const run = this.#run;
		const ask = run.turnEnded(turn);
		if (!ask || aborting) return;
		this.#enqueue(async () => {
			const settings = await this.#settings();
			if (this.#alertOn(settings) !== "turn_end") return;
			const ticket = await this.#ask(ask, settings, run);
			if (ticket) run.accepted(ticket);
		});
	}

	settled(aborted: boolean): void {
		const run = this.#run;
		// Events from now on belong to the next run, even if this one's verdict is not shown yet.
		this.#run = new Run();
		this.#enqueue(async () => {
			this.#withdrawQuestion(run);
			if (aborted) return;
			const settings = await this.#settings();
			const ask = run.settled(this.#alertOn(settings));
			// The last turn's verdict will be tried again anyway.
			const isOwed = this.#owed?.run === run && this.#owed.ask.alert === ask?.alert;
			if (ask && !isOwed) await this.#ask(ask, settings, run);
		});
	}

	/** pi waits for an answer in the middle of a run. @param kind pi's word for the prompt, such as `select` */
	questionAsked(kind: string): void {
		const run = this.#run;
		if (run.startedMs === undefined) return;
		this.#enqueue(async () => {
			const settings = await this.#settings();
			// Without a user interface, pi gets its answer at once.
			if (this.#ports.headless && settings.headless) return;
			run.question = await this.#ask({ alert: "question", reason: `question: ${kind}` }, settings, run);
		});
	}

	questionAnswered(): void {
		const run = this.#run;
		this.#enqueue(async () => this.#withdrawQuestion(run));
	}

	/** The user sent a prompt, pressed a key or turned to the terminal. */
	userIsBack(): void {
		if (this.#ports.nested || this.#ports.headless) return;
		this.#dropOwed("withdrawn");
		this.#ports.parts().cycle.userIsBack();
	}

	/** Shows `alert` past every gate; a pattern that is `off` shows as its default. */
	async test(alert: Alert): Promise<TestResult> {
		const settings = await this.#settings();
		const silence = settings.enabled ? await this.#gate(alert, settings, this.#run) : "off";
		const { cycle, outcomes } = this.#ports.parts();
		outcomes.forgetFailures();
		await cycle.forgetOutage(settings);
		return { silence, ticket: cycle.show(this.#request({ alert, reason: "manual test" }, settings, true)) };
	}

	/** pi is ending and clears the bar as a whole: the question needs no clear of its own. */
	forgetQuestion(): void {
		this.#run.question = undefined;
	}

	/** The session has ended, so nobody will answer its question. Resolves when all events have been handled. Never rejects. */
	async end(): Promise<void> {
		this.#hasEnded = true;
		this.#dropOwed("withdrawn");
		this.questionAnswered();
		await this.idle();
	}

	/** Resolves when all events so far have been handled. Never rejects. */
	async idle(): Promise<void> {
		await this.#chain;
	}

	/** Whether this instance shows nothing, whatever pi does. */
	#isSilent(settings: Settings): boolean {
		return this.#ports.nested || (this.#ports.headless && !settings.headless);
	}

	/** In print mode only the end of the run matters. */
	#alertOn(settings: Settings): Settings["alertOn"] {
		return this.#ports.headless && settings.headless ? "agent_settled" : settings.alertOn;
	}

	#withdrawQuestion(run: Run): void {
		if (this.#owed?.run === run && this.#owed.ask.alert === "question") this.#dropOwed("withdrawn");
		if (run.question) this.#ports.parts().cycle.withdraw(run.question);
		run.question = undefined;
	}

	#enqueue(step: () => Promise<void>): void {
		this.#chain = this.#chain
			// pi awaits its handlers in microtasks, so ours must not run in one.
			.then(() => new Promise((resolve) => setImmediate(resolve)))
			.then(step)
			.catch((error: unknown) => this.#logBug(error));
	}

	async #settings(): Promise<Settings> {
		const loaded = await this.#ports.settings.load();
		this.#mutedUntilMs = loaded.mutedUntilMs;
		this.#ports.onSettings(loaded);
		return loaded.values;
	}

	async #ask(ask: Ask, settings: Settings, run: Run): Promise<Ticket | undefined> {
		if (!settings.enabled) return undefined;
		const gate = await this.#gate(ask.alert, settings, run);
		if (gate === undefined) return this.#show(ask, run, this.#request(ask, settings));
		this.#log(ask, { outcome: "skipped", gate });
		// The bar may be back in a minute. All other gates have let the alert through.
		if (gate === "backoff" && ask.alert !== "turn") this.#owe(ask, run);
		return undefined;
	}

	#show(ask: Ask, run: Run, request: AlertRequest): Ticket {
		const isVerdict = ask.alert !== "turn";
		// A new verdict replaces the one that is owed; a `turn` does not.
		if (isVerdict) this.#dropOwed("superseded");
		const ticket = this.#ports.parts().cycle.show(request);
		if (!isVerdict) return ticket;
		void ticket.decided.then(() => {
			const kind = ticket.failure?.kind;
			if (kind === "preempted" || kind === "unreachable") this.#owe(ask, run, request.owedSinceMs);
		});
		return ticket;
	}

	/** The bar was busy or absent: tries the verdict again until it is shown, replaced by a newer one, seen by its user, or too old. */
	#owe(ask: Ask, run: Run, sinceMs = this.#ports.clock.sinceBootMs()): void {
		const { clock, headless } = this.#ports;
		if (headless || this.#hasEnded) return;
		this.#dropOwed("superseded");
		const cancel = clock.after(OWED_TRY_EVERY_MS, () =>
			this.#enqueue(async () => {
				const settings = await this.#settings();
				const gate = settings.enabled ? await this.#gate(ask.alert, settings, run) : "off";
				// A newer verdict, or the user, may have come meanwhile.
				if (this.#owed?.cancel !== cancel) return;
				const isTooLate = clock.sinceBootMs() - sinceMs > OWED_FOR_MS;
				if (isTooLate || (gate !== undefined && gate !== "backoff")) return this.#dropOwed("withdrawn");
				this.#owed = undefined;
				const ticket = this.#show(ask, run, { ...this.#request(ask, settings), owedSinceMs: sinceMs });
				if (ask.alert === "question") run.question = ticket;
			}),
		);
		this.#owed = { ask, run, cancel };
	}

	#dropOwed(why: "superseded" | "withdrawn"): void {
		const owed = this.#owed;
		if (!owed) return;
		this.#owed = undefined;
		owed.cancel();
		this.#log(owed.ask, { outcome: "skipped", gate: why });
	}

	async #gate(alert: Alert, settings: Settings, run: Run): Promise<Gate | undefined> {
		const { nested, headless, clock } = this.#ports;
		const parts = this.#isSilent(settings) ? undefined : this.#ports.parts();
		const bar = await parts?.cycle.look(settings);
		const muted = this.#mutedUntilMs !== undefined && clock.now() < this.#mutedUntilMs;
		return gateOf(alert, {
			nested,
			headless: headless && !settings.headless,
			muted: muted || this.#ports.isMutedHere(),
			quiet: isQuietAt(settings.quietHours, new Date(clock.now())),
			focused: settings.onlyWhenUnfocused && this.#ports.isFocused(),
			runMs: run.startedMs === undefined ? Number.POSITIVE_INFINITY : clock.monotonicMs() - run.startedMs,
			minRunSeconds: settings.minRunSeconds,
			patternOff: settings[PATTERN_SETTING[alert]] === "off",
			backingOff: (parts?.outcomes.backingOff || bar?.backingOff) ?? false,
			inFlight: parts?.cycle.busy ?? false,
			sinceLastAlertMs: parts?.cycle.sinceLastAlertMs ?? Number.POSITIVE_INFINITY,
			minIntervalMs: settings.minIntervalMs,
			outranked: bar?.outranked ?? false,
		});
	}

	#request({ alert, reason }: Ask, settings: Settings, isManual = false): AlertRequest {
		const { addr, token, applicationName, display, priority } = settings;
		const fallbackPattern = settingField(PATTERN_SETTING[alert]).default as Pattern;
		const pattern = settings[PATTERN_SETTING[alert]];
		return {
			alert,
			reason,
			session: this.#ports.session,
			isManual,
			pattern: pattern === "off" ? fallbackPattern : pattern,
			fallbackPattern,
			target: { addr, token, applicationName, display, priority },
			holdSeconds: alert === "question" && !isManual ? settings.questionHoldSeconds : settings.holdSeconds,
			command: settings.command,
			clearOnShutdown: settings.clearOnShutdown,
		};
	}

	#log(ask: Ask, event: LogEvent): void {
		const { log, session, clock } = this.#ports;
		log.append(rowOf({ ...ask, session }, event, clock.now()));
	}

	#logBug(error: unknown): void {
		const message = `An event could not be handled: ${String(error)}`;
		this.#log({ alert: "turn", reason: "internal" }, { outcome: "error", kind: "unknown", error: message });
	}
}
