import { describe, expect, test } from "vitest";
import { type Cli, CommandLine, type Target } from "../../extensions/busybar-alert/busybar.ts";
import { ALL_ABILITIES, NO_ABILITIES } from "../support/abilities.ts";

const TARGET: Target = { addr: "bar.local:80", token: "", applicationName: "mine", display: "back", priority: 7 };
const SHOWING = { expiresAfterSeconds: 8, isOnBar: true, whilePid: 4711 };
const MORE = ["--no-upload", "--while-pid", "4711"];
const SHOW = ["--input", "x.anim", "--application-name", "mine", "--display", "back", "--priority", "7", "--loop"];

function commandLine(isBundled: boolean): CommandLine {
	const abilities = isBundled ? ALL_ABILITIES : NO_ABILITIES;
	const cli: Cli = isBundled
		? { source: "bundled", file: "node", leadingArgs: ["bin.js"], abilities }
		: { source: "path", file: "/opt/busybar", leadingArgs: [], abilities };
	return new CommandLine(cli, { PATH: "/bin" });
}

describe("the command lines", () => {
	test("of a CLI that speaks the contract and no more", () => {
		const commands = commandLine(false);
		const outputs = { zip: "x.zip", anim: "x.anim" };
		const size = ["--display", "back", "--frames", "24", "--fps", "12"];
		const files = ["--output", "x.zip", "--compile-output", "x.anim"];
		expect(commands.create({ pattern: "pulse", frameCount: 24 }, "back", 12, outputs).args).toEqual(
			["create", "--pattern", "pulse"].concat(size, files),
		);
		expect(commands.create({ framesFolder: "/frames", frameCount: 24 }, "back", 12, outputs).args).toEqual(
			["create", "--frames-dir", "/frames"].concat(size, files),
		);
		expect(commands.inspect("x.anim").args).toEqual(["inspect", "--input", "x.anim", "--format", "json"]);
		expect(commands.show("x.anim", TARGET, SHOWING).args).toEqual(["show", "--addr", "bar.local:80", ...SHOW]);
		expect(commands.clear(TARGET).args).toEqual(["clear", "--addr", "bar.local:80", "--application-name", "mine"]);
	});

	test("of the bundled one, which ends an alert by itself and gives up before it is ended", () => {
		const commands = commandLine(true);
		expect(commands.show("x.anim", TARGET, SHOWING)).toMatchObject({
			file: "node",
			args: [
				"bin.js",
				"show",
				"--addr",
				"bar.local:80",
				...SHOW,
				"--expires-after",
				"8",
				...MORE,
				"--request-timeout",
				"7250",
			],
		});
		expect(commands.status(TARGET).args).toEqual(
			["bin.js", "status", "--addr", "bar.local:80", "--format", "json"].concat("--request-timeout", "4250"),
		);
	});

	test("have a deadline each", () => {
		const commands = commandLine(false);
		const outputs = { zip: "x.zip", anim: "x.anim" };
		const deadlines = [
			commands.create({ pattern: "pulse", frameCount: 12 }, "front", 12, outputs),
			commands.inspect("x.anim"),
			commands.show("x.anim", TARGET, SHOWING),
			commands.clear(TARGET),
		].map(({ deadlineMs }) => deadlineMs);
		expect(deadlines).toEqual([15_000, 5_000, 8_000, 5_000]);
	});
});
