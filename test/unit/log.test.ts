import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lock } from "proper-lockfile";
import { expect, test } from "vitest";
import { AlertLog, type LogRow, rowOf } from "../../extensions/busybar-alert/log.ts";
import { scratchFolder } from "../support/scratch.ts";
import { waitUntil } from "../support/wait.ts";

const folder = () => join(scratchFolder(), "cache");
const row = (reason: string): LogRow => ({
	ts: "2026-11-30T05:00:00.000Z",
	reason,
	alert: "turn",
	outcome: "skipped",
	gate: "debounce",
	pid: 1,
	session: "s",
});

test("a row has the time, the reason, the pid and the session", () => {
	const asked = { alert: "done", reason: "turn 3", session: "s" } as const;
	expect(rowOf(asked, { outcome: "skipped", gate: "muted" }, 1_800_000_000_000)).toEqual({
		ts: "2027-01-15T08:00:00.000Z",
		...asked,
		outcome: "skipped",
		gate: "muted",
		pid: process.pid,
	});
});

test("rows are written in order, to a private file in a private folder, after the caller has gone on", async () => {
	const path = folder();
	const log = new AlertLog(path);
	for (const reason of ["one", "two", "three"]) log.append(row(reason));
	expect(readdirSync(join(path, ".."))).toEqual([]);
	await log.flush();
	const lines = readFileSync(join(path, "alerts.jsonl"), "utf8").trim().split("\n");
	expect(lines.map((line) => JSON.parse(line).reason)).toEqual(["one", "two", "three"]);
	expect(statSync(path).mode & 0o777).toBe(0o700);
	expect(statSync(join(path, "alerts.jsonl")).mode & 0o777).toBe(0o600);
});

test("what is still queued when the process ends is written", async () => {
	const path = folder();
	const log = new AlertLog(path);
	mkdirSync(path);
	log.append(row("last words"));
	log.flushAtExit();
	const file = join(path, "alerts.jsonl");
	expect(readFileSync(file, "utf8")).toContain("last words");
	expect(statSync(file).mode & 0o777).toBe(0o600);
});

test.each([0, 1, 2, 3, 4, 5, 6, 7, 8])(
	"a row is written once if the process exits %i steps after it was added",
	(steps) => {
		const path = folder();
		mkdirSync(path);
		const script = `
		const { AlertLog } = await import(${JSON.stringify(new URL("../../extensions/busybar-alert/log.ts", import.meta.url))});
		const log = new AlertLog(${JSON.stringify(path)});
		process.on("exit", () => log.flushAtExit());
		const step = (left) => (left === 0 ? process.exit() : setImmediate(step, left - 1));
		log.append({ reason: "last words" });
		step(${steps});`;
		const { stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", script], { encoding: "utf8" });
		expect(readFileSync(join(path, "alerts.jsonl"), "utf8"), stderr).toBe('{"reason":"last words"}\n');
	},
);

test("a row that was cut off in the middle costs no other row", async () => {
	const path = folder();
	mkdirSync(path);
	const torn = JSON.stringify(row("torn")).slice(0, 40);
	writeFileSync(join(path, "alerts.jsonl"), `${JSON.stringify(row("one"))}\n${torn}`);
	const log = new AlertLog(path);
	log.append(row("two"));
	await log.flush();
	log.append(row("three"));
	expect((await log.read()).map(({ reason }) => reason)).toEqual(["one", "two", "three"]);
	expect(readFileSync(join(path, "alerts.jsonl"), "utf8")).not.toContain("\n\n");
});

test("rows that the disk does not take can be read all the same, and are written once it takes them", async () => {
	const path = folder();
	writeFileSync(path, "a file in the folder's place");
	const log = new AlertLog(path);
	for (let index = 0; index < 300; index += 1) {
		log.append(row(`lost ${index}`));
		await log.flush();
	}
	log.append(row("one"));
	await log.flush();
	// Memory stays flat: the newest rows count.
	expect(await log.read()).toHaveLength(200);
	expect((await log.read()).at(-1)?.reason).toBe("one");
	rmSync(path);
	log.append(row("two"));
	await log.flush();
	const written = await new AlertLog(path).read();
	expect(written.slice(-2).map(({ reason }) => reason)).toEqual(["one", "two"]);
	expect(await log.read()).toEqual(written);
});

test("rows that the disk did not take are offered to it once more when the process ends", async () => {
	const path = folder();
	writeFileSync(path, "a file in the folder's place");
	const log = new AlertLog(path);
	log.append(row("last words"));
	await log.flush();
	rmSync(path);
	mkdirSync(path);
	log.flushAtExit();
	expect((await new AlertLog(path).read()).map(({ reason }) => reason)).toEqual(["last words"]);
});

test("above 1 MiB the log becomes alerts.1.jsonl, of which one is kept, so that it takes about 2 MiB at most", async () => {
	const path = folder();
	const logs = [new AlertLog(path), new AlertLog(path)];
	for (let round = 0; round < 30; round += 1) {
		for (const log of logs)
			for (let index = 0; index < 400; index += 1) log.append(row(`${round} ${index} ${"x".repeat(40)}`));
		await Promise.all(logs.map((log) => log.flush()));
	}
	const files = readdirSync(path).sort();
	expect(files).toEqual(["alerts.1.jsonl", "alerts.jsonl"]);
	const bytes = files.map((name) => statSync(join(path, name)).size);
	expect(Math.max(...bytes)).toBeLessThan(1.2 * 1024 * 1024);
	const rows = await (logs[0] as AlertLog).read();
	expect(rows.at(-1)?.reason).toContain("29 399");
	const lines = files.flatMap((name) => readFileSync(join(path, name), "utf8").trimEnd().split("\n"));
	expect(rows).toHaveLength(lines.length);
});

test("a log that another pi has just rotated is not rotated again, so nothing is lost", async () => {
	const path = folder();
	mkdirSync(path);
	const [file, aside] = [join(path, "alerts.jsonl"), join(path, "alerts.1.jsonl")];
	writeFileSync(file, `${JSON.stringify(row("x".repeat(1024 * 1024)))}\n`);
	const unlock = await lock(file, { realpath: false });
	const log = new AlertLog(path);
	log.append(row("one more"));
	// It waits for the lock as soon as it has seen the size of the file.
	await waitUntil("the row", 5_000, () => readFileSync(file, "utf8").includes("one more"));
	for (let turns = 0; turns < 50; turns += 1) await new Promise((resolve) => setImmediate(resolve));
	renameSync(file, aside);
	writeFileSync(file, "");
	await unlock();
	await log.flush();
	expect(existsSync(file)).toBe(true);
	expect(statSync(aside).size).toBeGreaterThan(1024 * 1024);
});

test("a damaged line is left out, and all others are read", async () => {
	const path = folder();
	const log = new AlertLog(path);
	log.append(row("before"));
	await log.flush();
	writeFileSync(
		join(path, "alerts.jsonl"),
		'{"ts": half\n42\nnull\n{"ts":"2026-11-30","outcome":"fired"}\n{"ts":"soon","outcome":"fired","reason":"x","alert":"turn"}\n',
		{ flag: "a" },
	);
	log.append(row("after"));
	expect((await log.read()).map(({ reason }) => reason)).toEqual(["before", "after"]);
});
