/** What a user can run: the slash commands, and the same things as actions in /px. */

import { fileURLToPath } from "node:url";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { PiActionChoice, PiExtension } from "../_shared/registry.ts";
import { say } from "../_shared/say.ts";
import { CommandLine } from "./busybar.ts";
import { execProcess } from "./cli/exec.ts";
import type { Session } from "./session.ts";
import { ALERTS, type Alert, chosenPatterns, SETTING_NAMES, settingField, settingsSchema } from "./settings.ts";
import type { LoadedSettings } from "./settings-file.ts";
import { doctorText, examine, linuxKernel } from "./tell/doctor.ts";
import { lastText, logText, statsText } from "./tell/report.ts";
import { muteEnd, muteText } from "./when/mute.ts";

interface Command {
	/** What follows `/busybar-alert-`; empty for `/busybar-alert` itself, undefined for an action that only /px has. */
	readonly suffix: string | undefined;
	readonly id: string;
	readonly label: string;
	readonly description: string;
	/** Completed in the terminal, and offered in /px. */
	readonly choices: readonly PiActionChoice[];
	/** Resolves to what the user reads; rejects with a sentence. */
	run(argument: string, session: Session): Promise<string>;
}

const DEFAULT_LOG_ROWS = 10;
const MOST_LOG_ROWS = 200;

const COMMANDS: readonly Command[] = [
	{
		suffix: "",
		id: "state",
		label: "State",
		description: "Show the state, the last alert and the last skipped alert",
		choices: [],
		run: async (argument, session) => {
			refuseArgument(argument);
			return `${stateText(await session.load(), session)}\n${lastText(await session.log.read())}`;
		},
	},
	{
		suffix: "test",
		id: "test",
		label: "Test alert",
		description: "Show an alert on the BUSY Bar now",
		choices: [
			{ args: "turn", label: "pi used a tool and carries on" },
			{ args: "done", label: "the run has finished" },
			{ args: "error", label: "the run ended in an error" },
			{ args: "question", label: "pi is waiting for your answer" },
		] satisfies { args: Alert; label: string }[],
		run: async (argument, session) => {
			const alert = oneOf("alert", ALERTS, argument, "turn");
			const { ticket, silence } = await session.test(alert);
			if (ticket.failure) throw new Error(ticket.failure.message);
			if (ticket.status === "superseded") return "A newer alert replaced this one.";
			const { target, holdSeconds } = ticket.request;
			const sent = `Alert sent to ${target.addr} (app ${target.applicationName}, ${target.display}, hold ${holdSeconds}s).`;
			return silence ? `${sent} An automatic alert would be skipped now: ${silence}.` : sent;
		},
	},
	{
		suffix: "toggle",
		id: "toggle",
		label: "Turn on or off",
		description: "Turn BUSY Bar alerts on or off, for all pis",
		choices: [
			{ args: "", label: "on if they are off, off if they are on" },
			{ args: "on", label: "on" },
			{ args: "off", label: "off" },
		],
		run: async (argument, session) => {
			const { values } = await session.load();
			const wanted = oneOf("argument", ["on", "off"], argument, values.enabled ? "off" : "on");
			await session.save({ enabled: wanted === "on" });
			return `BUSY Bar alerts are ${wanted}.`;
		},
	},
	{
		suffix: "mute",
		id: "mute",
		label: "Mute",
		description: "Mute alerts for a while, in this pi only, or until you unmute",
		choices: [
			{ args: "", label: "until I unmute" },
			{ args: "30m", label: "for 30 minutes" },
			{ args: "2h", label: "for 2 hours" },
			{ args: "here", label: "in this pi only" },
			{ args: "off", label: "unmute" },
		],
		run: async (argument, session) => {
			const nowMs = Date.now();
			if (argument === "here") session.muteHere(true);
			else if (argument === "off") {
				session.muteHere(false);
				await session.save({ mutedUntilMs: undefined });
			} else {
				const endMs = argument === "" ? Number.POSITIVE_INFINITY : muteEnd(argument, nowMs);
				if (endMs === undefined) throw new Error(notMuted(argument));
				await session.save({ mutedUntilMs: endMs });
			}
			const { mutedUntilMs } = await session.load();
			return `BUSY Bar alerts are ${muteText(mutedUntilMs, session.parts.isMutedHere, nowMs) ?? "not muted"}.`;
		},
	},
	{
		suffix: "stats",
		id: "stats",
		label: "Statistics",
		description: "Count alerts, skipped alerts by gate, and errors by kind",
		choices: [],
		run: async (argument, session) => {
			refuseArgument(argument);
			return statsText(await session.log.read());
		},
	},
	{
		suffix: "log",
		id: "log",
		label: "Log",
		description: "Show the last rows of the log",
		choices: [
			{ args: "", label: "the last 10" },
			{ args: "50", label: "the last 50" },
			{ args: "200", label: "the last 200" },
		],
		run: async (argument, session) => {
			const count = argument === "" ? DEFAULT_LOG_ROWS : Number(argument);
			if (!Number.isInteger(count) || count < 1 || count > MOST_LOG_ROWS) {
				throw new Error(`"${argument}" is not a number of rows. Use a whole number from 1 to ${MOST_LOG_ROWS}.`);
			}
			return logText(await session.log.read(), count);
		},
	},
	{
		suffix: "doctor",
		id: "doctor",
		label: "Doctor",
		description: "Check everything that alerts depend on, and say what to fix",
		choices: [],
		run: async (argument, session) => {
			refuseArgument(argument);
			const { whichCli, assets } = session.parts;
			const { cacheFolder } = session.host;
			const ports = { exec: execProcess, whichCli, assets, cacheFolder, env: process.env, kernel: linuxKernel };
			return doctorText(await examine(await session.load(), ports));
		},
	},
	{
		suffix: undefined,
		id: "prepare",
		label: "Prepare assets",
		description: "Rebuild the animations of the chosen patterns for the chosen display",
		choices: [],
		run: async (argument, session) => {
			refuseArgument(argument);
			const { values } = await session.load();
			const choice = await session.parts.whichCli.choose(values.command);
			if (!choice.ok) throw new Error(choice.failure.message);
			const patterns = chosenPatterns(values);
			for (const pattern of patterns) {
				const made = await session.parts.assets.remake(pattern, values.display, new CommandLine(choice.cli));
				if (!made.ok) throw new Error(made.failure.message);
			}
			if (patterns.length === 0) return "Nothing to rebuild: all patterns are off.";
			return `Rebuilt for the ${values.display} display: ${patterns.join(", ")}.`;
		},
	},
];

/** @param session undefined before the session has started */
export function registerCommands(pi: ExtensionAPI, session: () => Session | undefined): void {
	for (const { suffix, description, choices, run } of COMMANDS) {
		if (suffix === undefined) continue;
		pi.registerCommand(suffix === "" ? "busybar-alert" : `busybar-alert-${suffix}`, {
			description,
			getArgumentCompletions: (prefix) => {
				const fitting = choices.filter(({ args }) => args !== "" && args.startsWith(prefix));
				// Offering what is already typed would take the Enter that should send it.
				if (fitting.every(({ args }) => args === prefix)) return null;
				return fitting.map(({ args, label }) => ({ value: args, label: args, description: label }));
			},
			handler: async (args, ctx) => {
				const running = session();
				if (!running) return;
				try {
					say(ctx, await run(args.trim(), running), "info");
				} catch (error) {
					say(ctx, error instanceof Error ? error.message : String(error), "warning");
				}
			},
		});
	}
}

/** What this extension offers in /px. */
export function piExtension(session: () => Session | undefined): PiExtension {
	const running = (): Session => {
		const found = session();
		if (!found) throw new Error("The session has not started yet. Try again in a moment.");
		return found;
	};
	return {
		id: "busybar-alert",
		name: "BUSY Bar alert",
		description: "Flashes your BUSY Bar when a turn ends",
		actions: COMMANDS.map(({ id, label, description, choices, run }) => ({
			id,
			label,
			description,
			choices,
			run: (args) => run(args.trim(), running()),
		})),
		settings: {
			schema: settingsSchema,
			load: async () => inForce(await running().load()),
			save: async (changes) => inForce(await running().save(changes)),
		},
		docs: fileURLToPath(new URL("./README.md", import.meta.url)),
	};
}

function inForce(loaded: LoadedSettings) {
	const notes: Record<string, string> = {};
	for (const name of SETTING_NAMES) {
		const variable = settingField(name).environment;
		if (loaded.overruled.includes(name)) notes[name] = `Overrides the environment variable ${variable}.`;
		else if (loaded.sources[name] === "environment") notes[name] = `From the environment variable ${variable}.`;
	}
	return { values: loaded.values, notes };
}

function stateText(loaded: LoadedSettings, session: Session): string {
	const { addr, applicationName, display } = loaded.values;
	return `BUSY Bar alerts: ${session.state(loaded).sentence}. Bar: ${addr} (app ${applicationName}, ${display}).`;
}

function oneOf<T extends string>(what: string, choices: readonly T[], argument: string, preset: T): T {
	if (argument === "") return preset;
	const found = choices.find((choice) => choice === argument);
	if (found !== undefined) return found;
	throw new Error(`Unknown ${what} "${argument}". Use ${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}.`);
}

function refuseArgument(argument: string): void {
	if (argument !== "") throw new Error(`This takes no argument. Leave out "${argument}".`);
}

function notMuted(duration: string): string {
	if (/^\d+$/.test(duration)) return `"${duration}" needs a unit, such as ${duration}m.`;
	return `Cannot mute for "${duration}". Use 30m, 2h (at most a week), here, off, or nothing.`;
}
