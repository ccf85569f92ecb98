/**
 * Puts the parts of a pi process together, its one alert cycle among them. pi runs the factory again on /new, /resume, /fork
 * and /reload; an alert on the bar then finishes by itself, and the next instance finds it here. Touches `globalThis` and
 * the exit of the process.
 */

import packageJson from "../../package.json" with { type: "json" };
import { partingSteps, runLater } from "./after-pi/detached-steps.ts";
import { AlertCycle } from "./alert.ts";
import { ChildProcesses, execProcess } from "./cli/exec.ts";
import { WhichCli } from "./cli/which-cli.ts";
import { systemClock } from "./clock.ts";
import { Assets } from "./cycle/assets.ts";
import { FileBarStore } from "./cycle/bar-store.ts";
import { AlertLog } from "./log.ts";
import { SystemProcesses } from "./processes.ts";
import { NoticeMemory } from "./tell/notices.ts";
import { Outcomes } from "./tell/outcomes.ts";
import type { KnownFocus } from "./terminal/presence.ts";

/** What outlives an extension instance. Holds no object of pi's. */
export interface CycleParts {
	readonly cycle: AlertCycle;
	readonly outcomes: Outcomes;
	readonly log: AlertLog;
	readonly notices: NoticeMemory;
	readonly whichCli: WhichCli;
	readonly assets: Assets;
	/** Ends the running commands and removes their unfinished files, at pi's end. */
	readonly endProcesses: () => void;
	/** Setting warnings that this process has shown. */
	readonly toldWarnings: Set<string>;
	/** `/busybar-alert-mute here`. */
	isMutedHere: boolean;
	/** Kept for the next instance, because the terminal reports only changes. */
	knownFocus: KnownFocus | undefined;
}

/** After an update and a /reload, old and new code never share an object. */
const KEY = Symbol.for(`pi-busybar-alert/cycle/${packageJson.version}`);

/** The process's parts, made on first use. */
export function sharedCycleParts(cacheFolder: string): CycleParts {
	const holder = globalThis as { [KEY]?: CycleParts };
	const known = holder[KEY];
	if (known) return known;
	const parts = createCycleParts(cacheFolder);
	holder[KEY] = parts;
	// A terminal closed under an idle pi skips `session_shutdown`; this still runs.
	process.on("exit", () => {
		partFrom(parts.cycle, "now");
		parts.endProcesses();
		parts.log.flushAtExit();
	});
	return parts;
}

/** @param log the session's own log, if only one session uses these parts */
export function createCycleParts(cacheFolder: string, log = new AlertLog(cacheFolder)): CycleParts {
	const children = new ChildProcesses();
	const { exec } = children;
	const clock = systemClock;
	const notices = new NoticeMemory(cacheFolder);
	const whichCli = new WhichCli(exec, cacheFolder);
	const assets = new Assets(exec, cacheFolder);
	const outcomes = new Outcomes({ log, notices, clock });
	const bars = new FileBarStore(cacheFolder, clock);
	const processes = new SystemProcesses(execProcess);
	const cycle = new AlertCycle({ exec, clock, outcomes, whichCli, assets, bars, processes, env: process.env });
	return {
		cycle,
		outcomes,
		log,
		notices,
		whichCli,
		assets,
		endProcesses: () => {
			children.endAll();
			assets.abandon();
		},
		toldWarnings: new Set(),
		isMutedHere: false,
		knownFocus: undefined,
	};
}

/** Leaves what is still to be done at the bar to a separate process. Does not wait. */
export function partFrom(cycle: AlertCycle, when: "now" | "after_hold"): void {
	cycle.part(when, (parting) => runLater(partingSteps(parting), parting.cli));
}
