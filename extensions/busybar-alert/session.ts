/**
 * One bound pi session, from `session_start` to `session_shutdown`: its policy, its status line, its notices.
 * All it knows of pi is `SessionHost`, whose calls may throw once pi has replaced the session.
 */

import { join } from "node:path";
import { CommandLine } from "./busybar.ts";
import { systemClock } from "./clock.ts";
import { AlertLog } from "./log.ts";
import { AlertPolicy, type TestResult } from "./policy.ts";
import { type CycleParts, createCycleParts, partFrom, sharedCycleParts } from "./process-parts.ts";
import type { Alert } from "./settings.ts";
import { chosenPatterns, isOwnPicture, PATTERN_SETTING, PATTERN_SETTINGS, type Settings } from "./settings.ts";
import { type Changes, type LoadedSettings, SettingsFile } from "./settings-file.ts";
import { type AlertState, stateOf } from "./tell/state.ts";
import type { KnownFocus, TerminalPresence } from "./terminal/presence.ts";
import { isNested, joinSessions, type PiMode } from "./when/nesting.ts";

/** What a session needs of pi. */
export interface SessionHost {
	readonly mode: PiMode;
	readonly sessionId: string;
	readonly agentFolder: string;
	readonly cacheFolder: string;
	readonly setStatus: (text: string | undefined) => void;
	readonly notify: (message: string, level: "info" | "warning") => void;
	/** Starts watching whether the user is at the terminal. Absent if pi has no terminal of its own. */
	readonly watchTerminal?: (onPresence: () => void, known: KnownFocus | undefined) => TerminalPresence;
}

/** pi waits for shutdown handlers without limit, so a bar that hangs or a log on a dead network share must not hold it up. */
const BAR_LIMIT_MS = 1_000;
const LOG_LIMIT_MS = 500;

export class Session {
	readonly settings: SettingsFile;
	readonly log: AlertLog;
	readonly policy: AlertPolicy;
	readonly host: SessionHost;
	/** The parts that all sessions of this process share; undefined if this instance must not touch them. */
	readonly #shared: CycleParts | undefined;
	/** The parts of such an instance: for a manual test, or for an alert from print mode. */
	#own: CycleParts | undefined;
	#loaded: LoadedSettings | undefined;
	readonly #leaveSessions: () => void;
	readonly #presence: TerminalPresence | undefined;
	readonly #stopListening: () => void;
	#shownStatus: string | undefined;
	#cancelUnmute: () => void = () => undefined;
	#ended = false;

	constructor(host: SessionHost) {
		this.host = host;
		const headless = host.mode === "print" || host.mode === "json";
		const { others, leave } = joinSessions();
		this.#leaveSessions = leave;
		const nested = isNested(host.mode, process.env, process.pid) || (headless && others > 0);
		const shared = nested || headless ? undefined : sharedCycleParts(host.cacheFolder);
		this.#shared = shared;
		this.log = shared?.log ?? new AlertLog(host.cacheFolder);
		this.settings = new SettingsFile(join(host.agentFolder, "busybar-alert.json"));
		this.policy = new AlertPolicy({
			settings: this.settings,
			log: this.log,
			clock: systemClock,
			parts: () => this.parts,
			session: host.sessionId,
			nested,
			headless,
			isFocused: () => this.#presence?.focused === true,
			isMutedHere: () => shared?.isMutedHere === true,
			// Not awaited; it never rejects.
			prepare: (alerts, values) => void this.#getReady(alerts, values),
			onSettings: (loaded) => this.#useSettings(loaded),
		});
		this.#presence = shared && host.watchTerminal?.(() => this.policy.userIsBack(), shared.knownFocus);
		this.#stopListening =
			shared?.outcomes.listen({
				changed: () => this.#showStatus(),
				notice: (message) => this.#tell(message, "warning"),
			}) ?? (() => undefined);
		if (shared) setImmediate(() => void this.#prepare(shared));
	}

	/** The shared parts, or this instance's own. */
	get parts(): CycleParts {
		if (this.#shared) return this.#shared;
		this.#own ??= createCycleParts(this.host.cacheFolder, this.log);
		return this.#own;
	}

	/** Shows an alert past every gate. Resolves when the bar has taken or refused it. */
	async test(alert: Alert): Promise<TestResult> {
		const result = await this.policy.test(alert);
		await result.ticket.decided;
		return result;
	}

	/** @param loaded undefined before the settings have been read */
	state(loaded: LoadedSettings | undefined): AlertState {
		const { outcomes, isMutedHere } = this.parts;
		const { alerting, problem } = outcomes;
		const facts = {
			enabled: loaded?.values.enabled !== false,
			mutedUntilMs: loaded?.mutedUntilMs,
			isMutedHere,
			alerting: alerting?.reason,
			problem,
		};
		return stateOf(facts, systemClock.now());
	}

	/** The settings as they are now. */
	async load(): Promise<LoadedSettings> {
		const loaded = await this.settings.load();
		this.#useSettings(loaded);
		return loaded;
	}

	/** Saves the changes and applies them at once. Rejects with a sentence for the user; the old values then still apply. */
	async save(changes: Changes): Promise<LoadedSettings> {
		await this.#refuseMissing(changes);
		const loaded = await this.settings.save(changes);
		this.#useSettings(loaded);
		return loaded;
	}

	/** Mutes only this pi. Not saved. */
	muteHere(muted: boolean): void {
		this.parts.isMutedHere = muted;
		if (muted) this.parts.cycle.dismiss();
		this.#showStatus();
	}

	/**
	 * Clears what is lit (in print mode: draws what is still to be shown) and writes the log. What takes too long is left to a
	 * separate process. Never rejects.
	 */
	async end(isQuit: boolean): Promise<void> {
		this.#ended = true;
		this.#cancelUnmute();
		this.#leaveSessions();
		this.#stopListening();
		if (this.#shared && this.#presence) this.#shared.knownFocus = this.#presence.known;
		this.#presence?.stop();
		// Otherwise an open question would be cleared separately.
		if (isQuit && this.#shared) this.policy.forgetQuestion();
		const idle = this.policy.end();
		if (isQuit && this.#shared) {
			await within(BAR_LIMIT_MS, this.#shared.cycle.end());
			partFrom(this.#shared.cycle, "now");
		} else if (isQuit) {
			// By then it is known whether the end of the run asks for an alert.
			await within(
				BAR_LIMIT_MS,
				idle.then(() => this.#own?.cycle.decided()),
			);
			if (this.#own) partFrom(this.#own.cycle, "after_hold");
			this.#own?.endProcesses();
		}
		await within(
			LOG_LIMIT_MS,
			idle.then(() => this.log.flush()),
		);
	}

	/** Checks the user's own CLI and pictures when they are set, while somebody is there to read what is wrong. */
	async #refuseMissing(changes: Changes): Promise<void> {
		const { values } = await this.settings.load();
		const { whichCli, assets } = this.parts;
		const command = typeof changes.command === "string" ? changes.command : values.command;
		const pictures = PATTERN_SETTINGS.map((name) => changes[name]).filter(
			(value) => typeof value === "string" && isOwnPicture(value),
		);
		const isOwnCommand = command === changes.command && command !== "" && command !== "bundled";
		if (!isOwnCommand && pictures.length === 0) return;
		const choice = await whichCli.choose(command);
		if (!choice.ok) throw new Error(choice.failure.message);
		for (const path of pictures as string[]) {
			const state = await assets.state(path, values.display, new CommandLine(choice.cli));
			if (typeof state === "object") throw new Error(state.message);
		}
	}

	#useSettings(loaded: LoadedSettings): void {
		if (loaded === this.#loaded || this.#ended) return;
		const isChange = this.#loaded !== undefined;
		this.#loaded = loaded;
		const shared = this.#shared;
		if (!shared) return;
		if (isChange) {
			shared.outcomes.forgetFailures();
			void shared.cycle.forgetOutage(loaded.values);
		}
		this.#cancelUnmute();
		const muteLeftMs = (loaded.mutedUntilMs ?? 0) - systemClock.now();
		if (muteLeftMs > 0 && Number.isFinite(muteLeftMs)) {
			this.#cancelUnmute = systemClock.after(muteLeftMs, () => this.#showStatus());
		}
		if (isChange && (!loaded.values.enabled || muteLeftMs > 0)) shared.cycle.dismiss();
		this.#presence?.wantReports(loaded.values.enabled && loaded.values.onlyWhenUnfocused);
		this.#showStatus();
		const untold = loaded.warnings.filter((warning) => !shared.toldWarnings.has(warning));
		for (const warning of untold) shared.toldWarnings.add(warning);
		if (untold.length > 0) this.#tell(untold.join("\n"), "warning");
	}

	/** Does in advance what the first alert would have to wait for. Never rejects. */
	async #prepare({ cycle, notices, whichCli, assets }: CycleParts): Promise<void> {
		const { values } = await this.load();
		const { enabled, addr, command, display } = values;
		if (!enabled || this.#ended) return;
		if (await notices.welcome()) {
			this.#tell(
				`BUSY Bar alerts are on, for the bar at ${addr}. /busybar-alert-test shows one; /px changes the address and the ` +
					"rest; /busybar-alert-toggle switches them off.",
				"info",
			);
		}
		const choice = await whichCli.choose(command);
		if (!choice.ok) return;
		await cycle.clearLeftOvers(choice.cli, values);
		for (const pattern of chosenPatterns(values)) {
			await assets.check(pattern, display, new CommandLine(choice.cli));
		}
	}

	/** Prepares the CLI and the animations of these alerts. Never rejects. */
	async #getReady(alerts: readonly Alert[], values: Settings): Promise<void> {
		const { whichCli, assets } = this.parts;
		const choice = await whichCli.choose(values.command);
		if (!choice.ok) return;
		const patterns = alerts.map((alert) => values[PATTERN_SETTING[alert]]).filter((pattern) => pattern !== "off");
		for (const pattern of patterns) await assets.ensure(pattern, values.display, new CommandLine(choice.cli));
	}

	#showStatus(): void {
		const shared = this.#shared;
		if (!shared) return;
		const { footer, isProblem } = this.state(this.#loaded);
		const wanted = this.#loaded?.values.statusLine ?? "always";
		const isShown = wanted === "always" || (wanted === "problems" && isProblem);
		const status = isShown ? `busybar:${footer}` : undefined;
		if (status === this.#shownStatus) return;
		this.#shownStatus = status;
		this.#guarded(() => this.host.setStatus(status));
	}

	#tell(message: string, level: "info" | "warning"): void {
		this.#guarded(() => this.host.notify(message, level));
	}

	#guarded(call: () => void): void {
		if (this.#ended) return;
		try {
			call();
		} catch {
			// pi has just replaced the session, and its objects throw. The next instance shows the current state.
		}
	}
}

/** Stops waiting at the limit. The promise must not reject. */
async function within(limitMs: number, ending: Promise<unknown>): Promise<void> {
	const { promise: limit, resolve } = Promise.withResolvers<void>();
	const timer = setTimeout(resolve, limitMs);
	await Promise.race([ending, limit]);
	clearTimeout(timer);
}
