import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ChildProcesses, execProcess } from "../../extensions/busybar-alert/cli/exec.ts";
import { hasEnded } from "../support/processes.ts";
import { scratchFolder } from "../support/scratch.ts";
import { waitUntil } from "../support/wait.ts";

const EXEC = new URL("../../extensions/busybar-alert/cli/exec.ts", import.meta.url).href;

const node = (script: string, options: { deadlineMs?: number; env?: NodeJS.ProcessEnv } = {}) =>
	execProcess(process.execPath, ["-e", script], { deadlineMs: 20_000, ...options });

test("the output and the exit code of a program are returned", async () => {
	const result = await node("console.log('out'); console.error('err'); process.exitCode = 3");
	expect(result).toEqual({ code: 3, signal: null, killed: false, stdout: "out\n", stderr: "err\n" });
});

test("a program that does not exist is a result, not a rejection", async () => {
	const result = await execProcess("/nowhere/busybar", [], { deadlineMs: 1_000 });
	expect(result).toMatchObject({ code: null, spawnError: "ENOENT" });
});

test("an argument that cannot be passed is a result, not a throw", async () => {
	const result = await execProcess(process.execPath, ["a\0b"], { deadlineMs: 1_000 });
	expect(result.spawnError).toBe("ERR_INVALID_ARG_VALUE");
});

test("a program that ignores SIGTERM is killed after its deadline", async () => {
	const script = "process.on('SIGTERM', () => {}); console.log(process.pid); setInterval(() => {}, 1000)";
	const result = await node(script, { deadlineMs: 1_500 });
	expect(result).toMatchObject({ killed: true, signal: "SIGKILL" });
	expect(() => process.kill(Number(result.stdout), 0)).toThrow("ESRCH");
});

test("a program that exits with 0 on SIGTERM still counts as killed", async () => {
	const script = "process.on('SIGTERM', () => process.exit(0)); setInterval(() => {}, 1000)";
	expect(await node(script, { deadlineMs: 1_500 })).toMatchObject({ killed: true, code: 0 });
});

test("a grandchild that keeps the pipes open does not delay the result", async () => {
	const script =
		"const child = require('child_process').spawn(process.execPath, ['-e', 'setTimeout(() => {}, 20000)'], " +
		"{ stdio: ['ignore', 'inherit', 'inherit'], detached: true }); child.unref(); console.log(child.pid)";
	const result = await node(script);
	process.kill(Number(result.stdout), "SIGKILL");
	expect(result).toMatchObject({ code: 0, killed: false });
});

test("a grandchild that keeps the pipes open does not keep pi alive", async () => {
	const leaving =
		"const child = require('child_process').spawn(process.execPath, ['-e', 'setTimeout(() => {}, 20000)'], " +
		"{ stdio: ['ignore', 'inherit', 'inherit'], detached: true }); child.unref(); console.log(child.pid)";
	const pi =
		`import { execProcess } from ${JSON.stringify(EXEC)}; ` +
		`console.log((await execProcess(process.execPath, ["-e", ${JSON.stringify(leaving)}], { deadlineMs: 9000 })).stdout)`;
	const result = await execProcess(process.execPath, ["--input-type=module", "-e", pi], { deadlineMs: 10_000 });
	process.kill(Number(result.stdout), "SIGKILL");
	expect(result).toMatchObject({ code: 0, killed: false });
});

test("at the deadline, the programs that a program started are ended too", async () => {
	const script =
		"const child = require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], " +
		"{ stdio: 'ignore' }); console.log(child.pid); setInterval(() => {}, 1000)";
	const result = await node(script, { deadlineMs: 1_500 });
	expect(result.killed).toBe(true);
	await waitUntil("the end of the grandchild", 5_000, () => hasEnded(Number(result.stdout)));
});

test("at the deadline, they are ended even if they ignore SIGTERM", async () => {
	const stubborn = "process.on('SIGTERM', () => {}); console.log(process.pid); setInterval(() => {}, 1000)";
	const script = `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(stubborn)}], { stdio: 'inherit' }); setInterval(() => {}, 1000)`;
	const result = await node(script, { deadlineMs: 1_500 });
	expect(result).toMatchObject({ killed: true, signal: "SIGTERM" });
	await waitUntil("the end of the grandchild", 5_000, () => hasEnded(Number(result.stdout)));
});

test("all programs that are running can be ended at once, and none is started after that", async () => {
	const children = new ChildProcesses();
	const running = [1, 2].map(() =>
		children.exec(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { deadlineMs: 20_000 }),
	);
	const startedMs = performance.now();
	children.endAll();
	for (const result of await Promise.all(running)) expect(result.killed).toBe(true);
	expect(performance.now() - startedMs).toBeLessThan(10_000);
	const late = children.exec("/nowhere/program", [], { deadlineMs: 20_000 });
	// It was not even tried: what is asked for while pi ends would keep it alive.
	expect(await late).toMatchObject({ killed: true, code: null });
	expect(performance.now() - startedMs).toBeLessThan(1_000);
});

test("the abort signal ends a program at once, even one that ignores SIGTERM", async () => {
	const controller = new AbortController();
	const running = execProcess(
		process.execPath,
		["-e", "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"],
		{
			deadlineMs: 20_000,
			signal: controller.signal,
		},
	);
	const startedMs = performance.now();
	controller.abort();
	expect(await running).toMatchObject({ killed: true, signal: "SIGKILL" });
	expect(performance.now() - startedMs).toBeLessThan(10_000);
	const late = await execProcess(process.execPath, ["-e", "0"], { deadlineMs: 20_000, signal: AbortSignal.abort() });
	expect(late.killed).toBe(true);
});

test("only the first 64 KiB of output are kept, and the program runs to its end", async () => {
	const result = await node("process.stdout.write('x'.repeat(500_000), () => console.error('done'))");
	expect(result).toMatchObject({ code: 0, killed: false, stderr: "done\n" });
	expect(result.stdout).toHaveLength(64 * 1024);
});

test.each(["stdout", "stderr"] as const)(
	"a program that never stops printing (%s) is ended after a megabyte",
	async (stream) => {
		const script = `process.on('SIGTERM', () => {}); const flood = () => process.${stream}.write('x'.repeat(65_536), flood); flood()`;
		const result = await node(script);
		expect(result).toMatchObject({ killed: true, overflowed: true, signal: "SIGKILL" });
		expect(result[stream]).toHaveLength(64 * 1024);
	},
);

test("a program that finished while pi was stopped counts as finished, even past its deadline", async () => {
	const marker = join(scratchFolder(), "marker");
	const deadlineMs = 300;
	const startMs = performance.now();
	const running = execProcess("/bin/sh", ["-c", 'echo done; : > "$1"', "sh", marker], { deadlineMs });
	const pauseFor = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
	// The event loop stands still here, as in a pi that is busy or stopped.
	while (!existsSync(marker)) pauseFor(10);
	pauseFor(Math.max(startMs + deadlineMs - performance.now(), 0) + 500);
	expect(await running).toMatchObject({ code: 0, killed: false, stdout: "done\n" });
});

test("a program gets exactly the environment that it is given", async () => {
	const result = await node("console.log(process.env.GIVEN, process.env.HOME)", { env: { GIVEN: "yes" } });
	expect(result.stdout).toBe("yes undefined\n");
});
