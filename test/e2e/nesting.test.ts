// A pi inside a pi, a pi without a user interface, and the extension loaded twice: who speaks, and who is silent.

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { Desk, EXTENSION, requests, untilDark, untilLit } from "../support/desk.ts";
import { PI_VERSIONS, runPi, startRpcPi, startTerminalPi } from "../support/pi.ts";
import { bash, say, untilLogged, WORK } from "../support/steps.ts";
import { KEY } from "../support/terminal.ts";
import { waitUntil } from "../support/wait.ts";

const support = (name: string) => fileURLToPath(new URL(`../support/${name}`, import.meta.url));
const SUBAGENT = support("subagent-extension.ts");
const SCRIPTED_MODEL = support("scripted-model.ts");
const GO_BUSYBAR = support("go-busybar");
const CHECKOUT = dirname(dirname(dirname(EXTENSION)));

const SETTLED = { alertOn: "agent_settled", holdSeconds: 0.5 } as const;
const SHOWN = ["fired agent settled", "cleared agent settled"];
const CLEAR = "DELETE /api/display/draw";

/** A shell line that starts pi as this desk would, in the environment of the pi whose tool runs it. */
function shellLine(desk: Desk, addr: string, ...more: string[]): string {
	const { file, args, env } = desk.home.command(desk.pi(addr, { script: [WORK, say("The child is done.")] }));
	const quoted = [file, ...args, ...more].map((word) => `'${word}'`).join(" ");
	return `PI_SCRIPTED_MODEL='${env.PI_SCRIPTED_MODEL}' ${quoted}`;
}

/** A turn that ends when the last of what print mode makes ready while it works is there. */
const untilReady = (desk: Desk) =>
	bash(`until ls '${desk.home.cacheDir}'/pi-busybar-alert/cross_*.anim 2>/dev/null; do sleep 0.05; done`);

describe("a pi in a pi", () => {
	test("that the model starts (`pi -p`, `pi --mode rpc`) is silent, even with `headless` on; the outer one is not", async () => {
		const desk = new Desk();
		desk.saveSettings({ ...SETTLED, headless: true });
		const bar = await desk.bar();
		const print = shellLine(desk, bar.addr, "-p", "go");
		const rpc = shellLine(desk, bar.addr, "--mode", "rpc");
		const settled = join(desk.home.dir, "settled");
		// The input stays open until the run is over, as an orchestrator's does.
		const drive = `(echo '{"type":"prompt","message":"go"}'; until grep -q agent_settled ${settled}; do sleep 0.1; done)`;
		const script = [bash(`${print} </dev/null`), bash(`touch ${settled}; ${drive} | ${rpc} >${settled}`), say("Done.")];
		const pi = startRpcPi(desk.home, desk.pi(bar.addr, { script }));
		await pi.prompt("please");
		await desk.logged("cleared agent settled");
		expect(JSON.stringify(pi.events)).toContain("The child is done.");
		const nested = Array(2).fill("skipped agent settled nested");
		expect(desk.story()).toEqual([...nested, ...SHOWN]);
		const pids = desk.log().map((row) => row.pid);
		expect(new Set(pids)).toHaveLength(3);
		expect(pids.slice(2)).toEqual([pi.pid, pi.pid]);
		await pi.close();
	});

	test("as a subagent in the same process is silent and does not touch the outer one's alert, even with `headless` on", async () => {
		const desk = new Desk();
		desk.saveSettings({ holdSeconds: 30, headless: true, minIntervalMs: 0 });
		const bar = await desk.bar();
		const script = [
			WORK,
			untilLogged(desk, "fired", "turn 0"),
			{ toolCalls: [{ name: "subagent", args: {} }] },
			say("I am the subagent."),
			bash("sleep 60"),
		];
		const env = { SUBAGENT_EXTENSIONS: [SCRIPTED_MODEL, EXTENSION].join(delimiter) };
		const pi = startRpcPi(desk.home, desk.pi(bar.addr, { script, extensions: [EXTENSION, SUBAGENT], env }));
		await pi.prompt("please");
		await desk.logged("skipped turn 2 in_flight");
		const result = JSON.stringify(pi.events.filter(({ type }) => type === "tool_execution_end").at(-1));
		const session = /The subagent (\S+) has done it/.exec(result)?.[1];
		expect(session, result).toBeDefined();
		const rows = desk.log().filter((row) => row.session === session);
		expect(rows).toMatchObject([{ outcome: "skipped", gate: "nested", pid: pi.pid }]);
		expect((await bar.state()).lit.front).toBe(true);
		expect(requests(await bar.journal())).not.toContain(CLEAR);
		await pi.close();
		await untilDark(bar);
	});

	test("as a subagent of `pi -p` is silent too: one alert, for the whole run", async () => {
		const desk = new Desk();
		desk.saveSettings({ headless: true });
		const bar = await desk.bar();
		const subagent = { toolCalls: [{ name: "subagent", args: {} }] };
		const script = [untilReady(desk), subagent, say("I am the subagent."), say("It is done.")];
		const env = { SUBAGENT_EXTENSIONS: [SCRIPTED_MODEL, EXTENSION].join(delimiter) };
		const extensions = [EXTENSION, SUBAGENT];
		const run = await runPi(desk.home, { ...desk.pi(bar.addr, { script, extensions, env }), prompt: "please" });
		expect(run).toMatchObject({ code: 0, stdout: "It is done.\n" });
		expect(desk.story()).toEqual(["skipped agent settled nested", "fired agent settled", "cleared agent settled"]);
	});

	test("in a terminal window that inherited the marker of a running pi is not silenced", async () => {
		const desk = new Desk();
		desk.saveSettings(SETTLED);
		const bar = await desk.bar();
		const env = { PI_BUSYBAR_ALERT_PID: String(process.pid) };
		const pi = await startTerminalPi(desk.home, desk.pi(bar.addr, { env }));
		pi.write(`please${KEY.enter}`);
		await desk.logged("cleared agent settled");
		expect(desk.story()).toEqual(SHOWN);
	});

	test("is not assumed because of the marker of a pi that has ended", async () => {
		const desk = new Desk();
		desk.saveSettings(SETTLED);
		const bar = await desk.bar();
		const gone = startRpcPi(desk.home, desk.pi(bar.addr));
		await gone.close();
		const pi = startRpcPi(desk.home, desk.pi(bar.addr, { env: { PI_BUSYBAR_ALERT_PID: String(gone.pid) } }));
		await pi.prompt("please");
		await desk.logged("cleared agent settled");
		expect(desk.story()).toEqual(SHOWN);
		await pi.close();
	});
});

describe("`headless` on", () => {
	test("`pi -p`: one alert at the end, which outlasts pi for its hold", async () => {
		const desk = new Desk();
		desk.saveSettings({ headless: true });
		const bar = await desk.bar();
		const script = [untilReady(desk), say("It is done.")];
		const run = await runPi(desk.home, { ...desk.pi(bar.addr, { script }), prompt: "please" });
		expect(run).toMatchObject({ code: 0, stdout: "It is done.\n", stderr: "" });
		expect(desk.log()).toMatchObject([
			{ outcome: "fired", alert: "done", reason: "agent settled", ms: expect.any(Number) },
			{ outcome: "cleared", detached: true },
		]);
		expect((await bar.state()).lit.front).toBe(true);
		await untilDark(bar);
		expect(requests(await bar.journal()).filter((request) => request === CLEAR)).toHaveLength(1);
	});

	test("a bar that hangs does not hold up `pi --mode json`, whose output stays a stream of events", async () => {
		const desk = new Desk();
		desk.saveSettings({ headless: true });
		const bar = await desk.bar();
		await bar.faults({ hang: true });
		const script = [untilReady(desk), say("It is done.")];
		const run = await runPi(desk.home, { ...desk.pi(bar.addr, { script }), prompt: "please", mode: "json" });
		expect(run).toMatchObject({ code: 0, stderr: "" });
		for (const line of run.stdout.trim().split("\n")) expect(() => JSON.parse(line)).not.toThrow();
		expect(desk.log()).toMatchObject([
			{ outcome: "fired", detached: true },
			{ outcome: "cleared", detached: true },
		]);
		// pi has gone, and the CLI still waits for its answer.
		await waitUntil("a CLI that waits", 20_000, () =>
			execFileSync("ps", ["-A", "-o", "args"], { encoding: "utf8" }).includes(` show --addr ${bar.addr} `),
		);
	});

	test("with the Go CLI, which has no expiry, the alert is cleared after its hold", async () => {
		const desk = new Desk();
		desk.saveSettings({ holdSeconds: 1, headless: true });
		const bar = await desk.bar();
		const script = [untilReady(desk), say("It is done.")];
		const options = desk.pi(bar.addr, { pathDirs: [GO_BUSYBAR], script });
		const run = await runPi(desk.home, { ...options, prompt: "please" });
		expect(run.code).toBe(0);
		await untilLit(bar);
		await untilDark(bar);
		expect(requests(await bar.journal()).filter((request) => request === CLEAR)).toHaveLength(1);
	});
});

describe.each(PI_VERSIONS)("pi %s", (version) => {
	test("with two copies loaded, the first one acts, the second says once that it does not, and no command is doubled", async () => {
		const desk = new Desk();
		desk.saveSettings(SETTLED);
		const bar = await desk.bar();
		const copy = join(desk.home.dir, "copy");
		mkdirSync(copy);
		cpSync(join(CHECKOUT, "extensions"), join(copy, "extensions"), { recursive: true });
		// The copy needs the package's other half and its dependencies.
		for (const name of ["busybar", "node_modules", "package.json"]) symlinkSync(join(CHECKOUT, name), join(copy, name));
		const second = join(copy, "extensions", "busybar-alert", "index.ts");
		const pi = startRpcPi(desk.home, desk.pi(bar.addr, { version, extensions: [EXTENSION, second] }));
		await pi.prompt("please");
		await desk.logged("cleared agent settled");
		pi.send({ type: "new_session" });
		await pi.waitFor((record) => record.type === "response" && record.command === "new_session");
		await pi.prompt("/busybar-alert-test done");
		await waitUntil("the test cleared", 20_000, () => desk.story().includes("cleared manual test"));
		expect(desk.story()).toEqual([...SHOWN, "fired manual test", "cleared manual test"]);

		pi.send({ type: "get_commands" });
		const { data } = await pi.waitFor((record) => record.type === "response" && record.command === "get_commands");
		const names = (data as { commands: { name: string }[] }).commands.map(({ name }) => name);
		expect(names).toContain("busybar-alert");
		expect(names.filter((name) => name.includes(":"))).toEqual([]);
		const said = pi.events.filter(({ method, message }) => method === "notify" && String(message).includes("twice"));
		expect(said).toHaveLength(1);
		expect(said[0]?.message).toContain(`The copy in ${second} does nothing`);
		await pi.close();
	});
});

test("one copy that is named twice, once through a link, gives one alert and no doubled command", async () => {
	const desk = new Desk();
	desk.saveSettings(SETTLED);
	const bar = await desk.bar();
	const link = join(desk.home.dir, "link");
	symlinkSync(CHECKOUT, link);
	const linked = join(link, "extensions", "busybar-alert", "index.ts");
	const pi = startRpcPi(desk.home, desk.pi(bar.addr, { extensions: [EXTENSION, linked] }));
	await pi.prompt("please");
	await desk.logged("cleared agent settled");
	expect(desk.story()).toEqual(SHOWN);
	pi.send({ type: "get_commands" });
	const { data } = await pi.waitFor((record) => record.type === "response" && record.command === "get_commands");
	expect(JSON.stringify(data)).not.toMatch(/busybar-alert[a-z-]*:\d/);
	await pi.close();
});
