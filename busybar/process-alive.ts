/** Whether another process is still there. Only asks the operating system. */

/** @param probe throws as `process.kill(pid, 0)` does */
export function isProcessAlive(
	pid: number,
	probe: (pid: number) => void = (pid) => void process.kill(pid, 0),
): boolean {
	try {
		probe(pid);
		return true;
	} catch (error) {
		// It exists, but belongs to another user.
		return error instanceof Error && "code" in error && error.code === "EPERM";
	}
}
