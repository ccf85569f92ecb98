/** A lock that all processes of this user share. Touches the folder of the locked file only. */

import fs from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";

/** A holder that was killed or stopped renews its lock no more, and loses it after this time. */
const STALE_MS = 3_000;
const RENEW_MS = 1_000;
const ASK_AGAIN_MS = 40;

/** A lock from the future was made before the clock was set back: taken as abandoned, since nothing else would free it. */
const fsOfAnyClock: typeof fs = {
	...fs,
	stat: ((path: fs.PathLike, callback: (error: NodeJS.ErrnoException | null, stats?: fs.Stats) => void) =>
		fs.stat(path, (error, stats) => {
			if (stats && stats.mtimeMs > Date.now() + STALE_MS) stats.mtime = new Date(0);
			callback(error, stats);
		})) as typeof fs.stat,
};

/**
 * Runs `step` while no other process, and no other caller in this one, runs one for the same path; the file itself need
 * not exist. Rejects as `step` does, with `ELOCKED` when the lock was not to be had within `waitMs`, or with the
 * system's error when the folder cannot be written.
 */
export async function withLock<T>(path: string, waitMs: number, step: () => Promise<T>): Promise<T> {
	await mkdir(dirname(path), { recursive: true, mode: 0o700 });
	const { lock } = await import("proper-lockfile");
	const unlock = await lock(path, {
		realpath: false,
		fs: fsOfAnyClock,
		stale: STALE_MS,
		update: RENEW_MS,
		retries: {
			retries: Math.ceil(waitMs / ASK_AGAIN_MS),
			factor: 1,
			minTimeout: ASK_AGAIN_MS / 2,
			maxTimeout: ASK_AGAIN_MS,
			randomize: true,
		},
		// Its default throws from a timer, which would end pi.
		onCompromised: () => undefined,
	});
	try {
		return await step();
	} finally {
		// Fails when another process took it over while we were stopped: it is theirs.
		await unlock().catch(() => undefined);
	}
}
