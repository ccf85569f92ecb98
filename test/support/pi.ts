// The real pi, in the two versions we support, driven as a person or a program drives it.
// Touches one temporary folder per home and the pi processes it starts, and takes both away again.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { ScriptedStep } from "./scripted-model.ts";
import { COMPILED_CLI } from "./simulated-bar.ts";
import { type ExitStatus, Terminal } from "./terminal.ts";
import { tail, waitUntil } from "./wait.ts";

export type PiVersion = "1.6.0" | "0.82.1";

export const PI_VERSIONS: readonly PiVersion[] = ["1.6.0", "0.82.1"];

export interface PiOptions {
	/** Default 1.6.0. */
	readonly version?: PiVersion;
	/** What the scripted model says, over the life of this process. */
	readonly script?: readonly ScriptedStep[];
	/** Paths given to `-e`. */
	readonly extensions?: readonly string[];
	/** Whether pi also loads what its settings, folders and `cwd` name; else `-e` alone counts. */
	readonly discovery?: boolean;
	/** More arguments for pi, before the prompt. */
	readonly args?: readonly string[];
	readonly env?: Readonly<Record<string, string>>;
	/** Folders put in front of PATH, which else has Node and the system's own programs only. */
	readonly pathDirs?: readonly string[];
	/** Default: the home's empty `projectDir`. */
	readonly cwd?: string;
	/** A program, and its arguments, that starts pi: `unshare -pf` for a container. */
	readonly startedBy?: readonly string[];
}

interface OwnedProcess {
	readonly pid: number;
	readonly exit: Promise<ExitStatus>;
}

/** A user's files on a machine of their own. Several pi processes may share one, as they do on a desk. */
export class PiHome {
	readonly dir = mkdtempSync(join(tmpdir(), "pi-home-"));
	readonly agentDir = join(this.dir, "agent");
	readonly cacheDir = join(this.dir, "cache");
	readonly projectDir = join(this.dir, "project");
	readonly #binDir = join(this.dir, "bin");
	readonly #processes = new Set<OwnedProcess>();
	#scripts = 0;

	/** `atEnd` gets the function that ends everything; in a test that is Vitest's `onTestFinished`. */
	constructor(atEnd?: (close: () => Promise<void>) => void) {
		for (const dir of [this.agentDir, this.cacheDir, this.projectDir, this.#binDir]) mkdirSync(dir);
		// The compiled code of the bundled CLI, which is the same for all homes and halves each of its starts.
		mkdirSync(COMPILED_CLI, { recursive: true });
		symlinkSync(COMPILED_CLI, join(this.cacheDir, "pi-busybar"));
		// Node alone: its own folder may hold other programs, a `busybar` among them.
		symlinkSync(process.execPath, join(this.#binDir, "node"));
		atEnd?.(() => this.close());
	}

	/** Writes pi's `settings.json`, for example `{ retry: { baseDelayMs: 1 } }`. */
	writeSettings(settings: Record<string, unknown>): void {
		writeFileSync(join(this.agentDir, "settings.json"), JSON.stringify(settings));
	}

	/** The whole environment of a program in this home; nothing is inherited but the temporary folder. */
	env(options: Pick<PiOptions, "env" | "pathDirs"> = {}): Record<string, string> {
		return {
			HOME: this.dir,
			PATH: [...(options.pathDirs ?? []), this.#binDir, "/usr/bin", "/bin"].join(delimiter),
			// Shared with other homes: pi's compile caches live there and halve its start.
			TMPDIR: tmpdir(),
			LANG: "C.UTF-8",
			XDG_CACHE_HOME: this.cacheDir,
			PI_CODING_AGENT_DIR: this.agentDir,
			PI_OFFLINE: "1",
			PI_SKIP_VERSION_CHECK: "1",
			PI_TELEMETRY: "0",
			...options.env,
		};
	}

	/** What to run for pi with these options. */
	command(options: PiOptions): { file: string; args: string[]; cwd: string; env: Record<string, string> } {
		const script = join(this.dir, `script-${++this.#scripts}.json`);
		writeFileSync(script, JSON.stringify(options.script ?? []));
		const program = piProgram(options.version ?? "1.6.0");
		const discovery = options.discovery ? [] : ["-ne"];
		const extensions = [SCRIPTED_MODEL, ...(options.extensions ?? [])].flatMap((path) => ["-e", path]);
		const args = [program, ...discovery, ...extensions, "--model", "faux/faux-1", ...(options.args ?? [])];
		const [starter, ...starterArgs] = options.startedBy ?? [];
		return {
			file: starter ?? process.execPath,
			args: starter === undefined ? args : [...starterArgs, process.execPath, ...args],
			cwd: options.cwd ?? this.projectDir,
			env: { ...this.env(options), PI_SCRIPTED_MODEL: script },
		};
	}

	/** Ends this process too when the home closes. */
	own(owned: OwnedProcess): void {
		this.#processes.add(owned);
		void owned.exit.then(() => this.#processes.delete(owned));
	}

	/** Ends what still runs, politely first so that pi can end its own children, and removes the folder. */
	async close(): Promise<void> {
		for (const signal of ["SIGTERM", "SIGKILL"] as const) {
			const running = [...this.#processes];
			if (running.length === 0) break;
			for (const { pid } of running) sendSignal(pid, signal);
			await Promise.race([Promise.all(running.map(({ exit }) => exit)), delay(3000, undefined, { ref: false })]);
		}
		// A detached child of pi may still be writing its last line.
		await rm(this.dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
	}
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
	try {
		process.kill(pid, signal);
	} catch (error) {
		// It has ended by itself, and we are about to hear of it.
		if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
	}
}

const SCRIPTED_MODEL = fileURLToPath(new URL("./scripted-model.ts", import.meta.url));

function piProgram(version: PiVersion): string {
	return version === "1.6.0"
		? fileURLToPath(new URL("./bundle/cli.js", import.meta.resolve("@earendil-works/pi-coding-agent")))
		: fileURLToPath(new URL("./cli.js", import.meta.resolve("pi-0.82.1")));
}

export interface PrintOptions extends PiOptions {
	readonly prompt: string;
	/** `json` prints every event as a line. */
	readonly mode?: "text" | "json";
	/** Default: none (`</dev/null`); pi puts piped input in front of the prompt. */
	readonly stdin?: string;
	/** After this the run is killed and fails. Default 20,000. */
	readonly deadlineMs?: number;
}

export interface PrintResult extends ExitStatus {
	readonly stdout: string;
	readonly stderr: string;
	/** From start to exit of the process. */
	readonly elapsedMs: number;
}

/** `pi -p PROMPT`, to its end. */
export async function runPi(home: PiHome, options: PrintOptions): Promise<PrintResult> {
	const { file, args, cwd, env } = home.command(options);
	const startedMs = performance.now();
	const child = spawn(file, [...args, "--mode", options.mode ?? "text", "-p", options.prompt], {
		cwd,
		env,
		stdio: [options.stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
	});
	child.stdin?.end(options.stdin);
	const { exit, output } = follow(home, child);
	const closed = new Promise<true>((resolve) => child.once("close", () => resolve(true)));
	const elapsed = exit.then(() => performance.now() - startedMs);
	const deadlineMs = options.deadlineMs ?? 20_000;
	// `close` comes after the exit, once nobody holds pi's output open any more.
	if (!(await Promise.race([closed, delay(deadlineMs, false, { ref: false })]))) {
		child.kill("SIGKILL");
		await exit;
		throw new Error(`pi -p did not end within ${deadlineMs} ms.\n${output.tail()}`);
	}
	return { ...(await exit), stdout: output.stdout, stderr: output.stderr, elapsedMs: await elapsed };
}

/** One line of pi's RPC stream: a session event, a response, or an `extension_ui_request` such as a notice. */
interface RpcRecord {
	readonly type: string;
	readonly [key: string]: unknown;
}

/** `pi --mode rpc`: JSON lines both ways. */
export function startRpcPi(home: PiHome, options: PiOptions = {}): RpcPi {
	const { file, args, cwd, env } = home.command(options);
	return new RpcPi(home, spawn(file, [...args, "--mode", "rpc"], { cwd, env, stdio: "pipe" }));
}

export class RpcPi {
	/** Every record so far, oldest first. */
	readonly events: RpcRecord[] = [];
	readonly pid: number;
	readonly exit: Promise<ExitStatus>;
	readonly #child: ChildProcess;
	readonly #output: Output;
	#promptedAt = 0;
	#prompts = 0;

	constructor(home: PiHome, child: ChildProcess) {
		this.#child = child;
		const { pid, exit, output } = follow(home, child, (line) => this.events.push(recordOf(line)));
		this.pid = pid;
		this.exit = exit;
		this.#output = output;
	}

	get stderr(): string {
		return this.#output.stderr;
	}

	/** Writes one record, for example `{ type: "abort" }`. */
	send(record: RpcRecord): void {
		this.#child.stdin?.write(`${JSON.stringify(record)}\n`);
	}

	/** Sends a prompt or a command of an extension and waits until pi has accepted it. */
	async prompt(message: string, more: Record<string, unknown> = {}): Promise<void> {
		const id = `prompt-${++this.#prompts}`;
		this.#promptedAt = this.events.length;
		this.send({ ...more, id, type: "prompt", message });
		const response = await this.waitFor((record) => record.type === "response" && record.id === id);
		if (response.success !== true) throw new Error(`pi refused the prompt: ${String(response.error)}`);
	}

	/** The first matching record since the last prompt, there already or still to come. */
	async waitFor(wanted: string | ((record: RpcRecord) => boolean), deadlineMs = 30_000): Promise<RpcRecord> {
		const matches = typeof wanted === "string" ? (record: RpcRecord) => record.type === wanted : wanted;
		return waitUntil(
			typeof wanted === "string" ? `An RPC record ${wanted}` : "The awaited RPC record",
			deadlineMs,
			() => this.events.slice(this.#promptedAt).find(matches),
			() => this.#output.tail(),
		);
	}

	kill(signal: NodeJS.Signals): void {
		this.#child.kill(signal);
	}

	/** Ends the input, upon which pi quits in good order. */
	async close(): Promise<ExitStatus> {
		this.#child.stdin?.end();
		return this.exit;
	}
}

// What is not JSON breaks every RPC client; it is kept, so that a test can tell.
function recordOf(line: string): RpcRecord {
	try {
		return JSON.parse(line);
	} catch {
		return { type: "not JSON", line };
	}
}

export interface TerminalPiOptions extends PiOptions {
	readonly columns?: number;
	readonly rows?: number;
}

/** pi's own interface in a terminal, ready for typing; `args: ["--tui-mode", "regular"]` for the other one. */
export async function startTerminalPi(home: PiHome, options: TerminalPiOptions = {}): Promise<Terminal> {
	const { file, args, cwd, env } = home.command(options);
	const terminal = new Terminal(file, args, { ...options, cwd, env: { COLORTERM: "truecolor", ...env } });
	home.own(terminal);
	// The picture comes before the extensions have started.
	await terminal.waitForScreen(
		"The start of pi",
		(screen) => screen.includes("faux-1") && existsSync(`${env.PI_SCRIPTED_MODEL}.started`),
	);
	return terminal;
}

class Output {
	stdout = "";
	stderr = "";

	tail(): string {
		return `stdout: ${tail(this.stdout)}\nstderr: ${tail(this.stderr)}`;
	}
}

function follow(home: PiHome, child: ChildProcess, onLine?: (line: string) => void) {
	const output = new Output();
	let unfinished = "";
	child.stdout?.setEncoding("utf8").on("data", (text: string) => {
		output.stdout += text;
		if (!onLine) return;
		// Not readline: it also splits at U+2028, which JSON strings may contain.
		const lines = (unfinished + text).split("\n");
		unfinished = lines.pop() ?? "";
		for (const line of lines) onLine(line);
	});
	child.stderr?.setEncoding("utf8").on("data", (text: string) => {
		output.stderr += text;
	});
	// A pi that has died answers a late write with EPIPE; its exit status tells the story.
	child.stdin?.on("error", () => undefined);
	child.on("error", (error) => {
		output.stderr += String(error);
	});
	const exit = new Promise<ExitStatus>((resolve) => {
		child.once("exit", (code, signal) => resolve({ code, signal }));
	});
	const { pid } = child;
	if (pid === undefined) throw new Error(`pi could not be started with ${child.spawnfile}.`);
	home.own({ pid, exit });
	return { pid, exit, output };
}
