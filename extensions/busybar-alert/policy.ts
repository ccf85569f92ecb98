/**
 * The policy of one extension instance: turns pi's events into alerts or log rows, one after the other and off pi's path.
 * Imports nothing from pi.
 */

import type { DetachedAlerts } from "./after-pi/detached-alerts.ts";
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
	/** The process-wide parts; never asked for by a nested or headless instance, except for a manual test of its own. */
	readonly parts: () => { readonly cycle: AlertCycle; readonly outcomes: Outcomes };
	readonly session: string;
	readonly nested: boolean;
	/** Print or json mode. */
	readonly headless: boolean;
	/** The terminal that pi runs in has the focus, as far as is known. */
	readonly isFocused: () => boolean;
	/** `/busybar-alert-mute here` is in force. */
	readonly isMutedHere: () => boolean;
	/** For a pi that is about to end with its run and will not wait. */
	readonly detached: () => Pick<DetachedAlerts, "prepare" | "show">;
	/** Called whenever settings were read, with the same object as long as they did not change. */
	readonly onSettings: (loaded: LoadedSettings) => void;
}

/** What a manual test did. */
export interface TestResult {
	readonly ticket: Ticket;
	/** What would silence an automatic alert of this kind now: a gate, or that alerts are off. */
	readonly silence: Gate | "off" | undefined;
}

export class AlertPolicy {
	readonly #ports: PolicyPorts;
	#mutedUntilMs: number | undefined;
	#run = new Run();
	/** Events are worked off in the order they came; no link of the chain rejects. */
	#chain: Promise<void> = Promise.resolve();

	constructor(ports: PolicyPorts) {
		this.#ports = ports;
	}

	/** Returns at once, as do the other event methods. */
	runStarted(): void {
		// A retry starts the agent again within the same run.
		this.#run.startedMs ??= this.#ports.clock.monotonicMs();
		this.#enqueue(async () => {
			const settings = await this.#settings();
			const { nested, headless } = this.#ports;
			if (nested || !headless || !settings.headless || !settings.enabled) return;
			const verdicts = (["done", "error"] as const).map((alert) => this.#request({ alert, reason: "" }, settings));
			this.#ports.detached().prepare(verdicts);
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
		// What comes from now on belongs to the next run, even if this one's verdict is still on its way.
		this.#run = new Run();
		this.#enqueue(async () => {
			this.#withdrawQuestion(run);
			if (aborted) return;
			const settings = await this.#settings();
			const ask = run.settled(this.#alertOn(settings));
			if (ask) await this.#ask(ask, settings, run);
		});
	}

	/** pi waits for an answer in the middle of a run. @param kind pi's word for the prompt, such as `select` */
	questionAsked(kind: string): void {
		const run = this.#run;
		if (run.startedMs === undefined) return;
		this.#enqueue(async () => {
			const settings = await this.#settings();
			// A pi without a user interface gets its answer at once.
			if (this.#ports.headless && settings.headless) return;
			run.question = await this.#ask({ alert: "question", reason: `question: ${kind}` }, settings, run);
		});
	}

	questionAnswered(): void {
		const run = this.#run;
		this.#enqueue(async () => this.#withdrawQuestion(run));
	}

	/** A prompt was sent, a key pressed, the focus gained. */
	userIsBack(): void {
		if (!this.#isGated) this.#ports.parts().cycle.userIsBack();
	}

	/** Shows `alert` past every gate; a pattern that is `off` shows as its default. */
	async test(alert: Alert): Promise<TestResult> {
		const settings = await this.#settings();
		const silence = settings.enabled ? this.#gate(alert, settings, this.#run) : "off";
		const { cycle, outcomes } = this.#ports.parts();
		outcomes.forgetFailures();
		return { silence, ticket: cycle.show(this.#request({ alert, reason: "manual test" }, settings, true)) };
	}

	/** pi ends: whoever clears the bar then needs nothing of ours beside it. */
	forgetQuestion(): void {
		this.#run.question = undefined;
	}

	/** The session ends: nobody will answer its question any more. Resolves when all events are worked off. Never rejects. */
	async end(): Promise<void> {
		this.questionAnswered();
		await this.idle();
	}

	/** Resolves when all events so far are worked off. Never rejects. */
	async idle(): Promise<void> {
		await this.#chain;
	}

	get #isGated(): boolean {
		return this.#ports.nested || this.#ports.headless;
	}

	/** A pi that ends with its run has no use for alerts in the middle of it. */
	#alertOn(settings: Settings): Settings["alertOn"] {
		return this.#ports.headless && settings.headless ? "agent_settled" : settings.alertOn;
	}

	#withdrawQuestion(run: Run): void {
		if (run.question) this.#ports.parts().cycle.withdraw(run.question);
		run.question = undefined;
	}

	#enqueue(step: () => Promise<void>): void {
		this.#chain = this.#chain
			// pi awaits its handlers in microtasks: nothing of ours may run among them.
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
		const gate = this.#gate(ask.alert, settings, run);
		if (gate !== undefined) {
			this.#log(ask, { outcome: "skipped", gate });
			return undefined;
		}
		const request = this.#request(ask, settings);
		if (!this.#isGated) return this.#ports.parts().cycle.show(request);
		await this.#ports.detached().show(request);
		return undefined;
	}

	#gate(alert: Alert, settings: Settings, run: Run): Gate | undefined {
		const { nested, headless, clock } = this.#ports;
		const parts = this.#isGated ? undefined : this.#ports.parts();
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
			backingOff: parts?.outcomes.backingOff ?? false,
			inFlight: parts?.cycle.busy ?? false,
			sinceLastAlertMs: parts?.cycle.sinceLastAlertMs ?? Number.POSITIVE_INFINITY,
			minIntervalMs: settings.minIntervalMs,
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
