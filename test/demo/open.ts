// `npm run demo -- --open`: pi's own interface in the user's terminal, with a scripted model and the simulated bar.
// Uses a separate home, so that it neither uses nor changes the user's pi settings.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { EXTENSION } from "../support/pi-desk.ts";
import type { ScriptedStep } from "../support/scripted-model.ts";
import { type Closers, LAUNCHER, openDesk } from "./stage.ts";

const BAR_WIDGET = fileURLToPath(new URL("./bar-widget.ts", import.meta.url));
/** More than anyone will type. */
const ANSWERS = 1000;

const ANSWER: readonly ScriptedStep[] = [
	{
		text: "I am only a script. I run the bash tool, which sleeps for a second. Watch the bar.",
		toolCalls: [{ name: "bash", args: { command: "sleep 1" } }],
		tokensPerSecond: 60,
	},
	{
		text: "That was the turn, and this is the verdict. Ask again, or try /px, /busybar-alert-test error and /busybar-alert-log.",
		delayMs: 2500,
		tokensPerSecond: 60,
	},
];

/** Resolves with pi's exit code when the user has quit. */
export async function openPi(closers: Closers): Promise<number> {
	if (!process.stdin.isTTY || !process.stdout.isTTY) throw new Error("--open needs a terminal. Run it in one.");
	const { desk, bar } = await openDesk(closers);
	process.stdout.write(`Simulated bar: ${bar.url}\n`);
	const { file, args, cwd, env } = desk.home.command(
		desk.pi(bar.addr, {
			script: Array(ANSWERS).fill(ANSWER).flat(),
			extensions: [LAUNCHER, EXTENSION, BAR_WIDGET],
			env: { ...userEnvironment(), PI_DEMO_BAR: bar.url },
			// pi keeps its search programs there, and complains if it does not find them.
			pathDirs: [join(homedir(), ".pi", "agent", "bin"), ...(process.env.PATH ?? "").split(delimiter)],
		}),
	);
	const child = spawn(file, args, { cwd, env, stdio: "inherit" });
	const exit = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
	if (child.pid === undefined) throw new Error("pi did not start.");
	desk.home.own({ pid: child.pid, exit: exit.then(([code, signal]) => ({ code, signal })) });
	const [code] = await exit;
	return code ?? 1;
}

/** The variables that describe the user's terminal. */
function userEnvironment(): Record<string, string> {
	const told = Object.entries(process.env).filter(([name]) =>
		/^(TERM.*|COLORTERM|LANG|LC_.*|TMUX.*|STY|SSH_.*|NO_COLOR|KITTY_.*|WEZTERM_.*|ITERM_.*|VTE_.*|WT_.*)$/.test(name),
	);
	return Object.fromEntries(told.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}
