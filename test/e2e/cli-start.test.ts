import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { get } from "node:http";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../support/cli.ts";
import { COMPILED_CLI } from "../support/simulated-bar.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = temporaryFolder();
afterAll(() => folder.remove());

function start(bin: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
	const { status, signal, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], {
		encoding: "utf8",
		timeout: 20_000,
		env: { ...process.env, XDG_CACHE_HOME: dirname(COMPILED_CLI), BUSYBAR_ADDR: "", BUSYBAR_TOKEN: "", ...env },
	});
	return { status, signal, stdout, stderr };
}

const contract = ["--application-name", "--priority", "--loop", "--expires-after", "--while-pid", "--request-timeout"];

function expectContract(bin: string): void {
	const { status, stdout, stderr } = start(bin, ["show", "--help"]);
	expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
	expect(stdout).toContain("Upload and display a compiled Busy Bar animation");
	for (const flag of contract) expect(stdout).toContain(flag);
	const mistake = start(bin, ["show", "--priority", "0"]);
	expect(mistake).toMatchObject({ status: 1, stdout: "" });
	expect(mistake.stderr).toBe('Error: --priority must be a whole number from 1 to 100, not "0".\n');
}

test("from a checkout it runs from source", () => {
	expectContract(`${root}busybar/bin.js`);
});

test.runIf(existsSync(`${root}.git`))("from a git clone it runs from source", () => {
	const clone = folder.in("clone");
	execFileSync("git", ["clone", "--quiet", "--depth", "1", `file://${root}`, clone], { stdio: "pipe" });
	expect(start(`${clone}/busybar/bin.js`, ["--help"])).toMatchObject({
		status: 1,
		stdout: "",
		stderr: `Error: pi-busybar cannot start: commander is not installed; run npm install in ${clone} first.\n`,
	});
	symlinkSync(`${root}node_modules`, `${clone}/node_modules`);
	expectContract(`${clone}/busybar/bin.js`);
});

test.runIf(existsSync("/dev/full"))(
	"a result that cannot be written is an error, a reader that closes early is not",
	() => {
		const bin = `${root}busybar/bin.js`;
		const shell = (redirection: string) =>
			spawnSync("/bin/bash", ["-o", "pipefail", "-c", `"${process.execPath}" "${bin}" --help ${redirection}`], {
				encoding: "utf8",
				env: { ...process.env, XDG_CACHE_HOME: dirname(COMPILED_CLI) },
			});
		expect(shell("> /dev/full")).toMatchObject({
			status: 1,
			stderr: "Error: cannot write the result: the disk is full; write it somewhere else.\n",
		});
		expect(shell("| true")).toMatchObject({ status: 0, stderr: "" });
	},
);

test("it works without a cache folder", () => {
	const nowhere = { HOME: folder.in("none/home"), USERPROFILE: folder.in("none/home"), XDG_CACHE_HOME: "" };
	expect(start(`${root}busybar/bin.js`, ["--help"], nowhere)).toMatchObject({ status: 0, stderr: "" });
	expect(existsSync(folder.in("none"))).toBe(false);
});

test("in node_modules without its built file, it says what is missing", () => {
	const copy = folder.in("node_modules/unbuilt");
	cpSync(`${root}busybar`, `${copy}/busybar`, { recursive: true });
	expect(start(`${copy}/busybar/bin.js`, ["--help"])).toMatchObject({
		status: 1,
		stdout: "",
		stderr: expect.stringMatching(/^Error: .*its dist folder is missing; install the package again\.\n$/),
	});
});

describe("as an installed package, without its dependencies", () => {
	const bin = folder.in("installed/node_modules/pi-busybar-alert/busybar/bin.js");

	test("it is one built file, with the licences of its parts", () => {
		// Packed in a copy: with a `dist` folder here, everything else that runs now would use that.
		const source = folder.in("source");
		mkdirSync(source);
		for (const part of ["package.json", "busybar", "extensions"]) {
			cpSync(`${root}${part}`, `${source}/${part}`, { recursive: true });
		}
		symlinkSync(`${root}node_modules`, `${source}/node_modules`);
		const npm = { cwd: source, encoding: "utf8", stdio: "pipe", shell: process.platform === "win32" } as const;
		execFileSync("npm", ["run", "--silent", "prepack"], npm);
		execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder.path], npm);
		const tarball = readdirSync(folder.path).find((name) => name.endsWith(".tgz")) ?? "";
		const unpacked = folder.in("installed/node_modules");
		mkdirSync(unpacked, { recursive: true });
		execFileSync("tar", ["-xzf", folder.in(tarball), "-C", unpacked]);
		cpSync(`${unpacked}/package`, `${unpacked}/pi-busybar-alert`, { recursive: true });

		expectContract(bin);
		expect(start(bin, ["--version"]).stdout).toBe(start(`${root}busybar/bin.js`, ["--version"]).stdout);
		const built = readFileSync(`${unpacked}/pi-busybar-alert/dist/busybar.js`, "utf8");
		for (const name of ["commander", "pngjs", "fflate", "cli-table3"]) expect(built).toContain(`/*! ${name}\n`);
	}, 60_000);

	test("it creates, compiles, inspects, simulates, shows and clears", async () => {
		const [zip, anim] = [folder.in("a.zip"), folder.in("a.anim")];
		expect(start(bin, ["create", "--output", zip])).toMatchObject({ status: 0, stderr: "" });
		expect(start(bin, ["compile", "--input", zip, "--output", anim])).toMatchObject({ status: 0, stderr: "" });
		expect(start(bin, ["inspect", "--input", anim]).stdout).toContain("│ bicycle0 │ 72 ");

		const simulator = spawn(process.execPath, [bin, "simulate", "--format", "jsonl"], {
			stdio: ["ignore", "pipe", "inherit"],
		});
		try {
			const [line] = await once(createInterface(simulator.stdout), "line", { signal: AbortSignal.timeout(20_000) });
			const { addr, url }: { addr: string; url: string } = JSON.parse(line);
			expect(await page(url)).toMatch(/^<!doctype html>/i);
			const shown = start(bin, ["show", "--input", anim, "--loop", "--format", "jsonl"], { BUSYBAR_ADDR: addr });
			expect(JSON.parse(shown.stdout)).toMatchObject({ status: "ok", uploaded: true });
			expect(start(bin, ["clear", "--addr", addr])).toMatchObject({ status: 0, stderr: "" });
		} finally {
			simulator.kill("SIGKILL");
		}
	});
});

function page(url: string): Promise<string> {
	return new Promise((resolve, reject) => {
		get(url, { agent: false }, (response) => {
			let text = "";
			response.setEncoding("utf8").on("data", (chunk) => {
				text += chunk;
			});
			response.on("end", () => resolve(text));
		}).on("error", reject);
	});
}
