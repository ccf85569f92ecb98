import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { runCli } from "../support/cli.ts";
import { readScreen } from "../support/led-picture.ts";
import { COMPILED_CLI, type SimulatedBar, startSimulatedBar } from "../support/simulated-bar.ts";

const BIN = fileURLToPath(new URL("../../busybar/bin.js", import.meta.url));
const env = { ...process.env, XDG_CACHE_HOME: dirname(COMPILED_CLI) };

let bar: SimulatedBar | undefined;
afterEach(async () => await bar?.close());

async function run(...args: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
	const child = spawn(process.execPath, [BIN, ...args], { stdio: ["ignore", "pipe", "pipe"], env });
	let stdout = "";
	let stderr = "";
	child.stdout.on("data", (chunk: Buffer) => {
		stdout += chunk;
	});
	child.stderr.on("data", (chunk: Buffer) => {
		stderr += chunk;
	});
	const [code] = await once(child, "close");
	return { code, stdout, stderr };
}

test("a bar in its own process prints its address, keeps its rules, and reports what happened", async () => {
	bar = await startSimulatedBar({ token: "4711" });
	expect(bar.addr).toMatch(/^127\.0\.0\.1:\d+$/);
	await expect(readScreen(bar.addr, "front")).rejects.toThrow("403");
	expect((await readScreen(bar.addr, "front", "4711")).rgb.every((value) => value === 0)).toBe(true);
	await bar.busy(true);
	await bar.faults({ slowMs: 1 });
	expect(await bar.state()).toMatchObject({ busy: true, loaderPriority: 101, faults: { slowMs: 1 } });
	expect((await bar.journal()).map(({ path, status }) => [path, status])).toEqual([
		["/api/screen", 403],
		["/api/screen", 200],
	]);
	await bar.busy(false);
	await bar.pressKey("back");
	expect((await bar.state()).loaderPriority).toBe(10);
	expect((await bar.screen("back")).rgb).toHaveLength(160 * 80 * 3);
});

test("a port in use gives one sentence and exit code 1", async () => {
	bar = await startSimulatedBar();
	const port = bar.addr.split(":")[1] ?? "";
	const { code, stderr } = await run("simulate", "--port", port);
	expect(code).toBe(1);
	expect(stderr).toMatch(new RegExp(`^Error: cannot listen on port ${port}: another program has it; .*\\.\\n$`));
});

test("an empty access key counts as none", async () => {
	bar = await startSimulatedBar({ token: "" });
	expect((await readScreen(bar.addr, "front")).rgb).toHaveLength(72 * 16 * 3);
});

test.each<[string[], RegExp]>([
	[["--access", "key"], /--access key needs a key, .*; give it with --token/],
	[["--access", "key", "--token", ""], /--access key needs a key/],
	[["--access", "cable"], /--access must be usb, disabled, enabled or key, not "cable"/],
	[["--api", "26"], /--api must be 25 or 27.5, not "26"/],
	[["--port", "65536"], /--port must be a whole number from 0 to 65535, not "65536"/],
])("simulate %s is refused in one sentence", async (flags, message) => {
	const { code, stdout, stderr } = await runCli(["simulate", ...flags]);
	expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
	expect(stderr).toMatch(/^Error: [^\n]+\.\n$/);
	expect(stderr).toMatch(message);
});

test.each(["SIGINT", "SIGTERM"] as const)("%s ends it, with exit code 0", async (signal) => {
	const child = spawn(process.execPath, [BIN, "simulate"], { stdio: ["ignore", "pipe", "ignore"], env });
	const [line] = await once(child.stdout, "data");
	expect(String(line)).toMatch(/^Simulated BUSY Bar at http:\/\/127\.0\.0\.1:\d+\/ /);
	child.kill(signal);
	expect(await once(child, "exit")).toEqual([0, null]);
});
