import { execFileSync } from "node:child_process";
import {
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	truncateSync,
	utimesSync,
	writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { PNG } from "pngjs";
import { describe, expect, test } from "vitest";
import { decodeBicycle0 } from "../../busybar/anim/bicycle0.ts";
import { type Cli, CommandLine } from "../../extensions/busybar-alert/busybar.ts";
import { type ExecFn, execProcess } from "../../extensions/busybar-alert/cli/exec.ts";
import { BUNDLED_CLI } from "../../extensions/busybar-alert/cli/which-cli.ts";
import { Assets } from "../../extensions/busybar-alert/cycle/assets.ts";
import { PATTERNS } from "../../extensions/busybar-alert/settings.ts";
import { ALL_ABILITIES } from "../support/abilities.ts";
import { scratchFolder } from "../support/scratch.ts";

const CLI: Cli = {
	source: "bundled",
	file: process.execPath,
	leadingArgs: [BUNDLED_CLI],
	abilities: ALL_ABILITIES,
};
const COMMANDS = new CommandLine(CLI);

/** The cache of one pi process, with the commands that the real CLI was given. */
function cacheOf(folder = scratchFolder()) {
	const commands: string[] = [];
	const exec: ExecFn = (file, args, options) => {
		commands.push(args[1] ?? "");
		return execProcess(file, args, options);
	};
	return { folder, commands, assets: new Assets(exec, folder) };
}

function text(content: string): string {
	const path = join(scratchFolder(), "x.anim");
	writeFileSync(path, content);
	return path;
}

function framesFolder(width: number, height: number, count = 3): string {
	const folder = scratchFolder();
	for (let index = 0; index < count; index += 1) {
		const png = new PNG({ width, height });
		png.data.fill(60 + index * 60);
		writeFileSync(join(folder, `frame_${index}.png`), PNG.sync.write(png));
	}
	writeFileSync(join(folder, "notes.txt"), "not a frame");
	return folder;
}

test.each(PATTERNS)("%s is made on first use, fits both displays, and has a valid name", async (pattern) => {
	const { folder, assets } = cacheOf(join(scratchFolder(), "cache"));
	for (const [display, width, height] of [
		["front", 72, 16],
		["back", 160, 80],
	] as const) {
		const made = await assets.ensure(pattern, display, COMMANDS);
		expect(made.ok).toBe(true);
		const anim = made.ok ? made.anim : "";
		expect(decodeBicycle0(readFileSync(anim))).toMatchObject({ width, height, fps: 12 });
		expect(anim.slice(folder.length + 1)).toMatch(/^[A-Za-z0-9._-]{1,31}$/);
		expect(statSync(anim).mode & 0o777).toBe(0o600);
	}
	expect(readdirSync(folder)).toHaveLength(2);
	expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test("an existing file is checked once per pi process and not made again", async () => {
	const first = cacheOf();
	await first.assets.ensure("spinner", "front", COMMANDS);
	expect(first.commands).toEqual(["create", "inspect"]);
	await first.assets.ensure("spinner", "front", COMMANDS);
	expect(first.commands).toEqual(["create", "inspect"]);

	const second = cacheOf(first.folder);
	await second.assets.check("spinner", "front", COMMANDS);
	await second.assets.check("pulse", "front", COMMANDS);
	await second.assets.ensure("spinner", "front", COMMANDS);
	expect(second.commands).toEqual(["inspect"]);
});

test("preparing the assets rebuilds a file that is there", async () => {
	const { assets, commands } = cacheOf();
	await assets.ensure("spinner", "front", COMMANDS);
	expect(await assets.remake("spinner", "front", COMMANDS)).toMatchObject({ ok: true });
	expect(commands).toEqual(["create", "inspect", "create", "inspect"]);
});

test("alerts at the same moment share one build of the file", async () => {
	const { assets, commands } = cacheOf();
	const results = await Promise.all([1, 2, 3].map(() => assets.ensure("spinner", "front", COMMANDS)));
	expect(new Set(results.map((result) => result.ok && result.anim)).size).toBe(1);
	expect(commands).toEqual(["create", "inspect"]);
});

test("a truncated file is rebuilt", async () => {
	const first = cacheOf();
	const made = await first.assets.ensure("spinner", "front", COMMANDS);
	const anim = made.ok ? made.anim : "";
	const { size } = statSync(anim);
	truncateSync(anim, 1_000);
	const second = cacheOf(first.folder);
	expect(await second.assets.state("spinner", "front", COMMANDS)).toBe("ready");
	expect(statSync(anim).size).toBe(size);
});

test("a file that is deleted while pi runs is rebuilt", async () => {
	const { assets, commands } = cacheOf();
	const made = await assets.ensure("spinner", "front", COMMANDS);
	await assets.discard(made.ok ? made.anim : "");
	expect((await assets.ensure("spinner", "front", COMMANDS)).ok).toBe(true);
	expect(commands).toEqual(["create", "inspect", "create", "inspect"]);
});

test("if the cache folder cannot be used, files are built in a temporary one, which goes with pi", async () => {
	const { assets, commands } = cacheOf(join(text("in the folder's place"), "cache"));
	const [made, other] = await Promise.all(["check", "cross"].map((name) => assets.ensure(name, "front", COMMANDS)));
	const anim = made?.ok ? made.anim : "";
	expect(decodeBicycle0(readFileSync(anim)).width).toBe(72);
	expect(other?.ok && dirname(other.anim)).toBe(dirname(anim));
	expect(await assets.ensure("check", "front", COMMANDS)).toEqual(made);
	expect(commands.filter((name) => name === "create")).toHaveLength(2);
	assets.abandon();
	expect(existsSync(dirname(anim))).toBe(false);
});

test("a folder in the place of a file gives way to it", async () => {
	const { folder, assets } = cacheOf();
	mkdirSync(join(folder, "alert_front_spinner.anim", "with something in it"), { recursive: true });
	expect((await assets.ensure("spinner", "front", COMMANDS)).ok).toBe(true);
});

test("leftovers of a killed pi are removed, another pi's work in progress is not", async () => {
	const { folder, assets } = cacheOf();
	const [old, fresh] = [join(folder, "tmp-1-1-x.anim"), join(folder, "tmp-2-1-y.anim")];
	for (const path of [old, fresh]) writeFileSync(path, "half");
	utimesSync(old, new Date(0), new Date(0));
	await assets.ensure("spinner", "front", COMMANDS);
	expect(readdirSync(folder).sort()).toEqual(["alert_front_spinner.anim", "tmp-2-1-y.anim"]);
});

describe("the user's own pictures", () => {
	test("a folder of frames is shown, and rebuilt when a frame changes", async () => {
		const { assets, folder } = cacheOf();
		const frames = framesFolder(72, 16);
		const first = await assets.ensure(frames, "front", COMMANDS);
		expect(first.ok && decodeBicycle0(readFileSync(first.anim)).frames).toHaveLength(3);
		writeFileSync(join(frames, "frame_2.png"), readFileSync(join(frames, "frame_0.png")));
		await assets.ensure(frames, "front", COMMANDS);
		expect(readdirSync(folder)).toHaveLength(2);
	});

	test("an .anim file is shown", async () => {
		const { assets } = cacheOf();
		const spinner = await assets.ensure("spinner", "front", COMMANDS);
		const own = join(scratchFolder(), "mine with spaces.anim");
		writeFileSync(own, readFileSync(spinner.ok ? spinner.anim : ""));
		const made = await assets.ensure(own, "front", COMMANDS);
		expect(made.ok && readFileSync(made.anim).equals(readFileSync(own))).toBe(true);
	});

	const bad: readonly [string, () => string, RegExp][] = [
		["missing folder", () => "/nowhere/frames", /\/nowhere\/frames does not exist/],
		["missing file", () => "/nowhere/x.anim", /\/nowhere\/x\.anim does not exist/],
		["folder without frames", () => scratchFolder(), /contains no frame_0\.png/],
		[
			"folder of frames for the other display",
			() => framesFolder(160, 80),
			/is 160x80, but the front display is 72x16/,
		],
		["folder of frames that are too high", () => framesFolder(72, 80), /is 72x80, but the front display is 72x16/],
		["file larger than 16 MiB", () => huge(), /huge\.anim is larger than 16 MiB/],
		["gap in the frames", () => gap(framesFolder(72, 16)), /missing frame_1\.png/],
		["pipe", () => pipe(), /pipe\.anim is not a regular file/],
		["Windows path", () => "C:\\Users\\me\\frames", /does not exist/],
		["file that is no animation", () => text("hello"), /\.anim: /],
	];
	const gap = (folder: string) => {
		rmSync(join(folder, "frame_1.png"));
		return folder;
	};
	const pipe = () => {
		const path = join(scratchFolder(), "pipe.anim");
		execFileSync("mkfifo", [path]);
		return path;
	};
	const huge = () => {
		const path = join(scratchFolder(), "huge.anim");
		writeFileSync(path, "");
		truncateSync(path, 16 * 1024 * 1024 + 1);
		return path;
	};
	test.each(bad)("a %s is refused by name, and nothing is left in the cache", async (_, make, why) => {
		const { assets, folder } = cacheOf();
		const path = make();
		const result = await assets.ensure(path, "front", COMMANDS);
		expect(result).toMatchObject({ ok: false, failure: { kind: "bad_asset", message: expect.stringMatching(why) } });
		expect(result.ok || result.failure.message).toContain(path);
		expect(readdirSync(folder)).toEqual([]);
	});
});

test("a picture is not blamed for a CLI that is missing or does not answer", async () => {
	const { assets } = cacheOf();
	const gone = new CommandLine({ ...CLI, file: "/nowhere/node" });
	for (const pattern of ["check", "spinner"]) {
		expect(await assets.ensure(pattern, "front", gone)).toMatchObject({ ok: false, failure: { kind: "not_found" } });
	}
	const first = cacheOf();
	const made = await first.assets.ensure("check", "front", COMMANDS);
	const asked: (string | undefined)[] = [];
	const slow = new Assets(async (_file, args) => {
		asked.push(args[1]);
		return { code: null, signal: "SIGKILL", killed: true, stdout: "", stderr: "" };
	}, first.folder);
	expect(await slow.ensure("check", "front", COMMANDS)).toMatchObject({ ok: false, failure: { kind: "unknown" } });
	expect(asked).toEqual(["inspect"]);
	expect(readdirSync(first.folder)).toEqual([(made.ok ? made.anim : "").slice(first.folder.length + 1)]);
});
