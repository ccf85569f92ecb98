/** A lock shared by all processes of this user. Touches only the folder of the locked file. */

import fs from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";

/** A holder that was killed or stopped no longer renews its lock, and loses it after this time. */
const STALE_MS = 3_000;
const RENEW_MS = 1_000;
const ASK_AGAIN_MS = 40;

/** A lock from the future was made before the clock was set back. It counts as abandoned; nothing else would free it. */
const fsOfAnyClock: typeof fs = {
	...fs,
	stat: ((path: fs.PathLike, callback: (error: NodeJS.ErrnoException | null, stats?: fs.Stats) => void) =>
		fs.stat(path, (error, stats) => {
			if (stats && stats.mtimeMs > Date.now() + STALE_MS) stats.mtime = new Date(0);
			callback(error, stats);
		})) as typeof fs.stat,
};

/**
 * Runs `step` while nobody else runs a step for the same path, in this process or another. The file need not exist. Rejects
 * if `step` does, with code `ELOCKED` if the lock could not be acquired within `waitMs`, or with the system's error if the
 * folder cannot be written.
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
		// The default throws from a timer, which would end pi.
		onCompromised: () => undefined,
	});
	try {
		return await step();
	} finally {
		// Fails if another process took it over while this one was stopped. The lock is theirs then.
		await unlock().catch(() => undefined);
	}
}
