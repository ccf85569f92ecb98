/** Leaves commands to a process of its own, for a pi that ends and does not wait. Starts that process, synchronously. */

import { fileURLToPath } from "node:url";
import { type Cli, type Command, CommandLine } from "../busybar.ts";
import { spawnDetached } from "../cli/exec.ts";
import { thisRuntime } from "../cli/which-cli.ts";
import type { PartingClear } from "../cycle/drawing.ts";

export interface LaterStep {
	readonly command: Command;
	/** Before the first try. */
	readonly delayMs: number;
	readonly tries: number;
	/** Is run although a step before it has failed. */
	readonly always: boolean;
}

/** False where it cannot be done: several steps need a Node. */
export type RunLaterFn = (steps: readonly LaterStep[], cli: Cli) => boolean;

const SCRIPT = fileURLToPath(new URL("./detached-steps.js", import.meta.url));

/** Never throws. Without any Node, in the standalone pi with a CLI that is none, a single step is run at once. */
export const runLater: RunLaterFn = (steps, cli) => {
	const [first] = steps;
	if (!first) return true;
	const runtime = thisRuntime();
	const node = runtime.isNode ? runtime.execPath : cli.source === "bundled" ? cli.file : undefined;
	// The steps of one alert have one environment: that of its CLI and its token.
	const { env } = first.command;
	if (node !== undefined) {
		const plan = steps.map(({ command: { file, args }, ...step }) => ({ file, args, ...step }));
		spawnDetached(node, [SCRIPT, JSON.stringify(plan)], env);
	} else if (steps.length === 1) spawnDetached(first.command.file, first.command.args, env);
	else return false;
	return true;
};

const CLEAR_TRIES = 3;

export function partingStep({ cli, target, delayMs }: PartingClear): LaterStep {
	return { command: new CommandLine(cli).clear(target), delayMs, tries: CLEAR_TRIES, always: true };
}
