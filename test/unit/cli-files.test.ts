import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { strFromU8, strToU8, unzipSync, zipSync } from "fflate";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { decodeBicycle0 } from "../../busybar/anim/bicycle0.ts";
import { encodePng } from "../../busybar/anim/png.ts";
import { writeOutputs } from "../../busybar/files.ts";
import { rowOf, runCli, temporaryFolder } from "../support/cli.ts";

const folder = temporaryFolder();
const anim = folder.in("good.anim");
const zip = folder.in("good.zip");

beforeAll(async () => {
	await rowOf(["create", "--output", zip, "--compile-output", anim]);
});
afterAll(() => folder.remove());

/** A folder of frames: `[width, height]` becomes a grey PNG, bytes are written as they are. */
function framesFolder(name: string, frames: Record<string, [number, number] | Uint8Array>): string {
	const path = folder.in(name);
	mkdirSync(path);
	for (const [file, frame] of Object.entries(frames)) {
		const bytes = Array.isArray(frame) ? picture(...frame) : frame;
		writeFileSync(`${path}/${file}`, bytes);
	}
	return path;
}

function picture(width: number, height: number, shade = 128): Uint8Array {
	return encodePng(width, height, new Uint8Array(width * height * 4).fill(shade));
}

function zipFile(name: string, entries: Record<string, Uint8Array | string>): string {
	const path = folder.in(name);
	const files = Object.entries(entries).map(([file, data]) => [file, typeof data === "string" ? strToU8(data) : data]);
	writeFileSync(path, zipSync(Object.fromEntries(files)));
	return path;
}

describe("create, compile and inspect", () => {
	test("by default, create makes a spinner with 12 frames at 12 fps for the front display", async () => {
		expect(await rowOf(["inspect", "--input", anim])).toEqual({
			file: anim,
			format: "bicycle0",
			width: 72,
			height: 16,
			fps: 12,
			color_mode: "rgb888",
			frames: 12,
			sections: ["default"],
			bytes: readFileSync(anim).length,
		});
		const files = unzipSync(readFileSync(zip));
		const names = ["meta.json", ...Array.from({ length: 12 }, (_, index) => `frame_${index}.png`)];
		expect(Object.keys(files)).toEqual(names.map((name) => `good/${name}`));
		const meta: unknown = JSON.parse(strFromU8(files["good/meta.json"] ?? new Uint8Array()));
		expect(meta).toEqual({ fps: 12, color_mode: "rgb888", sections: [] });
	});

	test("for the back display, frames are 160x80 in 16 levels of grey", async () => {
		const output = folder.in("back.anim");
		const row = await rowOf([
			...["create", "--display", "back", "--pattern", "pulse", "--frames", "3", "--fps", "5"],
			...["--output", folder.in("back.zip"), "--compile-output", output],
		]);
		expect(row).toMatchObject({ width: 160, height: 80, color_mode: "gray4", frames: 3, fps: 5, pattern: "pulse" });
		expect(decodeBicycle0(readFileSync(output))).toMatchObject({ width: 160, height: 80, fps: 5 });
	});

	test("the same command always writes the same bytes, and compile writes the same as create", async () => {
		const again = [folder.in("again.zip"), folder.in("again.anim"), folder.in("compiled.anim")] as const;
		await rowOf(["create", "--name", "good", "--output", again[0], "--compile-output", again[1]]);
		await rowOf(["compile", "--input", zip, "--output", again[2]]);
		expect(readFileSync(again[0])).toEqual(readFileSync(zip));
		expect(readFileSync(again[1])).toEqual(readFileSync(anim));
		expect(readFileSync(again[2])).toEqual(readFileSync(anim));
	});

	test("inspect recognises a file by its content, not by its name", async () => {
		const disguised = folder.in("zip-inside.anim");
		writeFileSync(disguised, readFileSync(zip));
		expect(await rowOf(["inspect", "--input", disguised])).toMatchObject({ format: "zip", frames: 12, width: 72 });
	});

	test("PNG frames keep their size, order and colours", async () => {
		const frames = Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`frame_${n}.png`, picture(20, 4, n * 20)]));
		const output = folder.in("frames.anim");
		const row = await rowOf([
			...["create", "--frames-dir", framesFolder("frames", { ...frames, "notes.txt": strToU8("-") })],
			...["--output", folder.in("frames.zip"), "--compile-output", output],
		]);
		expect(row).toMatchObject({ width: 20, height: 4, frames: 11, color_mode: "rgb888" });
		const shades = decodeBicycle0(readFileSync(output)).frames.map((frame) => frame[0]);
		expect(shades).toEqual(Array.from({ length: 11 }, (_, n) => n * 20));
	});

	test("the sections of a source zip are in the .anim", async () => {
		const meta = { fps: 9, color_mode: "argb8888", sections: [{ name: "loop", start: 1, end: 1 }] };
		const frames = { "x/frame_0.png": picture(3, 3), "x/frame_1.png": picture(3, 3, 9) };
		const input = zipFile("sections.zip", { "x/meta.json": JSON.stringify(meta), ...frames });
		const output = folder.in("sections.anim");
		await rowOf(["compile", "--input", input, "--output", output]);
		expect(decodeBicycle0(readFileSync(output))).toMatchObject({
			colorMode: "argb8888",
			sections: [
				{ name: "default", start: 0, end: 1 },
				{ name: "loop", start: 1, end: 1 },
			],
		});
	});
});

describe("output", () => {
	test("json is one array, jsonl one object per line, and columns can be chosen", async () => {
		const fields = ["--output-fields", "width,height", "--output-fields", "nonsense,frames"];
		const json = await runCli(["inspect", "--input", anim, "--format", "json", ...fields]);
		expect(json.stdout).toBe('[\n  {\n    "width": 72,\n    "height": 16,\n    "frames": 12\n  }\n]\n');
		const jsonl = await runCli(["inspect", "--input", anim, "--format", "jsonl", ...fields]);
		expect(jsonl.stdout).toBe('{"width":72,"height":16,"frames":12}\n');
	});

	test("the default is a table", async () => {
		const { stdout } = await runCli(["inspect", "--input", anim, "--output-fields", "width,color_mode"]);
		expect(stdout).toBe(
			"┌───────┬────────────┐\n│ width │ color_mode │\n├───────┼────────────┤\n│ 72    │ rgb888     │\n└───────┴────────────┘\n",
		);
	});

	test("the number of rows can be limited", async () => {
		const { stdout } = await runCli(["inspect", "--input", anim, "--format", "json", "--max-output-rows", "1"]);
		expect(JSON.parse(stdout)).toHaveLength(1);
	});
});

describe("after a mistake there is one sentence, exit code 1, and no new file", () => {
	const meta = '{"fps":12,"color_mode":"gray4","sections":[]}';
	const create = (...flags: string[]) => ["create", "--output", folder.in("no.zip"), ...flags];
	const both = (...flags: string[]) => create("--compile-output", folder.in("no.anim"), ...flags);
	const frames = (...args: Parameters<typeof framesFolder>) => both("--frames-dir", framesFolder(...args));
	const compile = (input: string) => ["compile", "--input", input, "--output", folder.in("no.anim")];
	const cases: [string, () => string[], RegExp][] = [
		["an unknown command", () => ["sow"], /unknown command 'sow' \(Did you mean show\?\); see pi-busybar --help/],
		["help for an unknown command", () => ["help", "sow"], /unknown command "sow"; see pi-busybar --help/],
		["an unknown flag", () => create("--patern", "pulse"), /unknown option '--patern'.*see pi-busybar create --help/],
		["an extra argument", () => create("extra"), /too many arguments/],
		["a flag without a value", () => ["create", "--output"], /option '--output <zip>' argument missing/],
		["an unknown pattern", () => create("--pattern", "disco"), /--pattern must be spinner or pulse, not "disco"/],
		["an unknown display", () => create("--display", "side"), /--display must be front or back, not "side"/],
		["one frame", () => create("--frames", "1"), /--frames must be a whole number from 2 to 4096, not "1"/],
		[
			"too many frames",
			() => both("--frames", "4096", "--display", "back"),
			/frame count is 4096.*too much memory; use fewer/,
		],
		["fps 0", () => create("--fps", "0"), /--fps must be a whole number from 1 to 255/],
		["fps 12.5", () => create("--fps", "12.5"), /--fps must be a whole number/],
		["width 256", () => create("--width", "256"), /--width must be a whole number from 0 to 255/],
		[
			"an odd number of grey pixels",
			() => create("--display", "back", "--width", "3", "--height", "3"),
			/gray4 requires an even pixel count/,
		],
		["a bad name", () => create("--name", "../up"), /--name must be 1 to 64 letters/],
		[
			"an output in a missing folder",
			() => ["create", "--output", folder.in("none/x.zip")],
			/create the folder .*none" first/,
		],
		["an output that is a folder", () => ["create", "--output", folder.path], /exists and is not a regular file/],
		[
			"two outputs with the same path",
			() => create("--compile-output", folder.in("no.zip")),
			/--compile-output and --output are the same/,
		],
		[
			"a compiled output in a missing folder",
			() => create("--compile-output", folder.in("none/x.anim")),
			/create the folder/,
		],
		[
			"a missing folder of frames",
			() => both("--frames-dir", folder.in("none")),
			/--frames-dir .*none" cannot be read: it does not exist/,
		],
		["no frames", () => frames("empty", {}), /missing frame_0\.png/],
		["a missing frame", () => frames("gap", { "frame_0.png": [4, 4], "frame_2.png": [4, 4] }), /missing frame_1\.png/],
		[
			"frames that do not start at 0",
			() => frames("one", { "frame_1.png": [4, 4], "frame_2.png": [4, 4] }),
			/missing frame_0\.png/,
		],
		["a single frame", () => frames("single", { "frame_0.png": [4, 4] }), /needs at least two frames/],
		[
			"frames of different sizes",
			() => frames("unequal", { "frame_0.png": [4, 4], "frame_1.png": [5, 4] }),
			/frame_1.png is 5x4.*be 4x4/,
		],
		[
			"a frame that is not a PNG",
			() => frames("text", { "frame_0.png": strToU8("hello") }),
			/frame_0.png is not a PNG file/,
		],
		[
			"a frame that is too large",
			() => frames("huge", { "frame_0.png": [256, 1] }),
			/frame_0.png is 256x1; make it 255x255 or smaller/,
		],
		["a damaged frame", () => frames("cut", { "frame_0.png": picture(9, 9).subarray(0, 50) }), /damaged PNG/],
		["no --input", () => ["inspect"], /required option '--input <file>' not specified/],
		["an empty --input", () => ["inspect", "--input", ""], /--input is empty/],
		["a missing file", () => ["inspect", "--input", folder.in("none")], /cannot be read: it does not exist/],
		["a folder", () => ["inspect", "--input", folder.path], /is a folder; give the path of a file/],
		["an .anim to compile", () => compile(anim), /compile requires a source zip, but .* is not one; use/],
		[
			"a zip without meta.json",
			() => compile(zipFile("m1.zip", { "x/frame_0.png": picture(2, 2) })),
			/has no meta\.json/,
		],
		[
			"meta.json that is not JSON",
			() => compile(zipFile("m2.zip", { "x/meta.json": "fps: 1" })),
			/meta\.json is not a JSON object; correct it/,
		],
		[
			"meta.json without fps",
			() => compile(zipFile("m3.zip", { "x/meta.json": "{}" })),
			/"fps", a whole number from 1 to 255/,
		],
		[
			"meta.json without color_mode",
			() => compile(zipFile("m4.zip", { "x/meta.json": '{"fps":1}' })),
			/"color_mode", one of/,
		],
		[
			"meta.json without sections",
			() => compile(zipFile("m5.zip", { "x/meta.json": '{"fps":1,"color_mode":"gray4"}' })),
			/must have "sections"/,
		],
		["a zip without frames", () => compile(zipFile("m6.zip", { "x/meta.json": meta })), /missing frame_0\.png/],
		[
			"a zip with an odd number of grey pixels",
			() => compile(zipFile("m7.zip", { "x/meta.json": meta, "x/frame_0.png": picture(3, 3) })),
			/gray4 requires an even pixel count, .*; change the width or the height/,
		],
		[
			"a section outside the frames",
			() => {
				const outside = '{"fps":1,"color_mode":"rgb888","sections":[{"name":"a","start":0,"end":7}]}';
				return compile(zipFile("m8.zip", { "x/meta.json": outside, "x/frame_0.png": picture(2, 2) }));
			},
			/section 1 range is 0\.\.7: the frames are 0\.\.0/,
		],
		[
			"a damaged zip",
			() => {
				writeFileSync(folder.in("cut.zip"), readFileSync(zip).subarray(0, 900));
				return compile(folder.in("cut.zip"));
			},
			/cut\.zip": the zip is damaged/,
		],
		[
			"a truncated .anim",
			() => {
				writeFileSync(folder.in("cut.anim"), readFileSync(anim).subarray(0, 900));
				return ["inspect", "--input", folder.in("cut.anim")];
			},
			/cut\.anim": the animation's file size is 900/,
		],
		[
			"an output that is the input",
			() => ["compile", "--input", zip, "--output", zip],
			/--output and --input are the same file/,
		],
		["csv", () => ["inspect", "--input", anim, "--format", "csv"], /--format csv needs the Go CLI/],
		[
			"an unknown format",
			() => ["inspect", "--input", anim, "--format", "xml"],
			/--format must be table, json or jsonl/,
		],
		[
			"a negative number of rows",
			() => ["inspect", "--input", anim, "--max-output-rows", "-1"],
			/--max-output-rows must be/,
		],
	];
	test.each(cases)("%s", async (_, args, message) => {
		const words = args();
		const before = readdirSync(folder.path);
		const { code, stdout, stderr } = await runCli(words);
		expect(stderr).toMatch(/^Error: [^\n]+\.\n$/);
		expect(stderr).toMatch(message);
		expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
		expect(readdirSync(folder.path)).toEqual(before);
		expect(readFileSync(zip).subarray(0, 2).toString()).toBe("PK");
	});
});

test("if the second of two files cannot be written, the first does not appear either", () => {
	mkdirSync(folder.in("taken"));
	const before = readdirSync(folder.path);
	for (const path of [folder.in("none/second"), folder.in("taken")]) {
		const files = [
			{ flag: "--output", path: folder.in("first"), bytes: picture(1, 1) },
			{ flag: "--compile-output", path, bytes: picture(1, 1) },
		];
		expect(() => writeOutputs(files)).toThrow(/--compile-output .* cannot be written/);
		expect(readdirSync(folder.path)).toEqual(before);
	}
});

test("a file name of the maximum length is written, a longer one is refused", async () => {
	const longest = folder.in(`${"n".repeat(246)}.zip`);
	await rowOf(["create", "--output", longest]);
	expect(readFileSync(longest).subarray(0, 2).toString()).toBe("PK");
	const before = readdirSync(folder.path);
	const { stderr } = await runCli(["create", "--output", folder.in("n".repeat(300))]);
	expect(stderr).toMatch(/^Error: --output .* cannot be written: the name is too long; choose a shorter one\.\n$/);
	expect(readdirSync(folder.path)).toEqual(before);
});

test("an output that is a symbolic link is followed", async () => {
	const [link, target] = [folder.in("link.zip"), folder.in("target.zip")];
	writeFileSync(target, "old");
	symlinkSync(target, link);
	await rowOf(["create", "--output", link]);
	expect(lstatSync(link).isSymbolicLink()).toBe(true);
	expect(readFileSync(target).subarray(0, 2).toString()).toBe("PK");
});

test("if the second of two files cannot be written, a first one that replaced an older file stays", () => {
	const first = folder.in("older");
	writeFileSync(first, "old");
	mkdirSync(folder.in("in-the-way"));
	const files = [
		{ flag: "--output", path: first, bytes: strToU8("new") },
		{ flag: "--compile-output", path: folder.in("in-the-way"), bytes: strToU8("new") },
	];
	expect(() => writeOutputs(files)).toThrow(/--compile-output .* cannot be written/);
	expect(readFileSync(first, "utf8")).toBe("new");
});

test("--version prints the version of the package", async () => {
	const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
	expect(await runCli(["--version"])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
});

test("without a command, it prints the help and succeeds", async () => {
	const { code, stdout, stderr } = await runCli([]);
	expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
	for (const name of ["create", "compile", "inspect", "show", "clear", "status", "simulate"]) {
		expect(stdout).toMatch(new RegExp(`^ {2}${name} `, "m"));
	}
});
