#!/usr/bin/env node
// Starts the command: the built file if there is one, else the source. Plain JavaScript that old versions of Node can
// parse, so that their users get a sentence and not a syntax error.

const [major, minor] = process.versions.node.split(".").map(Number);

async function start() {
	const { existsSync } = process.getBuiltinModule("node:fs");
	const built = new URL("../dist/busybar.js", import.meta.url);
	const source = new URL("./cli.ts", import.meta.url);
	if (!existsSync(built) && source.pathname.includes("/node_modules/")) {
		throw new Error("its dist folder is missing; install the package again");
	}
	cacheCompiledCode();
	const cli = await import((existsSync(built) ? built : source).href);
	await cli.main();
}

// Halves the startup time from source. In the user's own cache folder, because others could write to Node's default one.
function cacheCompiledCode() {
	const { existsSync, mkdirSync } = process.getBuiltinModule("node:fs");
	const { isAbsolute, join } = process.getBuiltinModule("node:path");
	const { XDG_CACHE_HOME: set = "" } = process.env;
	const caches = isAbsolute(set) ? set : join(process.getBuiltinModule("node:os").homedir(), ".cache");
	const folder = join(caches, "pi-busybar");
	try {
		// One level at a time: Node's recursive mkdir never returns if mkdir fails with ENOENT in an existing folder (/proc).
		if (!existsSync(caches)) mkdirSync(caches);
		if (!existsSync(folder)) mkdirSync(folder);
	} catch {
		return;
	}
	process.getBuiltinModule("node:module").enableCompileCache(folder);
}

// In a clone, the packages that the source imports are missing until npm install has run.
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
		`Error: pi-busybar needs Node 22.19 or newer, but this is Node ${process.versions.node}; install a newer version.`,
	);
	process.exitCode = 1;
} else {
	start().catch((error) => {
		console.error(`Error: pi-busybar cannot start: ${reason(error)}.`);
		process.exitCode = 1;
	});
}
