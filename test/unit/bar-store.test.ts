import fs, {
	existsSync,
	mkdirSync,
	readdirSync,
	rmdirSync,
	rmSync,
	type Stats,
	utimesSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { type BarRecord, isBackingOff, type Lease } from "../../extensions/busybar-alert/cycle/bar-record.ts";
import { FileBarStore, MemoryBarStore } from "../../extensions/busybar-alert/cycle/bar-store.ts";
import { withLock } from "../../extensions/busybar-alert/files/lock.ts";
import { scratchFolder } from "../support/scratch.ts";

const BAR = { addr: "127.0.0.1:1", applicationName: "pi-turn-alert" };
const CLOCK = { sinceBootMs: () => 1_000 };

const lease = (pid: number): Lease => ({
	owner: { pid, started: "once" },
	alert: "done",
	reason: "turn 0",
	session: "session",
	pattern: "check",
	anim: "/cache/check.anim",
	display: "front",
	priority: 60,
	sinceMs: 1,
	untilMs: 2,
});

const add = (store: FileBarStore, pid: number) =>
	store.change(BAR, async (record) => ({ record: { ...record, leases: [...record.leases, lease(pid)] }, value: pid }));
const pids = ({ leases }: BarRecord) => leases.map(({ owner }) => owner.pid);

describe("what pis remember of a bar", () => {
	test("is one for all of them, in a private file, and nobody's change is lost", async () => {
		const folder = scratchFolder();
		const stores = Array.from({ length: 5 }, () => new FileBarStore(folder, CLOCK));
		await Promise.all(stores.flatMap((store, index) => [add(store, index), add(store, 10 + index)]));
		for (const store of stores)
			expect(pids(await store.read(BAR)).sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 10, 11, 12, 13, 14]);
		expect(await stores[0]?.known()).toMatchObject([BAR]);
		expect(readdirSync(join(folder, "bars"))).toHaveLength(1);
	});

	test("survives a damaged file and one of another bar", async () => {
		const folder = scratchFolder();
		const store = new FileBarStore(folder, CLOCK);
		await add(store, 1);
		for (const text of [
			"{",
			"[]",
			'{"addr":"x"}',
			'{"addr":"127.0.0.1:1","applicationName":"pi-turn-alert","leases":[5]}',
			"",
		]) {
			writeFileSync(store.pathOf(BAR), text);
			expect(pids(await store.read(BAR))).toEqual([]);
		}
		await add(store, 2);
		expect(pids(await store.read(BAR))).toEqual([2]);
	});

	test("is forgotten when the machine was started anew", async () => {
		const folder = scratchFolder();
		const before = new FileBarStore(folder, { sinceBootMs: () => 1_000_000 });
		const outage = { kind: "unreachable", failures: 3, lastTryMs: 999_000, untilMs: 1_299_000 } as const;
		await before.change(BAR, async (record) => ({ record: { ...record, outage }, value: undefined }));
		expect((await before.read(BAR)).outage).toEqual(outage);
		expect((await new FileBarStore(folder, CLOCK).read(BAR)).outage).toBeUndefined();
	});

	test("silences no alert for longer than five minutes after the last try, whatever it says", async () => {
		const outage = { kind: "unreachable", failures: 3, lastTryMs: 1_000_000, untilMs: 4e12 } as const;
		const record = { ...(await new MemoryBarStore().read(BAR)), outage };
		expect(isBackingOff(record, 1_299_999)).toBe(true);
		expect(isBackingOff(record, 1_300_000)).toBe(false);
	});

	test("stays in memory where the disk refuses, and comes back to the disk", async () => {
		const folder = scratchFolder();
		const blocked = join(folder, "bars");
		writeFileSync(blocked, "a file where the folder belongs");
		const store = new FileBarStore(folder, CLOCK);
		await add(store, 1);
		await add(store, 2);
		expect(pids(await store.read(BAR))).toEqual([1, 2]);
		rmSync(blocked);
		await add(store, 3);
		expect(pids(await new FileBarStore(folder, CLOCK).read(BAR))).toEqual([1, 2, 3]);
	});

	test("is what another pi wrote while this one was stopped and lost the lock", async () => {
		const store = new FileBarStore(scratchFolder(), CLOCK);
		const path = store.pathOf(BAR);
		await store.change(BAR, async (record) => {
			rmdirSync(`${path}.lock`);
			writeFileSync(path, JSON.stringify({ ...record, leases: [lease(2)] }));
			return { record: { ...record, leases: [lease(1)] }, value: undefined };
		});
		expect(pids(await store.read(BAR))).toEqual([2]);
	});

	test("a step that fails leaves everything as it was, and the next one runs", async () => {
		const store = new FileBarStore(scratchFolder(), CLOCK);
		await add(store, 1);
		await expect(store.change(BAR, () => Promise.reject(new Error("bug")))).rejects.toThrow("bug");
		await add(store, 2);
		expect(pids(await store.read(BAR))).toEqual([1, 2]);
	});
});

describe("the lock", () => {
	test("lets one in at a time, in the same process too", async () => {
		const path = join(scratchFolder(), "bar.json");
		let inside = 0;
		let most = 0;
		const step = async () => {
			inside += 1;
			most = Math.max(most, inside);
			await new Promise((resolve) => setImmediate(resolve));
			inside -= 1;
		};
		await Promise.all(Array.from({ length: 6 }, () => withLock(path, 5_000, step)));
		expect(most).toBe(1);
	});

	test("is taken from a holder that was killed a while ago, also when the clock was set back since", async () => {
		for (const ageMs of [10_000, -3_600_000]) {
			const path = join(scratchFolder(), "bar.json");
			mkdirSync(`${path}.lock`);
			const made = new Date(Date.now() - ageMs);
			utimesSync(`${path}.lock`, made, made);
			expect(await withLock(path, 500, async () => "in")).toBe("in");
		}
	});

	test("that was abandoned is not taken again from the one who took it, by one who saw it abandoned before", async () => {
		const path = join(scratchFolder(), "bar.json");
		mkdirSync(`${path}.lock`);
		utimesSync(`${path}.lock`, new Date(0), new Date(0));
		const looked = Promise.withResolvers<void>();
		const taken = Promise.withResolvers<void>();
		const slowStat = ((folder: string, done: (error: NodeJS.ErrnoException | null, stats: Stats) => void) =>
			fs.stat(folder, (error, stats) => {
				looked.resolve();
				void taken.promise.then(() => done(error, stats));
			})) as typeof fs.stat;
		let inside = 0;
		let most = 0;
		const step = async () => {
			inside += 1;
			most = Math.max(most, inside);
			taken.resolve();
			await delay(100);
			inside -= 1;
		};
		const slow = withLock(path, 5_000, step, { ...fs, stat: slowStat });
		await looked.promise;
		await Promise.all([slow, withLock(path, 5_000, step)]);
		expect(most).toBe(1);
	});

	test("is left alone by a holder that was stopped until another took it", async () => {
		const path = join(scratchFolder(), "bar.json");
		await withLock(path, 500, async (lock) => {
			expect(await lock.isOurs()).toBe(true);
			rmdirSync(`${path}.lock`);
			expect(await lock.isOurs()).toBe(false);
			mkdirSync(`${path}.lock`);
			const later = new Date(Date.now() + 5_000);
			utimesSync(`${path}.lock`, later, later);
			expect(await lock.isOurs()).toBe(false);
		});
		expect(existsSync(`${path}.lock`)).toBe(true);
	});

	test("is refused within the given time while its holder lives", async () => {
		const path = join(scratchFolder(), "bar.json");
		await withLock(path, 100, async () => {
			await expect(withLock(path, 100, async () => "in")).rejects.toMatchObject({ code: "ELOCKED" });
		});
	});
});
