/**
 * Keeps the record of each bar in a small file in `bars/` of the cache folder. It is changed under a lock that is held while
 * a process draws or clears. If the disk refuses, this process keeps its own record in memory. Touches only that folder.
 */

import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../clock.ts";
import { readJson, writeJson } from "../files/json-file.ts";
import { withLock } from "../files/lock.ts";
import type { ProcessIdentity } from "../processes.ts";
import { type BarRecord, isOfThisBoot, type Lease, type Wish } from "./bar-record.ts";
import type { AlertRequest } from "./request.ts";

export type BarName = Pick<AlertRequest["target"], "addr" | "applicationName">;

export interface BarStore {
	/** The latest record. Does not wait for the lock. Never rejects. */
	read(bar: BarName): Promise<BarRecord>;
	/**
	 * Runs `step` while no other step runs for this bar, and keeps the record that it returns, unless another process has
	 * gone on meanwhile. Rejects only if `step` does.
	 */
	change<T>(bar: BarName, step: Step<T>): Promise<T>;
	/** All bars that have a record. Never rejects. */
	known(): Promise<readonly BarName[]>;
	/** The file of the bar's record, for a process that outlives this one; undefined if there is no file. */
	pathOf(bar: BarName): string | undefined;
}

export type Step<T> = (record: BarRecord, keep: Keep) => Promise<Changed<T>>;

/**
 * Keeps a record in the middle of a step, for the others to know if this process is killed or stopped. False if it was
 * stopped for so long that another process has gone on. Never rejects.
 */
export type Keep = (record: BarRecord) => Promise<boolean>;

export interface Changed<T> {
	readonly record: BarRecord;
	readonly value: T;
}

/**
 * After this time a step runs without the lock. Long, because what keeps the lock is other pis at work: whoever was killed
 * or stopped loses it within seconds, and a bar that hangs is tried by one of them only.
 */
const LOCK_WAIT_MS = 60_000;

export class MemoryBarStore implements BarStore {
	readonly #records = new Map<string, BarRecord>();
	readonly #turns = new Map<string, Promise<unknown>>();

	async read(bar: BarName): Promise<BarRecord> {
		return this.#records.get(keyOf(bar)) ?? emptyRecord(bar);
	}

	change<T>(bar: BarName, step: Step<T>): Promise<T> {
		const key = keyOf(bar);
		const changing = (this.#turns.get(key) ?? Promise.resolve()).then(async () => {
			const keep = async (record: BarRecord) => {
				this.#records.set(key, record);
				return true;
			};
			const { record, value } = await step(await this.read(bar), keep);
			this.#records.set(key, record);
			return value;
		});
		this.#turns.set(
			key,
			changing.catch(() => undefined),
		);
		return changing;
	}

	async known(): Promise<readonly BarName[]> {
		return [...this.#records.values()];
	}

	pathOf(): undefined {
		return undefined;
	}
}

export class FileBarStore implements BarStore {
	readonly #folder: string;
	readonly #clock: Pick<Clock, "sinceBootMs">;
	readonly #memory = new MemoryBarStore();
	#isRefused = false;

	constructor(cacheFolder: string, clock: Pick<Clock, "sinceBootMs">) {
		this.#folder = join(cacheFolder, "bars");
		this.#clock = clock;
	}

	async read(bar: BarName): Promise<BarRecord> {
		return this.#isRefused ? this.#memory.read(bar) : this.#read(bar);
	}

	/** Steps of this process run in order, so that only one of them asks for the file's lock. */
	change<T>(bar: BarName, step: Step<T>): Promise<T> {
		return this.#memory.change(bar, async (remembered, keepInMemory) => {
			let hasBegun = false;
			const run: Step<T> = async (known, keep) => {
				hasBegun = true;
				return step(known, keep);
			};
			const path = this.pathOf(bar);
			try {
				return await withLock(path, LOCK_WAIT_MS, async (lock) => {
					const before = this.#isRefused ? remembered : await this.#read(bar);
					const keep = async (record: BarRecord) => {
						// Another process took the lock while this one was stopped, and its record is newer.
						if (!(await lock.isOurs())) return false;
						// If the disk has become full or read-only, the step goes on all the same.
						this.#isRefused = !(await isWritten(path, record));
						return keepInMemory(record);
					};
					const changed = await run(before, keep);
					if (changed.record !== before) await keep(changed.record);
					return changed;
				});
			} catch (error) {
				if (hasBegun) throw error;
				const isHeld = (error as NodeJS.ErrnoException).code === "ELOCKED";
				this.#isRefused = !isHeld;
				return run(isHeld ? await this.#read(bar) : remembered, keepInMemory);
			}
		});
	}

	async known(): Promise<readonly BarName[]> {
		const names = await readdir(this.#folder).catch(() => []);
		const paths = names.filter((name) => name.endsWith(".json")).map((name) => join(this.#folder, name));
		const records = await Promise.all(paths.map(readJson));
		return records.filter(isBarName);
	}

	pathOf(bar: BarName): string {
		return join(this.#folder, `${createHash("sha256").update(keyOf(bar)).digest("hex").slice(0, 8)}.json`);
	}

	async #read(bar: BarName): Promise<BarRecord> {
		const found = await readJson(this.pathOf(bar));
		return isRecord(found, bar) && isOfThisBoot(found, this.#clock.sinceBootMs()) ? found : emptyRecord(bar);
	}
}

async function isWritten(path: string, record: BarRecord): Promise<boolean> {
	return writeJson(path, record).then(
		() => true,
		() => false,
	);
}

function keyOf({ addr, applicationName }: BarName): string {
	return `${addr} ${applicationName}`;
}

function emptyRecord({ addr, applicationName }: BarName): BarRecord {
	return { addr, applicationName, leases: [], wishes: [], shown: undefined, outage: undefined };
}

function isBarName(value: unknown): value is BarName {
	const found = value as Partial<BarName> | null | undefined;
	return typeof found?.addr === "string" && typeof found.applicationName === "string";
}

/** A damaged file, or one of another bar with the same hash, counts as absent. */
function isRecord(value: unknown, bar: BarName): value is BarRecord {
	if (!isBarName(value) || keyOf(value) !== keyOf(bar)) return false;
	const { leases, wishes, shown, outage } = value as Partial<BarRecord>;
	return (
		Array.isArray(leases) &&
		leases.every(isLease) &&
		Array.isArray(wishes) &&
		wishes.every(isWish) &&
		(shown === undefined || (isLease(shown) && typeof shown.drawnMs === "number" && typeof shown.upMs === "number")) &&
		(outage === undefined || typeof outage?.untilMs === "number")
	);
}

function isWish(value: unknown): value is Wish {
	const found = value as Partial<Wish> | null | undefined;
	return (
		isOwner(found?.owner) &&
		[found?.alert, found?.anim, found?.display].every((text) => typeof text === "string") &&
		[found?.sinceMs, found?.toldMs].every((number) => typeof number === "number")
	);
}

function isOwner(value: Partial<ProcessIdentity> | undefined): boolean {
	return typeof value?.pid === "number" && typeof value.started === "string";
}

function isLease(value: unknown): value is Lease {
	const found = value as Partial<Lease> | null | undefined;
	return (
		isOwner(found?.owner) &&
		[found?.alert, found?.anim, found?.display, found?.session, found?.reason].every(
			(text) => typeof text === "string",
		) &&
		[found?.sinceMs, found?.untilMs, found?.priority].every((number) => typeof number === "number")
	);
}
