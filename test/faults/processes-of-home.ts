// The processes that a home's pis have left: told by HOME in their environment, which whoever pi starts inherits.

import { execFile } from "node:child_process";
import { promisify } from "node:util";

export interface LeftProcess {
	readonly pid: number;
	readonly command: string;
}

export async function processesOf(home: string): Promise<LeftProcess[]> {
	// `e` shows the environment behind the command, `ww` all of it.
	const { stdout } = await promisify(execFile)("ps", ["axeww", "-o", "pid=,command="], { maxBuffer: 64 * 1024 * 1024 });
	return stdout.split("\n").flatMap((line) => {
		if (!line.includes(` HOME=${home} `)) return [];
		const [pid = "", ...words] = line.trim().split(" ");
		const command = words.slice(
			0,
			words.findIndex((word) => /^[A-Z_]+=/.test(word)),
		);
		return [{ pid: Number(pid), command: command.join(" ") }];
	});
}

export function endProcess(pid: number): void {
	try {
		process.kill(pid, "SIGKILL");
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
	}
}
