/** Where the extension keeps its files. Reads only the environment that it is given. */

import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** `${XDG_CACHE_HOME:-~/.cache}/pi-busybar-alert`. A relative `XDG_CACHE_HOME` is ignored, as its specification says. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
	const base = env.XDG_CACHE_HOME;
	return join(base && isAbsolute(base) ? base : join(homedir(), ".cache"), "pi-busybar-alert");
}
