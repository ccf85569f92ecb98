// The pi of a row: how it is to die, and how it is started. Touches the row's folder and the processes it starts.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { BUNDLED_CLI } from "../../extensions/busybar-alert/cli/which-cli.ts";
import { startRpcPi, startTerminalPi } from "../support/pi.ts";
import { EXTENSION, type PiDesk } from "../support/pi-desk.ts";
import type { ScriptedStep } from "../support/scripted-model.ts";
import { ASKING, ask, say, WORK } from "../support/steps.ts";
import { type ExitStatus, KEY, Terminal } from "../support/terminal.ts";

/** Where the alert is when pi ends. */
export const STAGES = {
	asset: "animation being made",
	draw: "draw under way, not sent yet",
	sent: "draw under way, at the bar",
	parked: "draw waits at the bar for a BUSY timer",
	hold: "hold of a verdict",
	question: "hold of a question",
	clear: "clear under way",
} as const;

export type Stage = keyof typeof STAGES;

export interface Death {
	/** In words. */
	readonly how: string;
	readonly stage: Stage;
	/** `print` is `pi -p`, which ends by itself. */
	readonly mode: "terminal" | "rpc" | "print";
	readonly holdSeconds: number;
	/** Has pi end, or replace its session, when the alert is at its stage; not for `print`. */
	readonly end?: (pi: DyingPi) => Promise<void>;
	/** pi goes on; its session is replaced. */
	readonly isReplaced?: true;
	/** pi goes on working after the turn whose alert this is. */
	readonly isWorking?: true;
	/** pi cannot write anything any more. */
	readonly isSudden?: true;
	/** Another pi is started as soon as this one has ended, in the hold of its alert or after it. */
	readonly nextPi?: "at once" | "after the hold";
	/** The CLI knows the contract only. */
	readonly hasPlainCli?: true;
	/** Starts pi as the first process of a container. */
	readonly container?: readonly string[];
}

/** What a row can do to its pi. */
export interface DyingPi {
	readonly pid: number;
	readonly exit: Promise<ExitStatus>;
	/** Of the modes `terminal` and `print`. */
	readonly terminal: Terminal;
	/** Of the mode `rpc`. */
	readonly rpc: ReturnType<typeof startRpcPi>;
	kill(signal: NodeJS.Signals): void;
}

const DEATHS = fileURLToPath(new URL("./deaths-extension.ts", import.meta.url));
const WORKS_ON: ScriptedStep = { text: "There is more.", delayMs: 60_000 };
const CREATE_TAKES_MS = 1_500;

/** Starts pi and has it ask for an alert. */
export async function startPi(death: Death, desk: PiDesk, addr: string, eventsFile: string): Promise<DyingPi> {
	const script =
		death.stage === "question" ? [ask("select"), WORKS_ON] : death.isWorking ? [WORK, WORKS_ON] : [say("It is done.")];
	const options = desk.pi(addr, {
		script,
		extensions: [DEATHS, ...(death.stage === "question" ? [ASKING] : []), EXTENSION],
		env: { PI_DEATHS_EVENTS: eventsFile },
		...(death.container && { startedBy: death.container }),
	});
	if (death.mode === "rpc") {
		const rpc = startRpcPi(desk.home, options);
		await rpc.prompt("please");
		return dyingPi(rpc.pid, rpc.exit, { rpc });
	}
	if (death.mode === "print") {
		const { file, args, ...more } = desk.home.command(options);
		const terminal = new Terminal(file, [...args, "-p", "please"], more);
		desk.home.own(terminal);
		return dyingPi(terminal.pid, terminal.exit, { terminal });
	}
	const terminal = await startTerminalPi(desk.home, options);
	terminal.write("please");
	await terminal.waitForText("please");
	terminal.write(KEY.enter);
	return dyingPi(death.container ? childOf(terminal.pid) : terminal.pid, terminal.exit, { terminal });
}

function dyingPi(pid: number, exit: Promise<ExitStatus>, more: Partial<Pick<DyingPi, "terminal" | "rpc">>): DyingPi {
	const missing = (what: string) => {
		throw new Error(`This pi has no ${what}.`);
	};
	return {
		pid,
		exit,
		get terminal() {
			return more.terminal ?? missing("terminal");
		},
		get rpc() {
			return more.rpc ?? missing("RPC");
		},
		kill: (signal) => void process.kill(pid, signal),
	};
}

/** The only child of a process. */
function childOf(pid: number): number {
	return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim());
}

/** A file that `slowCreate` writes. */
export const CREATE_BEGAN = "create-began";

/** The bundled CLI, but `create` takes a while, which a signal or a line of typing can meet. */
export function slowCreate(folder: string): string {
	return program(folder, [
		'import { writeFileSync } from "node:fs";',
		'if (process.argv[2] === "create") {',
		`	writeFileSync(${JSON.stringify(join(folder, CREATE_BEGAN))}, "");`,
		`	await new Promise((resolve) => setTimeout(resolve, ${CREATE_TAKES_MS}));`,
		"}",
		`await import(${JSON.stringify(BUNDLED_CLI)});`,
	]);
}

/** The bundled CLI without what it has beyond the contract. */
export function plainCli(folder: string): string {
	return program(folder, [
		'if (process.argv.includes("--help")) console.log("--application-name --priority --loop");',
		`else await import(${JSON.stringify(BUNDLED_CLI)});`,
	]);
}

function program(folder: string, lines: readonly string[]): string {
	const path = join(folder, "busybar.mjs");
	writeFileSync(path, ["#!/usr/bin/env node", ...lines, ""].join("\n"), { mode: 0o755 });
	return path;
}
