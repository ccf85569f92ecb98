/**
 * Runs child processes: bounded output, a deadline that ends in SIGKILL, and never a rejection. docs/decisions.md says why
 * this is not `pi.exec`.
 */

import { type ChildProcess, spawn } from "node:child_process";

interface ExecOptions {
	/** The whole environment of the child; default: `process.env`. */
	readonly env?: NodeJS.ProcessEnv;
	/** SIGTERM is sent after this time, SIGKILL half a second later. */
	readonly deadlineMs: number;
	/** Ends the child at once. */
	readonly signal?: AbortSignal;
}

export interface ExecResult {
	/** Exit code; null if a signal ended the process or it never started. */
	readonly code: number | null;
	readonly signal: NodeJS.Signals | null;
	/** We ended it: at its deadline, on the signal, or for its output. Check this before `code`: a terminated Go CLI exits 0. */
	readonly killed: boolean;
	/** We ended it because it printed more than a megabyte. */
	readonly overflowed?: true;
	/** The first 64 KiB of each stream. */
	readonly stdout: string;
	readonly stderr: string;
	/** Why the process could not be started, such as `ENOENT`. */
	readonly spawnError?: string;
}

/** Runs `file` without a shell and without stdin. Never rejects and never throws. */
export type ExecFn = (file: string, args: readonly string[], options: ExecOptions) => Promise<ExecResult>;

/** Starts a process that outlives this one. Synchronous, so that it works while this process exits. Never throws. */
export type SpawnDetachedFn = (file: string, args: readonly string[], env: NodeJS.ProcessEnv) => void;

/** Windows has no process groups, and would open a window for a detached console program. */
const OWN_GROUP = process.platform !== "win32";
const KEPT_BYTES = 64 * 1024;
/** Both streams together. A program that prints more than this is unlikely to stop. */
const PRINTED_LIMIT_BYTES = 1024 * 1024;
const KILL_GRACE_MS = 500;
/** A grandchild can keep the pipes open after the child has ended. */
const PIPE_GRACE_MS = 200;

export const execProcess: ExecFn = (file, args, options) =>
	new Promise((resolve) => {
		if (options.signal?.aborted) {
			resolve({ code: null, signal: null, killed: true, stdout: "", stderr: "" });
			return;
		}
		const child = start(file, args, options.env);
		if (typeof child === "string") {
			resolve({ code: null, signal: null, killed: false, stdout: "", stderr: "", spawnError: child });
			return;
		}
		const stdout = new BoundedText();
		const stderr = new BoundedText();
		const timers: NodeJS.Timeout[] = [];
		let printedBytes = 0;
		let overflowed = false;
		let killed = false;
		let settled = false;
		const hasEnded = () => settled || child.exitCode !== null || child.signalCode !== null;
		const kill = (signal: NodeJS.Signals) => {
			if (hasEnded()) return;
			killed = true;
			endGroup(child, signal);
		};
		const abort = () => kill("SIGKILL");
		const settle = (end: Pick<ExecResult, "code" | "signal"> & { spawnError?: string }) => {
			if (settled) return;
			settled = true;
			for (const timer of timers) clearTimeout(timer);
			options.signal?.removeEventListener("abort", abort);
			// Programs that it started may have survived the SIGTERM.
			if (killed) endGroup(child, "SIGKILL");
			// A program that still holds the pipes must not keep this process alive.
			child.unref();
			child.stdout?.destroy();
			child.stderr?.destroy();
			resolve({
				...end,
				killed,
				...(overflowed && { overflowed }),
				stdout: stdout.toString(),
				stderr: stderr.toString(),
			});
		};
		const after = (ms: number, run: () => void) => {
			// After pi was busy or stopped, a timer is overdue: events that are waiting are handled first.
			timers.push(setTimeout(() => setImmediate(run), ms).unref());
		};
		const keep = (text: BoundedText, chunk: Buffer) => {
			text.add(chunk);
			printedBytes += chunk.length;
			if (printedBytes <= PRINTED_LIMIT_BYTES || hasEnded()) return;
			overflowed = true;
			kill("SIGKILL");
		};

		child.once("error", (error) => settle({ code: null, signal: null, spawnError: errorCode(error) }));
		child.once("close", (code, signal) => settle({ code, signal }));
		child.once("exit", (code, signal) => after(PIPE_GRACE_MS, () => settle({ code, signal })));
		child.stdout?.on("data", (chunk: Buffer) => keep(stdout, chunk));
		child.stderr?.on("data", (chunk: Buffer) => keep(stderr, chunk));
		options.signal?.addEventListener("abort", abort, { once: true });
		after(options.deadlineMs, () => {
			if (hasEnded()) return;
			kill("SIGTERM");
			after(KILL_GRACE_MS, () => {
				kill("SIGKILL");
				// A process that even SIGKILL cannot end (stuck in the kernel) must not keep the caller waiting.
				after(KILL_GRACE_MS, () => settle({ code: null, signal: "SIGKILL" }));
			});
		});
	});

/** The process, or why it could not be started. */
function start(file: string, args: readonly string[], env: NodeJS.ProcessEnv | undefined): ChildProcess | string {
	try {
		return spawn(file, args, {
			...(env && { env }),
			stdio: ["ignore", "pipe", "pipe"],
			windowsHide: true,
			// A group of its own, so that all of it can be ended: the CLI may be a script that starts another program.
			detached: OWN_GROUP,
		});
	} catch (error) {
		return errorCode(error);
	}
}

/** Runs child processes until it ends them all. */
export class ChildProcesses {
	readonly #running = new Set<AbortController>();
	#hasEnded = false;

	readonly exec: ExecFn = async (file, args, options) => {
		const ending = new AbortController();
		if (this.#hasEnded) ending.abort();
		const signal = options.signal ? AbortSignal.any([options.signal, ending.signal]) : ending.signal;
		this.#running.add(ending);
		const result = await execProcess(file, args, { ...options, signal });
		this.#running.delete(ending);
		return result;
	};

	/** Ends what is running, and starts nothing any more. Synchronous, so that it works while this process exits. */
	endAll(): void {
		this.#hasEnded = true;
		for (const ending of this.#running) ending.abort();
	}
}

function endGroup(child: ChildProcess, signal: NodeJS.Signals): void {
	try {
		if (OWN_GROUP && child.pid !== undefined) process.kill(-child.pid, signal);
		else child.kill(signal);
	} catch {
		// It has already ended.
	}
}

export const spawnDetached: SpawnDetachedFn = (file, args, env) => {
	try {
		const child = spawn(file, args, { env, detached: true, stdio: "ignore", windowsHide: true });
		// Without a listener a failed start would be an uncaught exception.
		child.once("error", () => undefined);
		child.unref();
	} catch {
		// Nobody can be told while this process exits; the bar's own timer ends the alert.
	}
};

class BoundedText {
	readonly #chunks: Buffer[] = [];
	#bytes = 0;

	add(chunk: Buffer): void {
		const room = KEPT_BYTES - this.#bytes;
		if (room <= 0) return;
		this.#chunks.push(chunk.subarray(0, room));
		this.#bytes += Math.min(room, chunk.length);
	}

	toString(): string {
		return Buffer.concat(this.#chunks).toString("utf8");
	}
}

function errorCode(error: unknown): string {
	const code = (error as NodeJS.ErrnoException | undefined)?.code;
	return code ?? (error instanceof Error ? error.message : String(error));
}
