/** A lock shared by all processes of this user. Touches only the folder of the locked file. */

import fs from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { makeFolder } from "./folder.ts";

/** A holder that was killed or stopped no longer renews its lock, and loses it after this time. */
const STALE_MS = 3_000;
const RENEW_MS = 1_000;
const ASK_AGAIN_MS = 40;

type Files = Pick<typeof fs, "mkdir" | "stat" | "utimes" | "rmdir">;
type Done = (error: NodeJS.ErrnoException | null) => void;

/** The lock as its holder sees it. */
export interface HeldLock {
	/** False once another process has taken it, because this one was stopped for a while. Never rejects. */
	isOurs(): Promise<boolean>;
}

/**
 * Runs `step` while nobody else runs a step for the same path, in this process or another. The file need not exist. Rejects
 * if `step` does, with code `ELOCKED` if the lock could not be acquired within `waitMs`, or with the system's error if the
 * folder cannot be written.
 */
export async function withLock<T>(
	path: string,
	waitMs: number,
	step: (lock: HeldLock) => Promise<T>,
	files: Files = fs,
): Promise<T> {
	await makeFolder(dirname(path));
	const { lock } = await import("proper-lockfile");
	const folder = new LockFolder(`${path}.lock`, files);
	const unlock = await lock(path, {
		realpath: false,
		fs: folder.fs,
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
		return await step(folder);
	} finally {
		// Fails if another process took it over while this one was stopped. The lock is theirs then.
		await unlock().catch(() => undefined);
	}
}

/**
 * The file system as the lock library sees it. Left alone, the library removes an abandoned lock although another process has
 * taken it over a moment ago, and releases a lock that is no longer its own. After one such mistake, each holder releases the
 * lock of the next.
 */
class LockFolder implements HeldLock {
	readonly #path: string;
	readonly #files: Files;
	/** The time that we last set it to; undefined as long as it is not ours. */
	#renewedMs: number | undefined;
	readonly fs: typeof fs;

	constructor(path: string, files: Files) {
		this.#path = path;
		this.#files = files;
		this.fs = {
			...fs,
			mkdir: files.mkdir,
			stat: ((path: string, done: (error: NodeJS.ErrnoException | null, stats?: fs.Stats) => void) =>
				files.stat(path, (error, stats) => {
					// A lock from the future was made before the clock was set back; nothing else would free it.
					if (stats && isStale(stats)) stats.mtime = new Date(0);
					done(error, stats);
				})) as typeof fs.stat,
			utimes: ((path: string, accessed: Date, modified: Date, done: Done) => {
				this.#renewedMs = modified.getTime();
				files.utimes(path, accessed, modified, done);
			}) as typeof fs.utimes,
			rmdir: ((_path: string, done: Done) => void this.#remove().then(() => done(null), done)) as typeof fs.rmdir,
		};
	}

	async isOurs(): Promise<boolean> {
		const stats = await this.#stat().catch(() => undefined);
		// Another process takes it only when it is stale. Some file systems keep whole seconds only.
		return stats !== undefined && Math.abs(stats.mtimeMs - (this.#renewedMs ?? 0)) < STALE_MS / 2;
	}

	async #remove(): Promise<void> {
		const rmdir = promisify(this.#files.rmdir) as (path: string) => Promise<void>;
		if (this.#renewedMs !== undefined) {
			if (await this.isOurs()) await rmdir(this.#path);
			return;
		}
		// Of all processes that saw a stale lock, one at a time looks again. The others ask again later.
		const looking = `${this.#path}.stale`;
		const mkdir = promisify(this.#files.mkdir) as (path: string) => Promise<void>;
		await mkdir(looking).catch(async (error: NodeJS.ErrnoException) => {
			const left = await this.#stat(looking).catch(() => undefined);
			if (left && isStale(left)) await rmdir(looking);
			throw error.code === "EEXIST" ? Object.assign(error, { code: "ELOCKED" }) : error;
		});
		try {
			if (isStale(await this.#stat())) await rmdir(this.#path);
		} finally {
			await rmdir(looking);
		}
	}

	#stat(path = this.#path): Promise<fs.Stats> {
		return (promisify(this.#files.stat) as (path: string) => Promise<fs.Stats>)(path);
	}
}

function isStale({ mtimeMs }: fs.Stats): boolean {
	return Math.abs(Date.now() - mtimeMs) > STALE_MS;
}
