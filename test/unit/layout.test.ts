import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { scratchFolder } from "../support/scratch.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const BIOME = join(ROOT, "node_modules/@biomejs/biome/bin/biome");

function sources(folder: string): string[] {
	return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
		.filter((name) => /\.[jt]s$/.test(name))
		.map((name) => join(folder, name));
}

const PI = "@earendil-works/pi-tui";
const ALERT = "extensions/busybar-alert";

/** A file, what it may import, and what it may not. */
const IMPORTS: readonly (readonly [file: string, may: readonly string[], mayNot: readonly string[]])[] = [
	[
		"busybar/x.ts",
		["./bar.ts", "pngjs"],
		[PI, "typebox", "typebox/value", "../extensions/_shared/say.ts", "../test/x.ts"],
	],
	["busybar/commands/x.js", ["../bar.ts"], ["../../extensions/_shared/say.ts", "../../test/x.ts"]],
	["extensions/_shared/x.ts", [PI, "./say.ts"], ["../launcher/frame.ts", "../../busybar/bar.ts", "../../test/x.ts"]],
	["extensions/launcher/x.ts", [PI, "../_shared/say.ts"], ["../busybar-alert/log.ts", "../../busybar/bar.ts"]],
	["extensions/launcher/room/x.ts", [PI, "../frame.ts", "../../_shared/say.ts"], ["../../busybar-alert/log.ts"]],
	[
		`${ALERT}/index.ts`,
		[PI, "../_shared/say.ts", "./terminal/pi-screen.ts"],
		["../launcher/frame.ts", "../../test/x.ts"],
	],
	[`${ALERT}/commands.ts`, [PI, "../_shared/say.ts", "./session.ts"], ["../../busybar/bar.ts"]],
	[`${ALERT}/alert.ts`, ["./busybar.ts", "./cli/exec.ts"], [PI, "../_shared/say.ts", "./terminal/pi-screen.ts"]],
	[`${ALERT}/new-room/x.ts`, ["./y.ts"], [PI, "../settings.ts", "../cli/exec.ts", "../../_shared/say.ts"]],
	[`${ALERT}/files/x.ts`, ["./y.ts"], [PI, "../settings.ts", "../cli/exec.ts", "../session.ts"]],
	[`${ALERT}/terminal/x.ts`, ["../clock.ts"], [PI, "./pi-screen.ts", "../settings.ts", "../when/run.ts"]],
	[`${ALERT}/terminal/pi-screen.ts`, [PI], ["../clock.ts", "../../_shared/say.ts"]],
	[
		`${ALERT}/cli/x.ts`,
		["../busybar.ts", "../files/x.ts"],
		[PI, "../settings.ts", "../cycle/assets.ts", "../alert.ts"],
	],
	[`${ALERT}/cycle/x.ts`, ["../clock.ts", "../cli/exec.ts"], [PI, "../log.ts", "../tell/doctor.ts", "../alert.ts"]],
	[`${ALERT}/when/x.ts`, ["../settings.ts", "../cycle/request.ts"], [PI, "../cycle/assets.ts", "../policy.ts"]],
	[`${ALERT}/tell/x.ts`, ["../log.ts", "../cycle/x.ts", "../when/x.ts"], [PI, "../after-pi/x.ts", "../alert.ts"]],
	[`${ALERT}/after-pi/x.ts`, ["../log.ts", "../cycle/x.ts"], [PI, "../tell/notices.ts", "../process-parts.ts"]],
];

interface Refusal {
	readonly category: string;
	readonly message: string;
	readonly location: { readonly path: string; readonly start: { readonly line: number } };
}

/** What Biome says of the files under the project's own configuration. */
function lint(files: Readonly<Record<string, readonly string[]>>): readonly Refusal[] {
	const folder = scratchFolder();
	copyFileSync(join(ROOT, "biome.json"), join(folder, "biome.json"));
	for (const [file, lines] of Object.entries(files)) {
		mkdirSync(dirname(join(folder, file)), { recursive: true });
		writeFileSync(join(folder, file), lines.join("\n"));
	}
	const rules = ["style/noRestrictedImports", "style/noCommonJs", "suspicious/noImportCycles"];
	const args = ["lint", "--reporter=json", "--max-diagnostics=none", "--vcs-enabled=false"];
	const { stdout } = spawnSync(process.execPath, [BIOME, ...args, ...rules.map((rule) => `--only=${rule}`)], {
		cwd: folder,
		encoding: "utf8",
	});
	return JSON.parse(stdout).diagnostics;
}

test("each import rule refuses what it is for, and no more", () => {
	const refusals = lint(
		Object.fromEntries(
			IMPORTS.map(([file, may, mayNot]) => [file, [...may, ...mayNot].map((source) => `import "${source}";`)]),
		),
	);
	for (const [file, may, mayNot] of IMPORTS) {
		const lines = new Set(
			refusals.filter(({ location }) => location.path === file).map(({ location }) => location.start.line),
		);
		const refused = [...may, ...mayNot].filter((_, index) => lines.has(index + 1));
		expect(refused, file).toEqual(mayNot);
	}
	const messages = [...readFileSync(join(ROOT, "biome.json"), "utf8").matchAll(/"message": "(.*)"/g)].map(
		([, text]) => text,
	);
	expect(new Set(refusals.map(({ message }) => message))).toEqual(new Set(messages));
});

test("an import rule sees types, re-exports and dynamic imports too, and `require` is not used", () => {
	const refusals = lint({
		"busybar/x.ts": [
			'import type { X } from "typebox";',
			'export { Y } from "typebox";',
			'export * from "typebox";',
			'await import("typebox");',
			'require("typebox");',
		],
	});
	expect(refusals.map(({ category, location }) => [category, location.start.line])).toEqual([
		...[1, 2, 3, 4].map((line) => ["lint/style/noRestrictedImports", line]),
		["lint/style/noCommonJs", 5],
	]);
});

test("files that import each other are refused, even if it is only for a type", () => {
	const refusals = lint({
		"busybar/one.ts": ['import type { Two } from "./two.ts";', "export interface One { two: Two }"],
		"busybar/two.ts": ['import type { Three } from "./three.ts";', "export interface Two { three: Three }"],
		"busybar/three.ts": ['import type { One } from "./one.ts";', "export interface Three { one: One }"],
	});
	expect(refusals.map(({ category }) => category)).toEqual(Array(3).fill("lint/suspicious/noImportCycles"));
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
