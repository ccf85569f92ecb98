import { mkdirSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cacheFolder } from "../../extensions/busybar-alert/files/cache-folder.ts";
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
