/** What the user can start: the slash commands, and the same things as actions in /px. */

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
	/** Behind `/busybar-alert-`; empty for `/busybar-alert` itself, undefined for an action of /px alone. */
	readonly suffix: string | undefined;
	readonly id: string;
	readonly label: string;
	readonly description: string;
	/** Completed in the terminal, and picked from in /px. */
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
		description: "Show the state, the last alert and the last silence",
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
			{ args: "turn", label: "a working turn ended" },
			{ args: "done", label: "the run is over" },
			{ args: "error", label: "the run ended in an error" },
			{ args: "question", label: "pi waits for your answer" },
		] satisfies { args: Alert; label: string }[],
		run: async (argument, session) => {
			const alert = oneOf(ALERTS, argument, "turn");
			const { ticket, silence } = await session.test(alert);
			if (ticket.failure) throw new Error(ticket.failure.message);
			if (ticket.status === "superseded") return "Another alert took this one's place.";
			const { target, holdSeconds } = ticket.request;
			const sent = `Alert sent to ${target.addr} (app ${target.applicationName}, ${target.display}, hold ${holdSeconds}s).`;
			return silence ? `${sent} An automatic one would be silent now: ${silence}.` : sent;
		},
	},
	{
		suffix: "toggle",
		id: "toggle",
		label: "Switch on or off",
		description: "Switch BUSY Bar alerts on or off",
		choices: [
			{ args: "", label: "on if off, off if on" },
			{ args: "on", label: "on" },
			{ args: "off", label: "off" },
		],
		run: async (argument, session) => {
			const { values } = await session.load();
			const wanted = oneOf(["on", "off"], argument, values.enabled ? "off" : "on");
			await session.save({ enabled: wanted === "on" });
			return `BUSY Bar alerts are ${wanted}.`;
		},
	},
	{
		suffix: "mute",
		id: "mute",
		label: "Mute",
		description: "Mute for a time, in this pi only or until you lift it",
		choices: [
			{ args: "", label: "until I lift it" },
			{ args: "30m", label: "for 30 minutes" },
			{ args: "2h", label: "for 2 hours" },
			{ args: "here", label: "in this pi only" },
			{ args: "off", label: "lift it" },
		],
		run: async (argument, session) => {
			const nowMs = Date.now();
			if (argument === "here") session.muteHere(true);
			else if (argument === "off") {
				session.muteHere(false);
				await session.save({ mutedUntilMs: undefined });
			} else {
				const endMs = argument === "" ? Number.POSITIVE_INFINITY : muteEnd(argument, nowMs);
				if (endMs === undefined) {
					throw new Error(`"${argument}" is no time to mute for. Use 30m, 2h (a week at most), here, off, or nothing.`);
				}
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
		description: "Count alerts, silences by gate and errors by kind",
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
				throw new Error(`"${argument}" is no number of rows. Use a whole number from 1 to ${MOST_LOG_ROWS}.`);
			}
			return logText(await session.log.read(), count);
		},
	},
	{
		suffix: "doctor",
		id: "doctor",
		label: "Doctor",
		description: "Look at everything an alert depends on, and say what to do",
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
		description: "Make the animations of the chosen patterns anew for the chosen display",
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
			return `Prepared for the ${values.display} display: ${patterns.join(", ") || "nothing, all patterns are off"}.`;
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
				// An offer of what is typed already would take the Enter that is to send it.
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

/** What /px shows of this extension. */
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
		if (loaded.overruled.includes(name)) notes[name] = `Overrules the environment variable ${variable}.`;
		else if (loaded.sources[name] === "environment") notes[name] = `From the environment variable ${variable}.`;
	}
	return { values: loaded.values, notes };
}

function stateText(loaded: LoadedSettings, session: Session): string {
	const { addr, applicationName, display } = loaded.values;
	return `BUSY Bar alerts: ${session.state(loaded).sentence}, for ${addr} (app ${applicationName}, ${display}).`;
}

function oneOf<T extends string>(choices: readonly T[], argument: string, preset: T): T {
	if (argument === "") return preset;
	const found = choices.find((choice) => choice === argument);
	if (found === undefined) throw new Error(`"${argument}" is none of ${choices.join(", ")}.`);
	return found;
}

function refuseArgument(argument: string): void {
	if (argument !== "") throw new Error(`"${argument}" is too much: this takes no argument.`);
}
