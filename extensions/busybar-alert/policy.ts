/**
 * The policy of one extension instance: turns pi's events into alerts or log rows, one after the other and off pi's path.
 * Imports nothing from pi.
 */

import type { Alert, AlertCycle, AlertRequest, Ticket } from "./alert.ts";
import type { Clock } from "./clock.ts";
import { type Gate, gateOf } from "./gates.ts";
import type { AlertLog } from "./log.ts";
import { type Ask, Run, type Turn } from "./run.ts";
import {
	type LoadedSettings,
	PATTERNS,
	type Pattern,
	type Settings,
	type SettingsFile,
	settingField,
} from "./settings.ts";

export interface PolicyPorts {
	readonly settings: Pick<SettingsFile, "load">;
	readonly log: Pick<AlertLog, "append">;
	readonly clock: Clock;
	/** The process-wide cycle; never asked for by a nested or headless instance, except for a manual test of its own. */
	readonly cycle: () => AlertCycle;
	readonly session: string;
	readonly nested: boolean;
	readonly headless: boolean;
	/** Called whenever settings were read, with the same object as long as they did not change. */
	readonly onSettings: (loaded: LoadedSettings) => void;
}

/** What a manual test did. */
export interface TestResult {
	readonly ticket: Ticket;
	/** The gate that would silence an automatic alert of this kind now. */
	readonly gate: Gate | undefined;
}

const PATTERN_SETTING = { turn: "pattern", done: "patternDone", error: "patternError" } as const satisfies Record<
	Alert,
	keyof Settings
>;

export class AlertPolicy {
	readonly #ports: PolicyPorts;
	#run = new Run();
	/** Events are worked off in the order they came; no link of the chain rejects. */
	#chain: Promise<void> = Promise.resolve();

	constructor(ports: PolicyPorts) {
		this.#ports = ports;
	}

	/** Returns at once, as do the other two. */
	runStarted(): void {
		this.#enqueue(async () => {
			await this.#settings();
		});
	}

	/** @param aborting the run's signal is aborted: the user stopped it, whatever the turn itself says */
	turnEnded(turn: Turn, aborting: boolean): void {
		const run = this.#run;
		const ask = run.turnEnded(turn);
		this.#enqueue(async () => {
			const settings = await this.#settings();
			if (!ask || aborting || settings.alertOn !== "turn_end") return;
			const ticket = this.#ask(ask, settings);
			if (ticket) run.accepted(ticket);
		});
	}

	settled(aborted: boolean): void {
		const run = this.#run;
		// What comes from now on belongs to the next run, even if this one's verdict is still on its way.
		this.#run = new Run();
		if (aborted) return;
		this.#enqueue(async () => {
			const settings = await this.#settings();
			const ask = run.settled(settings.alertOn);
			if (ask) this.#ask(ask, settings);
		});
	}

	/** Shows `alert` past every gate; a pattern that is `off` shows as its default. */
	async test(alert: Alert): Promise<TestResult> {
		const settings = await this.#settings();
		const gate = this.#gate(alert, settings);
		const cycle = this.#ports.cycle();
		cycle.forgetFailures();
		return { gate, ticket: cycle.show(this.#request({ alert, reason: "manual test" }, settings)) };
	}

	/** Resolves when all events so far are worked off. Never rejects. */
	async idle(): Promise<void> {
		await this.#chain;
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
		this.#ports.onSettings(loaded);
		return loaded.values;
	}

	#ask(ask: Ask, settings: Settings): Ticket | undefined {
		if (!settings.enabled) return undefined;
		const gate = this.#gate(ask.alert, settings);
		if (gate === undefined) return this.#ports.cycle().show(this.#request(ask, settings));
		this.#ports.log.append({ ...this.#origin(ask), outcome: "skipped", gate });
		return undefined;
	}

	#gate(alert: Alert, settings: Settings): Gate | undefined {
		const { nested, headless } = this.#ports;
		const cycle = nested || headless ? undefined : this.#ports.cycle();
		return gateOf(alert, {
			nested,
			headless,
			patternOff: settings[PATTERN_SETTING[alert]] === "off",
			backingOff: cycle?.backingOff ?? false,
			inFlight: cycle?.busy ?? false,
			sinceLastAlertMs: cycle?.sinceLastAlertMs ?? Number.POSITIVE_INFINITY,
			minIntervalMs: settings.minIntervalMs,
		});
	}

	#request({ alert, reason }: Ask, settings: Settings): AlertRequest {
		const { addr, token, applicationName, display, priority } = settings;
		return {
			alert,
			reason,
			session: this.#ports.session,
			pattern: patternOf(alert, settings),
			target: { addr, token, applicationName, display, priority },
			holdSeconds: settings.holdSeconds,
			command: settings.command,
			clearOnShutdown: settings.clearOnShutdown,
		};
	}

	#origin({ alert, reason }: Ask) {
		return {
			ts: new Date(this.#ports.clock.now()).toISOString(),
			reason,
			alert,
			pid: process.pid,
			session: this.#ports.session,
		};
	}

	#logBug(error: unknown): void {
		this.#ports.log.append({
			...this.#origin({ alert: "turn", reason: "internal" }),
			outcome: "error",
			kind: "unknown",
			error: `An event could not be handled: ${String(error)}`,
		});
	}
}

function patternOf(alert: Alert, settings: Settings): Pattern {
	const name = PATTERN_SETTING[alert];
	const chosen = settings[name];
	const shown = chosen === "off" ? settingField(name).default : chosen;
	return PATTERNS.find((pattern) => pattern === shown) ?? "spinner";
}
