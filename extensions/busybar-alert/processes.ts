/**
 * Identifies processes: a pid alone is not enough, because pids are reused. Reads /proc on Linux and runs `ps` on macOS. On
 * Windows, which has neither, a pid that is alive must do.
 */

import { readFile } from "node:fs/promises";
import type { ExecFn } from "./cli/exec.ts";

/** Identifies a process among all that have run since the machine started. */
export interface ProcessIdentity {
	readonly pid: number;
	/** Its start time as the system states it; empty if that cannot be known. */
	readonly started: string;
}

export interface Processes {
	/** None of these rejects. */
	self(): Promise<ProcessIdentity>;
	isAlive(identity: ProcessIdentity): Promise<boolean>;
}

const PS_DEADLINE_MS = 2_000;

export class SystemProcesses implements Processes {
	readonly #exec: ExecFn;
	readonly #platform: NodeJS.Platform;
	#self: Promise<ProcessIdentity> | undefined;

	constructor(exec: ExecFn, platform: NodeJS.Platform = process.platform) {
		this.#exec = exec;
		this.#platform = platform;
	}

	self(): Promise<ProcessIdentity> {
		this.#self ??= this.#started(process.pid).then((started) => ({ pid: process.pid, started: started ?? "" }));
		return this.#self;
	}

	async isAlive({ pid, started }: ProcessIdentity): Promise<boolean> {
		if (pid === process.pid) return started === (await this.self()).started;
		if (!hasPid(pid)) return false;
		return started === "" || (await this.#started(pid)) === started;
	}

	/** Undefined if there is no such process, or the system does not say. */
	async #started(pid: number): Promise<string | undefined> {
		if (this.#platform === "linux") {
			const line = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
			// The name in parentheses can contain anything. Field 3 is the state, field 22 the start time in clock ticks since boot.
			const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
			return fields[0] === "Z" ? undefined : fields[19];
		}
		if (this.#platform === "win32") return "";
		const { code, stdout } = await this.#exec("ps", ["-o", "lstart=", "-p", String(pid)], {
			deadlineMs: PS_DEADLINE_MS,
		});
		return code === 0 ? stdout.trim() : undefined;
	}
}

function hasPid(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		// It is alive and belongs to another user.
		return (error as NodeJS.ErrnoException).code === "EPERM";
	}
}
