/** Reads and replaces small JSON files. Touches the file system only. */

import { readFile, realpath, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { makeFolder } from "./folder.ts";

/** The parsed file; undefined if it is absent, unreadable or not JSON. */
export async function readJson(path: string): Promise<unknown> {
	try {
		return JSON.parse(await readFile(path, "utf8"));
	} catch {
		return undefined;
	}
}

/** Replaces the file in one step: a reader sees either the old text or the new one. Rejects if it cannot be written. */
export async function writeJson(path: string, value: unknown): Promise<void> {
	// A link stays a link: people keep their settings in a repository and link to them.
	const target = await realpath(path).catch(() => path);
	const temporary = `${target}.${process.pid}.${Math.random().toString(36).slice(2, 10)}.tmp`;
	await makeFolder(dirname(target));
	try {
		await writeFile(temporary, `${JSON.stringify(value, null, "\t")}\n`, { mode: 0o600, flag: "wx" });
		await rename(temporary, target);
	} catch (error) {
		await rm(temporary, { force: true });
		throw error;
	}
}
