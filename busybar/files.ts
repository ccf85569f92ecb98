/** Reads and writes whole files: of limited size, never in part. Touches only the paths it is given. */

import { existsSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { CommandError } from "./command-error.ts";
import { quote } from "./options.ts";

const maxInputBytes = 64 * 1024 * 1024;

/** `flag` names the option that gave the path. */
export function readInput(flag: string, path: string): Uint8Array {
	if (path === "") throw new CommandError(`${flag} is empty; give the path of a file.`);
	return explained(`${flag} ${quote(path)} cannot be read`, () => {
		const stat = statSync(path);
		if (stat.isDirectory()) throw new CommandError(`${flag} ${quote(path)} is a folder; give the path of a file.`);
		if (!stat.isFile()) throw new CommandError(`${flag} ${quote(path)} is not a regular file; give the path of one.`);
		if (stat.size > maxInputBytes) {
			throw new CommandError(`${flag} ${quote(path)} has ${stat.size} bytes; the limit is ${maxInputBytes}.`);
		}
		return readFileSync(path);
	});
}

export interface OutputFile {
	readonly flag: string;
	readonly path: string;
}

/** To be called before any work. @throws CommandError if `outputs` cannot be written, or would overwrite `inputs` */
export function checkOutputs(outputs: readonly OutputFile[], inputs: readonly OutputFile[]): void {
	const taken = new Map(inputs.map((input) => [realPath(input.path), input.flag]));
	for (const output of outputs) {
		const { flag, path } = output;
		if (path === "") throw new CommandError(`${flag} is empty; give the path of a file.`);
		explained(`${flag} ${quote(path)} cannot be written`, () => checkOutput(output, taken));
	}
}

/** `taken` maps the real paths of the other files to their flags; this file is added. */
function checkOutput({ flag, path }: OutputFile, taken: Map<string, string>): void {
	const folder = dirname(path);
	if (!existsSync(folder)) {
		throw new CommandError(`${flag} ${quote(path)} cannot be written: create the folder ${quote(folder)} first.`);
	}
	if (existsSync(path) && !statSync(path).isFile()) {
		throw new CommandError(`${flag} ${quote(path)} exists and is not a regular file; choose another path.`);
	}
	const other = taken.get(realPath(path));
	if (other) throw new CommandError(`${flag} and ${other} are the same file ${quote(path)}; choose another path.`);
	taken.set(realPath(path), flag);
}

/**
 * Writes all files or none: each under a temporary name in its folder, then renamed. There is one exception: an older
 * file that has already been replaced when another one fails stays replaced.
 */
export function writeOutputs(files: readonly (OutputFile & { readonly bytes: Uint8Array })[]): void {
	const left = new Set<string>();
	try {
		const written = files.map(({ flag, path, bytes }) => {
			const what = `${flag} ${quote(path)} cannot be written`;
			// Links are followed: renaming a file to the name of a link would replace the link.
			const target = explained(what, () => realPath(path));
			// Short, because the name of the file itself may already have the maximum length.
			const temporary = join(dirname(target), `.${process.getBuiltinModule("node:crypto").randomUUID()}.tmp`);
			left.add(temporary);
			explained(what, () => writeFileSync(temporary, bytes, { flag: "wx" }));
			return { what, target, temporary };
		});
		for (const { what, target, temporary } of written) {
			const isNew = !existsSync(target);
			explained(what, () => renameSync(temporary, target));
			left.delete(temporary);
			if (isNew) left.add(target);
		}
		left.clear();
	} finally {
		for (const path of left) removeIfPossible(path);
	}
}

function removeIfPossible(path: string): void {
	try {
		rmSync(path, { force: true });
	} catch {
		// The error to report is the one that stopped the writing.
	}
}

/** Follows links, also for a file that does not exist yet. */
function realPath(path: string): string {
	return existsSync(path) ? realpathSync(path) : join(realpathSync(dirname(path)), basename(path));
}

const reasons: Readonly<Record<string, string>> = {
	ENOENT: "it does not exist; check the path",
	ENOTDIR: "a part of the path is not a folder; check the path",
	EACCES: "permission denied; check its permissions",
	EPERM: "permission denied; check its permissions",
	EROFS: "the file system is read-only; choose another path",
	ENOSPC: "the disk is full; free some space and try again",
	ENAMETOOLONG: "the name is too long; choose a shorter one",
};

/** Runs `action`, and turns an error of the file system into a sentence that begins with `what`. */
export function explained<T>(what: string, action: () => T): T {
	try {
		return action();
	} catch (error) {
		if (error instanceof CommandError) throw error;
		const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
		throw new CommandError(`${what}: ${reasons[code] ?? code}.`);
	}
}
