#!/usr/bin/env node
// Starts the command: the built file where there is one, else the source. Plain JavaScript that old Nodes can parse,
// so that they get a sentence and not a syntax error.

const [major, minor] = process.versions.node.split(".").map(Number);

async function start() {
	const { existsSync } = process.getBuiltinModule("node:fs");
	const built = new URL("../dist/busybar.js", import.meta.url);
	const source = new URL("./cli.ts", import.meta.url);
	if (!existsSync(built) && source.pathname.includes("/node_modules/")) {
		throw new Error("this copy of pi-busybar was installed without its dist folder; install the package again");
	}
	cacheCompiledCode();
	const cli = await import((existsSync(built) ? built : source).href);
	await cli.main();
}

// Halves the start from source. In the user's own cache folder: Node's default is one that others could write to.
function cacheCompiledCode() {
	const { existsSync, mkdirSync } = process.getBuiltinModule("node:fs");
	const { isAbsolute, join } = process.getBuiltinModule("node:path");
	const { XDG_CACHE_HOME: set = "" } = process.env;
	const caches = isAbsolute(set) ? set : join(process.getBuiltinModule("node:os").homedir(), ".cache");
	const folder = join(caches, "pi-busybar");
	try {
		// Level by level: Node's recursive way never returns where mkdir says ENOENT under a folder that exists (/proc).
		if (!existsSync(caches)) mkdirSync(caches);
		if (!existsSync(folder)) mkdirSync(folder);
	} catch {
		return;
	}
	process.getBuiltinModule("node:module").enableCompileCache(folder);
}

// In a clone before its first npm install nothing of what the source imports is there.
function reason({ code, message }) {
	const [, name] = /^Cannot find package '([^']+)'/.exec(message) ?? [];
	if (code !== "ERR_MODULE_NOT_FOUND" || name === undefined) return message;
	const folder = process
		.getBuiltinModule("node:url")
		.fileURLToPath(new URL("../", import.meta.url))
		.slice(0, -1);
	return `${name} is not installed; run npm install in ${folder} first`;
}

if (major < 22 || (major === 22 && minor < 19)) {
	console.error(
		`Error: pi-busybar needs Node 22.19 or newer, and this is ${process.versions.node}; install a newer Node.`,
	);
	process.exitCode = 1;
} else {
	start().catch((error) => {
		console.error(`Error: pi-busybar cannot start: ${reason(error)}.`);
		process.exitCode = 1;
	});
}
