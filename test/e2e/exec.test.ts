import { expect, test } from "vitest";
import { ChildProcesses, execProcess } from "../../extensions/busybar-alert/cli/exec.ts";
import { waitUntil } from "../support/wait.ts";

function hasEnded(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return false;
	} catch {
		return true;
	}
}

const node = (script: string, options: { deadlineMs?: number; env?: NodeJS.ProcessEnv } = {}) =>
	execProcess(process.execPath, ["-e", script], { deadlineMs: 20_000, ...options });

test("a program's output and exit code are returned", async () => {
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

test("a program that ignores SIGTERM is dead by its deadline", async () => {
	const script = "process.on('SIGTERM', () => {}); console.log(process.pid); setInterval(() => {}, 1000)";
	const result = await node(script, { deadlineMs: 1_500 });
	expect(result).toMatchObject({ killed: true, signal: "SIGKILL" });
	expect(() => process.kill(Number(result.stdout), 0)).toThrow("ESRCH");
});

test("a program that exits 0 after SIGTERM still counts as killed", async () => {
	const script = "process.on('SIGTERM', () => process.exit(0)); setInterval(() => {}, 1000)";
	expect(await node(script, { deadlineMs: 1_500 })).toMatchObject({ killed: true, code: 0 });
});

test("a grandchild that keeps the pipes open does not keep us waiting", async () => {
	const script =
		"const child = require('child_process').spawn(process.execPath, ['-e', 'setTimeout(() => {}, 20000)'], " +
		"{ stdio: ['ignore', 'inherit', 'inherit'], detached: true }); child.unref(); console.log(child.pid)";
	const result = await node(script);
	process.kill(Number(result.stdout), "SIGKILL");
	expect(result).toMatchObject({ code: 0, killed: false });
});

test("child processes of the program end with it at the deadline", async () => {
	const script =
		"const child = require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], " +
		"{ stdio: 'ignore' }); console.log(child.pid); setInterval(() => {}, 1000)";
	const result = await node(script, { deadlineMs: 1_500 });
	expect(result.killed).toBe(true);
	await waitUntil("the end of the grandchild", 5_000, () => hasEnded(Number(result.stdout)));
});

test("child processes of the program end with it even if they ignore SIGTERM", async () => {
	const stubborn = "process.on('SIGTERM', () => {}); console.log(process.pid); setInterval(() => {}, 1000)";
	const script = `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(stubborn)}], { stdio: 'inherit' }); setInterval(() => {}, 1000)`;
	const result = await node(script, { deadlineMs: 1_500 });
	expect(result).toMatchObject({ killed: true, signal: "SIGTERM" });
	await waitUntil("the end of the grandchild", 5_000, () => hasEnded(Number(result.stdout)));
});

test("all running programs can be ended at once", async () => {
	const children = new ChildProcesses();
	const running = [1, 2].map(() =>
		children.exec(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { deadlineMs: 20_000 }),
	);
	const startedMs = performance.now();
	children.endAll();
	for (const result of await Promise.all(running)) expect(result.killed).toBe(true);
	expect(performance.now() - startedMs).toBeLessThan(10_000);
});

test("the abort signal ends a program at once, even if it ignores SIGTERM", async () => {
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

test("a flood of output is cut at 64 KiB and the program still ends", async () => {
	const result = await node("process.stdout.write('x'.repeat(5_000_000), () => console.error('done'))");
	expect(result.stdout).toHaveLength(64 * 1024);
	expect(result.stderr).toBe("done\n");
});

test("the environment is the one that was given", async () => {
	const result = await node("console.log(process.env.GIVEN, process.env.HOME)", { env: { GIVEN: "yes" } });
	expect(result.stdout).toBe("yes undefined\n");
});
