/** Hands commands to a separate process, for a pi that ends without waiting. Starts that process synchronously. */

import { fileURLToPath } from "node:url";
import { type Cli, type Command, CommandLine } from "../busybar.ts";
import { spawnDetached } from "../cli/exec.ts";
import { type Runtime, thisRuntime } from "../cli/which-cli.ts";
import { lifetimeSeconds, type Parting } from "../cycle/drawing.ts";

export interface LaterStep {
	readonly command: Command;
	/** Waited before the first try. */
	readonly delayMs: number;
	readonly tries: number;
	/** Run it even if an earlier step has failed. */
	readonly always: boolean;
	/** Skip it if the bar's record in this file says that another process has drawn since. */
	readonly unlessShownByOther?: Parting["unlessShownByOther"];
}

/** Returns false if the steps cannot be run: more than one step needs Node. */
export type RunLaterFn = (steps: readonly LaterStep[], cli: Cli) => boolean;

const SCRIPT = fileURLToPath(new URL("./detached-steps.js", import.meta.url));
const PAUSE_MS = 1_000;

/** Never throws. */
export const runLater: RunLaterFn = (steps, cli) => {
	const started = processFor(steps, cli);
	if (started) spawnDetached(started.file, started.args, started.env);
	return started !== undefined;
};

/**
 * The process that runs the steps: our script; or the command itself, if there is only one and no Node is known, as in the
 * standalone pi with a CLI that does not need Node. Undefined if there is no such process.
 */
export function processFor(
	steps: readonly LaterStep[],
	cli: Cli,
	runtime: Pick<Runtime, "isNode" | "execPath"> = thisRuntime(),
	pauseMs = PAUSE_MS,
): Pick<Command, "file" | "args" | "env"> | undefined {
	const node = runtime.isNode ? runtime.execPath : cli.source === "bundled" ? cli.file : undefined;
	const [first, second] = steps;
	if (!first) return undefined;
	if (node === undefined) return second ? undefined : first.command;
	const plan = steps.map(({ command, ...step }) => ({ ...step, ...command, env: undefined, pauseMs }));
	// The plan may contain the access key, and anyone can read the arguments of a process. A pipe would not do: it may not be
	// flushed while pi exits. All steps of one alert have the same environment.
	return { file: node, args: [SCRIPT], env: { ...first.command.env, PI_BUSYBAR_STEPS: JSON.stringify(plan) } };
}

const CLEAR_TRIES = 3;

export function partingSteps({ cli, target, delayMs, unlessShownByOther, redraw }: Parting): LaterStep[] {
	const commands = new CommandLine(cli);
	const clear = { command: commands.clear(target), delayMs, tries: CLEAR_TRIES, always: true, unlessShownByOther };
	if (!redraw) return [clear];
	const expiresAfterSeconds = lifetimeSeconds(redraw.request.holdSeconds * 1_000);
	const show = commands.show(redraw.anim, target, { expiresAfterSeconds });
	return [{ command: show, delayMs: 0, tries: 1, always: false }, clear];
}
