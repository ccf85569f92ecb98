/**
 * The one alert cycle of a pi process. pi runs the factory again on /new, /resume, /fork and /reload: an alert that is on
 * the bar then finishes by itself, and the next instance finds it here. Touches `globalThis` and the process's exit.
 */

import packageJson from "../../package.json" with { type: "json" };
import { DetachedAlerts } from "./after-pi/detached-alerts.ts";
import { partingStep, runLater } from "./after-pi/detached-steps.ts";
import { AlertCycle } from "./alert.ts";
import { ChildProcesses, type ExecFn } from "./cli/exec.ts";
import { WhichCli } from "./cli/which-cli.ts";
import { systemClock } from "./clock.ts";
import { Assets } from "./cycle/assets.ts";
import { AlertLog } from "./log.ts";
import { NoticeMemory } from "./tell/notices.ts";
import type { KnownFocus } from "./terminal/presence.ts";

/** What outlives an extension instance; holds nothing of pi's. */
export interface CycleParts {
	readonly cycle: AlertCycle;
	readonly log: AlertLog;
	readonly notices: NoticeMemory;
	readonly whichCli: WhichCli;
	readonly assets: Assets;
	/** Ends what still runs, and removes what it has half made. For the moment when pi ends. */
	readonly endProcesses: () => void;
	/** Setting warnings that this process has shown. */
	readonly toldWarnings: Set<string>;
	/** `/busybar-alert-mute here`. */
	isMutedHere: boolean;
	/** For the next instance: the terminal reports changes only. */
	knownFocus: KnownFocus | undefined;
}

/** What shows the alerts of a pi that will not wait. */
export interface DetachedParts extends Pick<CycleParts, "endProcesses"> {
	readonly alerts: DetachedAlerts;
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

export function createCycleParts(cacheFolder: string): CycleParts {
	const children = new ChildProcesses();
	const { exec } = children;
	const clock = systemClock;
	const log = new AlertLog(cacheFolder);
	const notices = new NoticeMemory(cacheFolder);
	const whichCli = new WhichCli(exec, cacheFolder);
	const assets = new Assets(exec, cacheFolder);
	const cycle = new AlertCycle({ exec, clock, log, notices, whichCli, assets, env: process.env });
	return {
		cycle,
		log,
		notices,
		whichCli,
		assets,
		endProcesses: endingOf(children, assets),
		toldWarnings: new Set(),
		isMutedHere: false,
		knownFocus: undefined,
	};
}

/** Leaves the clear of what is on the bar to a process of its own; the caller waits for nothing. */
export function partFrom(cycle: AlertCycle, when: "now" | "after_hold"): void {
	const parting = cycle.part(when);
	if (parting) runLater([partingStep(parting)], parting.cli);
}

/** Those of a pi that will not wait: their processes do not keep it alive, and end with it. */
export function createDetachedAlerts(cacheFolder: string, log: AlertLog): DetachedParts {
	const children = new ChildProcesses();
	const exec: ExecFn = (file, args, options) => children.exec(file, args, { ...options, isBackground: true });
	const assets = new Assets(exec, cacheFolder);
	const whichCli = new WhichCli(exec, cacheFolder);
	const alerts = new DetachedAlerts({ whichCli, assets, log, runLater, env: process.env, clock: systemClock });
	return { alerts, endProcesses: endingOf(children, assets) };
}

function endingOf(children: ChildProcesses, assets: Assets): () => void {
	return () => {
		children.endAll();
		assets.abandon();
	};
}
