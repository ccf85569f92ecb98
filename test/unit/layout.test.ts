import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

function sources(folder: string): string[] {
	return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
		.filter((name) => /\.[jt]s$/.test(name))
		.map((name) => join(folder, name));
}

/** What a module imports, statically or not: paths from the root for our own files, names for packages. */
function importsOf(file: string): string[] {
	const text = readFileSync(join(ROOT, file), "utf8");
	const found = [
		...text.matchAll(/^\s*(?:import|export)\b[^"'`;]*?\bfrom\s*["']([^"']+)["']/gms),
		...text.matchAll(/^\s*import\s*["']([^"']+)["']/gm),
		...text.matchAll(/\b(?:import|require)\(\s*["']([^"']+)["']\s*\)/g),
	];
	return found.map(([, specifier = ""]) =>
		specifier.startsWith(".") ? relative(ROOT, resolve(ROOT, dirname(file), specifier)) : specifier,
	);
}

/** The module and everything of ours that it reaches. */
function reachedFrom(file: string, seen = new Set<string>()): Set<string> {
	if (seen.has(file)) return seen;
	seen.add(file);
	for (const imported of importsOf(file)) if (existsSync(join(ROOT, imported))) reachedFrom(imported, seen);
	return seen;
}

describe("imports go one way", () => {
	test("this test sees the imports that there are", () => {
		expect(importsOf("extensions/busybar-alert/index.ts")).toContain("extensions/busybar-alert/session.ts");
		expect(importsOf("extensions/busybar-alert/log.ts")).toContain("proper-lockfile");
		expect(importsOf("busybar/cli.ts").length).toBeGreaterThan(0);
	});

	test.each(sources("extensions"))("%s imports nothing from busybar", (file) => {
		expect(importsOf(file).filter((imported) => imported.startsWith("busybar/"))).toEqual([]);
	});

	test.each(sources("busybar"))("%s imports nothing from the extensions, and nothing of pi", (file) => {
		const wrong = importsOf(file).filter((imported) => /^(extensions\/|@earendil-works\/|typebox)/.test(imported));
		expect(wrong).toEqual([]);
	});

	test.each(sources("extensions"))("%s imports its own extension and _shared alone", (file) => {
		const own = file.split("/").slice(0, 2).join("/");
		const wrong = importsOf(file).filter(
			(imported) =>
				imported.startsWith("extensions/") &&
				!imported.startsWith(`${own}/`) &&
				!(imported.startsWith("extensions/_shared/") && own !== "extensions/_shared"),
		);
		expect(wrong).toEqual([]);
	});

	test("alert.ts and everything it reaches imports nothing from pi", () => {
		const reached = [...reachedFrom("extensions/busybar-alert/alert.ts")];
		expect(reached.length).toBeGreaterThan(5);
		for (const file of reached) {
			expect(
				importsOf(file).filter((imported) => imported.startsWith("@earendil-works/")),
				file,
			).toEqual([]);
		}
	});

	test("of the alert extension, only its wiring knows pi", () => {
		const wiring = ["commands.ts", "index.ts", "terminal/pi-screen.ts"].map(
			(name) => `extensions/busybar-alert/${name}`,
		);
		const knowing = sources("extensions/busybar-alert").filter((file) =>
			importsOf(file).some((imported) => imported.startsWith("@earendil-works/")),
		);
		expect(knowing.sort()).toEqual(wiring);
	});

	test("no source of the product reaches into the tests", () => {
		for (const file of [...sources("extensions"), ...sources("busybar")]) {
			expect(
				importsOf(file).filter((imported) => imported.startsWith("test/")),
				file,
			).toEqual([]);
		}
	});
});

test("the top level is what a newcomer is told it is", () => {
	const folders = readdirSync(ROOT).filter((name) => statSync(join(ROOT, name)).isDirectory());
	const generated = [".git", ".vitest", "node_modules", "dist", "demo-output"];
	expect(folders.filter((name) => !generated.includes(name)).sort()).toEqual([
		".ci",
		".pi",
		"busybar",
		"docs",
		"extensions",
		"test",
	]);
});

test("a file's first lines say what it is", () => {
	for (const file of [...sources("extensions"), ...sources("busybar")]) {
		expect(readFileSync(join(ROOT, file), "utf8").replace(/^#!.*\n/, ""), file).toMatch(/^(\/\*\*|\/\/)/);
	}
});

test("no name says nothing", () => {
	const names = [...sources("extensions"), ...sources("busybar"), ...sources("test")];
	expect(names.filter((name) => /utils|helpers|manager/i.test(name))).toEqual([]);
});

test("a file is at most some 400 lines", () => {
	const long = [...sources("extensions"), ...sources("busybar")].filter(
		(file) => readFileSync(join(ROOT, file), "utf8").split("\n").length > 450,
	);
	expect(long).toEqual([]);
});
