import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cacheFolder } from "../../extensions/busybar-alert/files/cache-folder.ts";
import { makeFolder } from "../../extensions/busybar-alert/files/folder.ts";
import { writeJson } from "../../extensions/busybar-alert/files/json-file.ts";
import { scratchFolder } from "../support/scratch.ts";

test("the cache is where XDG_CACHE_HOME says, if that is an absolute path, else in ~/.cache", () => {
	expect(cacheFolder({ XDG_CACHE_HOME: "/caches" })).toBe("/caches/pi-busybar-alert");
	for (const env of [{}, { XDG_CACHE_HOME: "" }, { XDG_CACHE_HOME: "relative" }]) {
		expect(cacheFolder(env)).toBe(join(homedir(), ".cache", "pi-busybar-alert"));
	}
});

test("a file that cannot be replaced leaves nothing beside it", async () => {
	const folder = scratchFolder();
	mkdirSync(join(folder, "in-the-way"));
	await expect(writeJson(join(folder, "in-the-way"), {})).rejects.toThrow();
	expect(readdirSync(folder)).toEqual(["in-the-way"]);
});

test("a folder is made with those above it, for this user alone, by several at once", async () => {
	const folder = join(scratchFolder(), "one", "two");
	await Promise.all([makeFolder(folder), makeFolder(folder), makeFolder(join(folder, "three"))]);
	for (const path of [folder, join(folder, ".."), join(folder, "three")])
		expect(statSync(path).mode & 0o777).toBe(0o700);
});

test("a folder that cannot be made is an error, and not an endless attempt", async () => {
	const file = join(scratchFolder(), "file");
	writeFileSync(file, "");
	await expect(makeFolder(file)).rejects.toThrow("EEXIST");
	await expect(makeFolder(join(file, "one", "two"))).rejects.toThrow("ENOTDIR");
	if (existsSync("/proc/self")) await expect(makeFolder("/proc/nowhere/one/two")).rejects.toThrow("ENOENT");
});
