/** Makes folders. Touches the file system only. */

import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Makes the folder and those above it, for this user alone. Not Node's own recursive way, which never ends where a folder
 * cannot be made although the one above it is there, as in /proc.
 */
export async function makeFolder(path: string): Promise<void> {
	try {
		await mkdir(path, { mode: 0o700 });
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code === "EEXIST" && (await isFolder(path))) return;
		if (code !== "ENOENT" || (await isFolder(dirname(path)))) throw error;
		await makeFolder(dirname(path));
		await makeFolder(path);
	}
}

export async function isFolder(path: string): Promise<boolean> {
	return stat(path).then(
		(found) => found.isDirectory(),
		() => false,
	);
}
