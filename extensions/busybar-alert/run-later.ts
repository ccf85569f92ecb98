/** Leaves commands to a process of its own, for a pi that ends and does not wait. Starts that process, synchronously. */

import { fileURLToPath } from "node:url";
import { type Cli, type Command, CommandLine } from "./busybar.ts";
import type { PartingClear } from "./drawing.ts";
import { spawnDetached } from "./exec.ts";
import { thisRuntime } from "./which-cli.ts";

/** The next step comes only after this one has succeeded. */
export interface LaterStep {
	readonly command: Command;
	/** Before the first try. */
	readonly delayMs: number;
	readonly tries: number;
}

export type RunLaterFn = (steps: readonly LaterStep[], cli: Cli) => void;

const SCRIPT = fileURLToPath(new URL("./run-later.js", import.meta.url));

/** Never throws. Without any Node, in the standalone pi with a CLI that is none, only the last step is run, and at once. */
export const runLater: RunLaterFn = (steps, cli) => {
	const last = steps.at(-1);
	if (!last) return;
	const runtime = thisRuntime();
	const node = runtime.isNode ? runtime.execPath : cli.source === "bundled" ? cli.file : undefined;
	if (node === undefined) {
		spawnDetached(last.command.file, last.command.args, last.command.env);
		return;
	}
	const plan = steps.map(({ command: { file, args }, delayMs, tries }) => ({ delayMs, file, args, tries }));
	// The steps of one alert have one environment: that of its CLI and its token.
	spawnDetached(node, [SCRIPT, JSON.stringify(plan)], last.command.env);
};

const CLEAR_TRIES = 3;

export function partingStep({ cli, target, delayMs }: PartingClear): LaterStep {
	return { command: new CommandLine(cli).clear(target), delayMs, tries: CLEAR_TRIES };
}
