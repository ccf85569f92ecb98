/** The slash commands: what they do and say. Touches pi's command registration and, without a user interface, the standard streams. */

import { writeSync } from "node:fs";
import type { ExtensionAPI, ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import type { Alert } from "./alert.ts";
import type { AlertLog } from "./log.ts";
import type { TestResult } from "./policy.ts";
import type { LoadedSettings, SettingsFile } from "./settings.ts";
import { statsOf, statsText } from "./stats.ts";

/** What the commands act on in the session that runs. */
export interface CommandTarget {
	readonly settings: SettingsFile;
	readonly log: AlertLog;
	/** Shows an alert past every gate and resolves once the bar has it, or has refused it. */
	readonly test: (alert: Alert) => Promise<TestResult>;
	readonly onSettings: (loaded: LoadedSettings) => void;
}

const ALERTS = ["turn", "done", "error"] as const satisfies readonly Alert[];

/** @param target undefined before the session has started */
export function registerCommands(pi: ExtensionAPI, target: () => CommandTarget | undefined): void {
	const command = (
		name: string,
		description: string,
		choices: readonly string[],
		run: (argument: string, session: CommandTarget) => Promise<Answer>,
	) =>
		pi.registerCommand(name, {
			description,
			getArgumentCompletions: (prefix) => {
				const fitting = choices.filter((choice) => choice.startsWith(prefix));
				return fitting.length > 0 ? fitting.map((value) => ({ value, label: value })) : null;
			},
			handler: async (args, ctx) => {
				const session = target();
				if (!session) return;
				const argument = args.trim();
				try {
					if (argument !== "" && !choices.includes(argument)) {
						answer(
							ctx,
							problem(
								`/${name} does not know "${argument}". Use ${choices.length > 0 ? choices.join(", ") : "no argument"}.`,
							),
						);
					} else answer(ctx, await run(argument, session));
				} catch (error) {
					answer(ctx, problem(error instanceof Error ? error.message : String(error)));
				}
			},
		});

	command("busybar-alert-test", "Show an alert on the BUSY Bar now", ALERTS, async (argument, session) => {
		const alert = ALERTS.find((candidate) => candidate === argument) ?? "turn";
		const { ticket, gate } = await session.test(alert);
		if (ticket.failure) return problem(ticket.failure.message);
		if (ticket.status === "superseded") return { text: "Another alert took this one's place.", level: "info" };
		const { target: to, holdSeconds } = ticket.request;
		const sent = `Alert sent to ${to.addr} (app ${to.applicationName}, ${to.display}, hold ${holdSeconds}s).`;
		return { text: gate ? `${sent} An automatic one would be silent now: ${gate}.` : sent, level: "info" };
	});

	command("busybar-alert-toggle", "Switch BUSY Bar alerts on or off", ["on", "off"], async (argument, session) => {
		const { values } = await session.settings.load();
		const enabled = argument === "" ? !values.enabled : argument === "on";
		const loaded = await session.settings.save({ enabled });
		session.onSettings(loaded);
		return { text: `BUSY Bar alerts are ${enabled ? "on" : "off"}.`, level: "info" };
	});

	command("busybar-alert-stats", "Count alerts, silences and errors", [], async (_, session) => ({
		text: statsText(statsOf(await session.log.read())),
		level: "info",
	}));
}

interface Answer {
	readonly text: string;
	readonly level: "info" | "warning";
}

const problem = (text: string): Answer => ({ text, level: "warning" });

function answer(ctx: ExtensionCommandContext, { text, level }: Answer): void {
	if (ctx.hasUI) ctx.ui.notify(text, level);
	// pi redirects stdout in print mode, and in JSON mode stdout is the event stream.
	else writeSync(ctx.mode === "print" ? 1 : 2, `${text}\n`);
}
