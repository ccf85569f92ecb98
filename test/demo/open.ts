// `npm run demo -- --open`: pi's own interface in the user's terminal, with a model that plays along and the bar in sight.
// A home of its own keeps the user's pi settings out of it.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { EXTENSION } from "../support/pi-desk.ts";
import type { ScriptedStep } from "../support/scripted-model.ts";
import { type Closers, LAUNCHER, openDesk } from "./stage.ts";

const BAR_WIDGET = fileURLToPath(new URL("./bar-widget.ts", import.meta.url));
/** More than anybody will type. */
const ANSWERS = 1000;

const ANSWER: readonly ScriptedStep[] = [
	{
		text: "I am a script and know one thing: I sleep for a second with the bash tool. Watch the bar.",
		toolCalls: [{ name: "bash", args: { command: "sleep 1" } }],
		tokensPerSecond: 60,
	},
	{
		text: "That was the turn; this is the verdict. Ask again, or try /px, /busybar-alert-test error and /busybar-alert-log.",
		delayMs: 2500,
		tokensPerSecond: 60,
	},
];

/** Resolves with pi's exit status when its user has quit. */
export async function openPi(closers: Closers): Promise<number> {
	if (!process.stdin.isTTY || !process.stdout.isTTY) throw new Error("--open needs a terminal; run it in one.");
	const { desk, bar } = await openDesk(closers);
	process.stdout.write(`The simulated bar: ${bar.url}\n`);
	const { file, args, cwd, env } = desk.home.command(
		desk.pi(bar.addr, {
			script: Array(ANSWERS).fill(ANSWER).flat(),
			extensions: [LAUNCHER, EXTENSION, BAR_WIDGET],
			env: { ...userEnvironment(), PI_DEMO_BAR: bar.url },
			// Where pi keeps the search programs that it would else miss, and say so.
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

/** What tells programs about the user's terminal. */
function userEnvironment(): Record<string, string> {
	const told = Object.entries(process.env).filter(([name]) =>
		/^(TERM.*|COLORTERM|LANG|LC_.*|TMUX.*|STY|SSH_.*|NO_COLOR|KITTY_.*|WEZTERM_.*|ITERM_.*|VTE_.*|WT_.*)$/.test(name),
	);
	return Object.fromEntries(told.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}
