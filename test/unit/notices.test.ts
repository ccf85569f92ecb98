import { rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { NoticeMemory } from "../../extensions/busybar-alert/tell/notices.ts";
import { scratchFolder } from "../support/scratch.ts";

const folder = scratchFolder;

test("the very first notice is shown once, for all pis together", async () => {
	const path = join(folder(), "cache");
	expect(await new NoticeMemory(path).welcome()).toBe(true);
	expect(await new NoticeMemory(path).welcome()).toBe(false);
	expect(statSync(path).mode & 0o777).toBe(0o700);
	expect(statSync(join(path, "notices.json")).mode & 0o777).toBe(0o600);
});

test("if alerts have worked before, a notice is shown once per kind and outage", async () => {
	const path = folder();
	const [one, other] = [new NoticeMemory(path), new NoticeMemory(path)];
	await one.shown();
	expect(await one.failed("unreachable")).toBe(true);
	expect(await other.failed("unreachable")).toBe(false);
	expect(await other.failed("forbidden")).toBe(true);
	await other.shown();
	expect(await one.failed("unreachable")).toBe(true);
});

test("if no alert has ever worked, only the first outage gives a notice", async () => {
	const memory = new NoticeMemory(folder());
	expect(await memory.failed("unreachable")).toBe(true);
	expect(await memory.failed("not_found")).toBe(false);
	expect(await memory.failed("unreachable")).toBe(false);
});

test("a bar that shows something more important gives no notice", async () => {
	const memory = new NoticeMemory(folder());
	expect(await memory.failed("preempted")).toBe(false);
	expect(await memory.failed("unreachable")).toBe(true);
});

test("two failures at the same moment give one notice", async () => {
	const memory = new NoticeMemory(folder());
	const told = await Promise.all([memory.failed("unreachable"), memory.failed("unreachable")]);
	expect(told.filter(Boolean)).toHaveLength(1);
});

test("a damaged memory costs a repeated notice, nothing else", async () => {
	const path = folder();
	writeFileSync(join(path, "notices.json"), "{ half");
	expect(await new NoticeMemory(path).failed("unreachable")).toBe(true);
});

test("if the file cannot be written, this pi remembers for itself until it can", async () => {
	const path = join(folder(), "cache");
	writeFileSync(path, "a file in the folder's place");
	const memory = new NoticeMemory(path);
	expect(await memory.welcome()).toBe(true);
	expect(await memory.welcome()).toBe(false);
	await memory.shown();
	expect(await memory.failed("unreachable")).toBe(true);
	expect(await memory.failed("unreachable")).toBe(false);
	rmSync(path);
	expect(await memory.failed("device")).toBe(true);
	expect(await new NoticeMemory(path).failed("unreachable")).toBe(false);
});
