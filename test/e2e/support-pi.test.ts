// Proves the test support around the real pi: that what other tests see through it is what pi does.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { PI_VERSIONS, PiHome, type PiOptions, runPi, startRpcPi, startTerminalPi } from "../support/pi.ts";
import type { RecordedEvent } from "../support/recording-extension.ts";
import type { ScriptedStep } from "../support/scripted-model.ts";
import { KEY } from "../support/terminal.ts";

const TWO_TURNS: readonly ScriptedStep[] = [
	{ text: "Let me look.", toolCalls: [{ name: "bash", args: { command: "echo 'from the tool'; pwd" } }] },
	{ text: "All done." },
];

const OVERLOADED: ScriptedStep = { error: "529 overloaded" };

function jsonLines(stdout: string): { type: string; message?: { role: string } }[] {
	return stdout
		.trim()
		.split("\n")
		.map((line) => JSON.parse(line));
}

/** A home, and what the recording extension saw of the pi processes in it. */
function recordedHome(): { home: PiHome; options: PiOptions; events: () => RecordedEvent[]; order: () => string[] } {
	const home = new PiHome(onTestFinished);
	const file = join(home.dir, "events.jsonl");
	const events = () => {
		const lines = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
		return lines.map((line): RecordedEvent => JSON.parse(line));
	};
	const extension = fileURLToPath(new URL("../support/recording-extension.ts", import.meta.url));
	return {
		home,
		options: { extensions: [extension], env: { RECORDED_EVENTS: file } },
		events,
		order: () => events().map(({ type }) => type),
	};
}

const RUN_OF_TWO_TURNS = [
	"before_agent_start",
	"agent_start",
	"turn_start",
	"tool_execution_start",
	"tool_execution_end",
	"turn_end",
	"turn_start",
	"turn_end",
	"agent_end",
];

describe.each(PI_VERSIONS)("pi %s", (version) => {
	// 0.82.1 does not have this event.
	const beforeSettle = version === "1.6.0" ? ["agent_before_settle"] : [];

	test("pi -p runs the tool, prints the last answer and fires its events in order", async () => {
		const { home, options, order, events } = recordedHome();

		const run = await runPi(home, { ...options, version, script: TWO_TURNS, prompt: "go" });

		expect(run).toMatchObject({ code: 0, signal: null, stdout: "All done.\n", stderr: "" });
		const end = [...beforeSettle, "agent_settled", "session_shutdown"];
		expect(order()).toEqual(["session_start", ...RUN_OF_TWO_TURNS, ...end]);
		expect(new Set(events().map(({ mode }) => mode))).toEqual(new Set(["print"]));
	});

	test("a failure that pi retries is several runs of one turn, and settles once", async () => {
		const { home, options, order } = recordedHome();
		home.writeSettings({ retry: { baseDelayMs: 1 } });

		const run = await runPi(home, { ...options, version, script: [OVERLOADED, OVERLOADED, {}], prompt: "go" });

		expect(run.code).toBe(0);
		const attempt = ["agent_start", "turn_start", "turn_end", "agent_end"];
		const end = [...beforeSettle, "agent_settled", "session_shutdown"];
		expect(order()).toEqual(["session_start", "before_agent_start", ...attempt, ...attempt, ...attempt, ...end]);
	});

	test("over RPC, prompts follow each other into a new session, and notices and statuses are seen", async () => {
		const { home, options, order } = recordedHome();
		const pi = startRpcPi(home, { ...options, version, script: [...TWO_TURNS, { text: "Again." }] });

		await pi.prompt("go");
		await pi.waitFor("agent_settled");
		pi.send({ type: "new_session" });
		await pi.waitFor(({ type, command }) => type === "response" && command === "new_session");
		await pi.prompt("and again");
		await pi.waitFor("agent_settled");
		expect(JSON.stringify(pi.events)).toContain("Again.");

		await pi.prompt("/notice hello");
		const notice = await pi.waitFor(({ type, method }) => type === "extension_ui_request" && method === "notify");
		expect(notice).toMatchObject({ message: "notice: hello", notifyType: "info" });
		await pi.waitFor(({ method, statusText }) => method === "setStatus" && statusText === "status: hello");

		expect(await pi.close()).toEqual({ code: 0, signal: null });
		expect(order().filter((type) => type === "agent_settled")).toHaveLength(2);
		expect(order().at(-1)).toBe("session_shutdown");
	});

	test("in a terminal, a typed prompt is answered on the screen, and Ctrl+D quits", async () => {
		const { home, options, events } = recordedHome();
		const pi = await startTerminalPi(home, { ...options, version, script: TWO_TURNS });

		pi.write(`please look${KEY.enter}`);
		const screen = await pi.waitForText("All done.");
		expect(screen).toMatch(/please look[\s\S]*from the tool[\s\S]*project[\s\S]*All done\./);

		pi.write(KEY.ctrlD);
		expect(await pi.exit).toEqual({ code: 0, signal: null });
		expect(events()[0]).toMatchObject({ type: "session_start", mode: "tui" });
		expect(events().at(-1)?.type).toBe("session_shutdown");
	});

	test("Esc cuts a thinking model short; the run settles, and pi takes the next prompt", async () => {
		const { home, options, events, order } = recordedHome();
		const script = [{ text: "Too late.", delayMs: 60_000 }, { text: "Here I am." }];
		const pi = await startTerminalPi(home, { ...options, version, script });

		pi.write(`think${KEY.enter}`);
		await pi.waitForScreen("The turn's start", () => order().includes("turn_start"));
		pi.write(KEY.escape);
		await pi.waitForScreen("The end of the run", () => order().includes("agent_settled"));
		pi.write(`next${KEY.enter}`);
		const screen = await pi.waitForText("Here I am.");

		expect(screen).not.toContain("Too late.");
		if (version === "1.6.0") {
			expect(events().find(({ type }) => type === "turn_end")).toMatchObject({ outcome: "aborted" });
			expect(events().find(({ type }) => type === "agent_settled")).toMatchObject({ aborted: true });
		}
	});
});

test("pi --mode json prints every event as a line, the failed turn too", async () => {
	const home = new PiHome(onTestFinished);

	const run = await runPi(home, { mode: "json", script: [{ error: "invalid request" }], prompt: "go" });

	const records = jsonLines(run.stdout);
	expect(records.find(({ type }) => type === "turn_end")?.message).toMatchObject({
		stopReason: "error",
		errorMessage: "invalid request",
	});
	expect(records.at(-1)?.type).toBe("agent_settled");
});

test("piped input comes before the prompt", async () => {
	const home = new PiHome(onTestFinished);

	const run = await runPi(home, { mode: "json", stdin: "from the pipe", prompt: "and this" });

	const user = jsonLines(run.stdout).find(({ message }) => message?.role === "user");
	expect(user?.message).toMatchObject({ content: [{ text: "from the pipeand this" }] });
});

test("the regular interface redraws at another size, and its colours can be read cell by cell", async () => {
	const home = new PiHome(onTestFinished);
	const pi = await startTerminalPi(home, {
		args: ["--tui-mode", "regular"],
		script: [{ text: "A `code` word, streamed.", tokensPerSecond: 200 }],
	});

	pi.write(`go${KEY.enter}`);
	await pi.waitForText("streamed.");
	pi.resize(60, 20);
	await pi.waitForScreen("A rule of 60 columns", (screen) => screen.split("\n").includes("─".repeat(60)));

	const cells = pi.cells();
	expect(cells).toHaveLength(20);
	const line =
		cells.find((row) =>
			row
				.map(({ char }) => char)
				.join("")
				.includes("A code word"),
		) ?? [];
	expect(line).toHaveLength(60);
	const colourOf = (char: string) => line.find((cell) => cell.char === char)?.fg;
	expect(colourOf("c")).toMatch(/^#[0-9a-f]{6}$/);
	expect(colourOf("c")).not.toBe(colourOf("A"));
});

test("closing a home ends a pi that is still at work, with its tool, and removes the folder", async () => {
	const home = new PiHome();
	const pi = startRpcPi(home, {
		script: [{ toolCalls: [{ name: "bash", args: { command: "echo $$ > pid; mv pid tool.pid; sleep 60" } }] }],
	});
	await pi.prompt("go");
	await pi.waitFor(() => existsSync(join(home.projectDir, "tool.pid")));
	const toolPid = Number(readFileSync(join(home.projectDir, "tool.pid"), "utf8"));

	await home.close();

	expect(await pi.exit).toEqual({ code: 143, signal: null });
	expect(() => process.kill(toolPid, 0)).toThrow("ESRCH");
	expect(existsSync(home.dir)).toBe(false);
});

test("a pi that does not end in time is killed", async () => {
	const home = new PiHome(onTestFinished);

	const run = runPi(home, { script: [{ delayMs: 60_000 }], prompt: "go", deadlineMs: 500 });

	await expect(run).rejects.toThrow("pi -p did not end within 500 ms");
});

test("closing the terminal ends pi", async () => {
	const home = new PiHome(onTestFinished);
	const pi = await startTerminalPi(home);

	pi.hangUp();

	// Its exit status, and whether session_shutdown fires, depend on which it hears of first, signal or end of input.
	await pi.exit;
	expect(() => pi.kill("SIGTERM")).toThrow("ESRCH");
});

test("with discovery on, pi loads what its settings name", async () => {
	const { home, options, order } = recordedHome();
	home.writeSettings({ extensions: options.extensions });

	await runPi(home, { ...options, extensions: [], prompt: "go" });
	expect(order()).toEqual([]);

	await runPi(home, { ...options, extensions: [], discovery: true, prompt: "go" });
	expect(order().at(-1)).toBe("session_shutdown");
});
