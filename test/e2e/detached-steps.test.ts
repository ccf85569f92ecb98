import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type LaterStep, processFor } from "../../extensions/busybar-alert/after-pi/detached-steps.ts";
import type { Cli } from "../../extensions/busybar-alert/busybar.ts";
import { execProcess } from "../../extensions/busybar-alert/cli/exec.ts";
import { NO_ABILITIES } from "../support/abilities.ts";
import { hasEnded } from "../support/processes.ts";
import { scratchFolder } from "../support/scratch.ts";
import { waitUntil } from "../support/wait.ts";

const runtime = { isNode: true, execPath: process.execPath };
const cli: Cli = { source: "path", file: "/opt/busybar", leadingArgs: [], abilities: NO_ABILITIES };

/** Runs steps in the process that pi leaves behind, and returns the lines that the commands wrote to `$JOURNAL`. */
async function run(...steps: readonly LaterStep[]): Promise<string[]> {
	const journal = join(scratchFolder(), "journal");
	const env = { ...process.env, JOURNAL: journal };
	const noted = steps.map((step) => ({ ...step, command: { ...step.command, env } }));
	const started = processFor(noted, cli, runtime, 50);
	const result = started && (await execProcess(started.file, started.args, { env: started.env, deadlineMs: 15_000 }));
	expect(result).toMatchObject({ code: 0, killed: false, stderr: "" });
	return existsSync(journal) ? readFileSync(journal, "utf8").trimEnd().split("\n") : [];
}

/** A shell script that a step runs. */
function step(script: string, more: Partial<LaterStep> & { deadlineMs?: number; args?: string[] } = {}): LaterStep {
	const { deadlineMs = 10_000, args = [], ...timing } = more;
	const command = { file: "/bin/sh", args: ["-c", script, "sh", ...args], env: {}, deadlineMs };
	return { command, delayMs: 0, tries: 1, always: false, ...timing };
}

const note = (word: string) => `echo ${word} >> "$JOURNAL"`;
const clear = step(note("cleared"), { always: true });

test("commands run one after the other, each after its delay", async () => {
	const startMs = Date.now();
	expect(await run(step(`sleep 0.2; ${note("made")}`), step(note("drawn"), { delayMs: 300 }), clear)).toEqual([
		"made",
		"drawn",
		"cleared",
	]);
	expect(Date.now() - startMs).toBeGreaterThanOrEqual(500);
});

test("after a failure nothing more is drawn, but the clear is still run", async () => {
	expect(await run(step("exit 1"), step(note("drawn")), clear)).toEqual(["cleared"]);
	// A clear that succeeds does not undo the failure.
	expect(await run(step("exit 1"), clear, step(note("drawn")))).toEqual(["cleared"]);
});

test("a command is tried as often as it may be, and not again after a success", async () => {
	const failing = `${note("tried")}; exit 1`;
	expect(await run(step(failing))).toEqual(["tried"]);
	expect(await run(step(failing, { tries: 3 }))).toEqual(["tried", "tried", "tried"]);
	const secondTime = `${note("tried")}; test "$(wc -l < "$JOURNAL")" -eq 2`;
	expect(await run(step(secondTime, { tries: 3 }), step(note("drawn")))).toEqual(["tried", "tried", "drawn"]);
});

test("a clear that is answered with HTTP 400 is done: nothing of ours is lit", async () => {
	const refused = (status: string) => step(`${note("tried")}; echo "Error: HTTP ${status}" >&2; exit 1`, { tries: 2 });
	expect(await run(refused("400 Bad Request"), step(note("next")))).toEqual(["tried", "next"]);
	expect(await run(refused("409 Conflict"), step(note("next")))).toEqual(["tried", "tried"]);
	expect(await run(refused("4000"), step(note("next")))).toEqual(["tried", "tried"]);
});

test("a command that hangs is ended at its deadline, with the programs it started, and the clear is still run", async () => {
	const hanging = step('sleep 20 & echo $! >> "$JOURNAL"; wait', { deadlineMs: 400 });
	const [pid, ...rest] = await run(hanging, step(note("drawn")), clear);
	expect(rest).toEqual(["cleared"]);
	await waitUntil("the end of what the command started", 5_000, () => hasEnded(Number(pid)));
});

test("the clear is still run after a command that ends just before its deadline", async () => {
	// The deadline falls between the end of the command and the wait for its last output.
	expect(await run(step("exit 0", { deadlineMs: 60 }), clear)).toEqual(["cleared"]);
});

test.each([
	["does not exist", "/nowhere/busybar"],
	["no system can start", "/bin/\0"],
])("the clear is still run after a command that %s", async (_, file) => {
	const broken = step("");
	expect(await run({ ...broken, command: { ...broken.command, file } }, clear)).toEqual(["cleared"]);
});

test("a program that a command leaves running does not keep the process alive", async () => {
	const startMs = Date.now();
	const [pid] = await run(step('sleep 20 >&2 & echo $! >> "$JOURNAL"'), clear);
	process.kill(Number(pid), "SIGKILL");
	expect(Date.now() - startMs).toBeLessThan(10_000);
});

test("an access key among the arguments of a command is in the process list only while that command runs", async () => {
	const look = step('{ ps -ww -o args= -p "$PPID"; env; } >> "$JOURNAL"', { args: ["--token", "73519"] });
	const seen = (await run(look)).join("\n");
	expect(seen).toContain("detached-steps.js");
	expect(seen).toContain("JOURNAL=");
	expect(seen).not.toContain("73519");
});

describe("when pi itself does not run on Node", () => {
	const standalone = { isNode: false, execPath: "/opt/pi" };
	const other = step(note("drawn"));

	test("the steps run on the Node that runs the bundled CLI", () => {
		const bundled = { ...cli, source: "bundled", file: "/opt/node" } as const;
		expect(processFor([other, clear], bundled, standalone)?.file).toBe("/opt/node");
	});

	test("with a CLI that does not need Node, one command is started directly, and several cannot be run", () => {
		expect(processFor([clear], cli, standalone)).toEqual(clear.command);
		expect(processFor([other, clear], cli, standalone)).toBeUndefined();
	});
});
