import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { decodeBicycle0 } from "../busybar/anim/bicycle0.ts";
import { DEAD_ADDRESS, Desk, requests, TWO_TURNS, untilDark, untilLit } from "./support/desk.ts";
import { PI_VERSIONS, runPi, startRpcPi, startTerminalPi } from "./support/pi.ts";
import { KEY } from "./support/terminal.ts";
import { waitUntil } from "./support/wait.ts";

const LISTING = "GET /api/storage/list";
const UPLOAD = "POST /api/assets/upload";
const DRAW = "POST /api/display/draw";
const CLEAR = "DELETE /api/display/draw";

describe.each(PI_VERSIONS)("pi %s", (version) => {
	test("a prompt with two turns ends with the check on the bar, and then the bar is dark", async () => {
		const desk = new Desk();
		desk.saveSettings({ holdSeconds: 1 });
		const bar = await desk.bar();
		const pi = startRpcPi(desk.home, desk.pi(bar.addr, { version, script: [...TWO_TURNS, ...TWO_TURNS] }));
		await pi.prompt("please");
		await desk.logged("fired turn 1");

		// The pixels are those of a frame of the file that the log names.
		const fired = desk.log().find((row) => row.outcome === "fired" && row.reason === "turn 1");
		const anim = fired?.outcome === "fired" ? fired.anim : "";
		expect(fired).toMatchObject({ alert: "done", pattern: "check", pid: pi.pid });
		const { rgb } = await bar.screen("front");
		expect(Math.max(...rgb)).toBeGreaterThan(0);
		const frames = decodeBicycle0(readFileSync(anim)).frames.map((frame) =>
			Buffer.from(frame.filter((_, at) => at % 4 !== 3)),
		);
		expect(frames.some((frame) => frame.equals(rgb))).toBe(true);

		await untilDark(bar);
		await desk.logged("cleared turn 1");
		const before = (await bar.journal()).length;

		// The bar has the files now: an alert is one listing, one draw and one clear.
		await pi.prompt("again");
		await waitUntil(
			"the second verdict cleared",
			20_000,
			() => desk.story().filter((row) => row === "cleared turn 1").length === 2,
		);
		const second = requests((await bar.journal()).slice(before));
		expect(second.filter((request) => request === UPLOAD).length).toBeLessThanOrEqual(1);
		expect(second.at(-1)).toBe(CLEAR);
		const draws = second.filter((request) => request === DRAW).length;
		expect(second.filter((request) => request === LISTING)).toHaveLength(draws);

		expect(await pi.close()).toEqual({ code: 0, signal: null });
		expect(pi.stderr).toBe("");
		expect(desk.story().filter((row) => row.startsWith("error"))).toEqual([]);
	});

	test.each(["text", "json"] as const)("-p (%s) is silent, and the log says why", async (mode) => {
		const desk = new Desk();
		const bar = await desk.bar();
		const result = await runPi(desk.home, { ...desk.pi(bar.addr, { version }), prompt: "please", mode });
		expect(result).toMatchObject({ code: 0, stderr: "" });
		expect(await bar.journal()).toEqual([]);
		expect(desk.story()).toEqual([
			"skipped turn 0 headless",
			"skipped turn 1 headless",
			"skipped turn 1 (final) headless",
		]);
	});
});

test("a bar that has all files gets one listing, one draw and one clear for an alert", async () => {
	const desk = new Desk();
	desk.saveSettings({ holdSeconds: 1, alertOn: "agent_settled" });
	const bar = await desk.bar();
	const pi = startRpcPi(desk.home, desk.pi(bar.addr, { script: [...TWO_TURNS, ...TWO_TURNS] }));
	for (const rounds of [1, 2]) {
		await pi.prompt("please");
		const cleared = () => desk.story().filter((row) => row === "cleared agent settled").length === rounds;
		await waitUntil("the verdict cleared", 20_000, cleared);
	}
	expect(requests(await bar.journal())).toEqual([LISTING, UPLOAD, DRAW, CLEAR, LISTING, DRAW, CLEAR]);
	await pi.close();
});

test("in a terminal: the status line follows, the bar flashes, quitting in the middle darkens it", async () => {
	const desk = new Desk();
	desk.saveSettings({ holdSeconds: 60 });
	const bar = await desk.bar();
	const pi = await startTerminalPi(desk.home, desk.pi(bar.addr));
	await pi.waitForText("busybar:on");
	await pi.waitForText("BUSY Bar alerts are on, for the bar at");
	pi.write("please");
	await pi.waitForText("please");
	pi.write(KEY.enter);
	await pi.waitForText("It is done.");
	await pi.waitForText(/busybar:alerting \(turn 1\)/);
	await untilLit(bar);
	pi.write(KEY.ctrlD);
	expect(await pi.exit).toEqual({ code: 0, signal: null });
	await untilDark(bar);
	// Far from the minute that it would have stayed, and by one clear.
	expect(requests(await bar.journal()).filter((request) => request === CLEAR)).toHaveLength(1);
});

test.each(["SIGTERM", "SIGHUP"] as const)("%s in the middle of an alert darkens the bar", async (signal) => {
	const desk = new Desk();
	desk.saveSettings({ holdSeconds: 60 });
	const bar = await desk.bar();
	const pi = startRpcPi(desk.home, desk.pi(bar.addr));
	await pi.prompt("please");
	await desk.logged("fired turn 1");
	await untilLit(bar);
	pi.kill(signal);
	await pi.exit;
	await untilDark(bar);
});

test("a terminal that is closed under an idle pi darkens the bar", async () => {
	const desk = new Desk();
	desk.saveSettings({ holdSeconds: 2 });
	const bar = await desk.bar();
	const pi = await startTerminalPi(desk.home, desk.pi(bar.addr));
	pi.write(`/busybar-alert-test done${KEY.enter}`);
	await desk.logged("fired manual test");
	await untilLit(bar);
	pi.hangUp();
	await pi.exit;
	// By our own clear or, where pi died of the signal itself, by the bar's timer.
	await untilDark(bar);
});

test("after kill -9 the bar goes dark by itself", async () => {
	const desk = new Desk();
	desk.saveSettings({ holdSeconds: 0.5 });
	const bar = await desk.bar();
	const pi = startRpcPi(desk.home, desk.pi(bar.addr, { script: [{ text: "Done." }] }));
	await pi.prompt("please");
	await untilLit(bar);
	pi.kill("SIGKILL");
	await pi.exit;
	await untilDark(bar);
	expect(requests(await bar.journal())).not.toContain(CLEAR);
});

test("/new during a hold: the alert has its time, and is cleared once", async () => {
	const desk = new Desk();
	desk.saveSettings({ holdSeconds: 2 });
	const bar = await desk.bar();
	const pi = startRpcPi(desk.home, desk.pi(bar.addr));
	await pi.prompt("please");
	await desk.logged("fired turn 1");
	pi.send({ type: "new_session" });
	await pi.waitFor((record) => record.type === "response" && record.command === "new_session");
	await desk.logged("cleared turn 1");
	await untilDark(bar);
	expect(requests(await bar.journal()).filter((request) => request === CLEAR)).toHaveLength(1);
	await pi.prompt("/busybar-alert-test");
	await desk.logged("fired manual test");
	expect(await pi.close()).toEqual({ code: 0, signal: null });
	expect(pi.stderr).toBe("");
});

test("/reload during a hold: the same, with the new instance's status line", async () => {
	const desk = new Desk();
	desk.saveSettings({ holdSeconds: 3 });
	const bar = await desk.bar();
	const pi = await startTerminalPi(desk.home, desk.pi(bar.addr));
	pi.write(`/busybar-alert-test done${KEY.enter}`);
	await pi.waitForText("busybar:alerting (manual test)");
	pi.write(`/reload${KEY.enter}`);
	await desk.logged("cleared manual test");
	await pi.waitForText("busybar:on");
	await untilDark(bar);
	expect(requests(await bar.journal()).filter((request) => request === CLEAR)).toHaveLength(1);
	pi.write(KEY.ctrlD);
	expect(await pi.exit).toEqual({ code: 0, signal: null });
});

test("a pi that a pi's bash tool starts is silent, whatever its mode, and so is a subagent", async () => {
	const desk = new Desk();
	desk.saveSettings({ alertOn: "agent_settled", holdSeconds: 0.5 });
	const bar = await desk.bar();
	const parent = startRpcPi(desk.home, desk.pi(bar.addr));
	await parent.prompt("please");
	await desk.logged("cleared agent settled");
	const before = (await bar.journal()).length;

	const nestings: Record<string, string>[] = [{ PI_BUSYBAR_ALERT_PID: String(parent.pid) }, { PI_SUBAGENT_CHILD: "1" }];
	for (const env of nestings) {
		const child = startRpcPi(desk.home, desk.pi(bar.addr, { env }));
		await child.prompt("please");
		await child.waitFor("agent_settled");
		await child.close();
	}
	expect(desk.story().filter((row) => row.includes("nested"))).toEqual(Array(2).fill("skipped agent settled nested"));
	expect(await bar.journal()).toHaveLength(before);
	await parent.close();
});

describe("the token", () => {
	test("missing: one notice names both causes, the log says forbidden, and the next failure is silent", async () => {
		const desk = new Desk();
		const bar = await desk.bar({ token: "123456" });
		const pi = startRpcPi(desk.home, desk.pi(bar.addr, { script: [...TWO_TURNS, ...TWO_TURNS] }));
		await pi.prompt("please");
		await desk.logged("error turn 1 forbidden");
		await pi.prompt("again");
		await pi.waitFor("agent_settled");
		await waitUntil(
			"a second error",
			20_000,
			() => desk.story().filter((row) => row.startsWith("error turn 1")).length > 1,
		);
		const notices = pi.events.filter(({ method, notifyType }) => method === "notify" && notifyType === "warning");
		expect(notices).toHaveLength(1);
		expect(notices[0]?.message).toMatch(/HTTP API over Wi-Fi is off.*key is missing or wrong.*BUSYBAR_TOKEN/);
		await pi.close();
	});

	test("set: the bar flashes, and neither the log nor the notices nor the cache hold it", async () => {
		const desk = new Desk();
		const token = "97531864";
		const bar = await desk.bar({ token });
		const pi = startRpcPi(desk.home, desk.pi(bar.addr, { env: { BUSYBAR_TOKEN: token } }));
		await pi.prompt("please");
		await desk.logged("fired turn 1");
		await pi.close();
		expect(JSON.stringify(pi.events)).not.toContain(token);
		const folder = join(desk.home.cacheDir, "pi-busybar-alert");
		for (const name of readdirSync(folder)) expect(readFileSync(join(folder, name), "latin1")).not.toContain(token);
	});
});

describe("the commands", () => {
	test("over RPC they answer with notices", async () => {
		const desk = new Desk();
		desk.saveSettings({ holdSeconds: 0.5 });
		const bar = await desk.bar();
		const pi = startRpcPi(desk.home, desk.pi(bar.addr));
		const answerTo = async (command: string) => {
			await pi.prompt(command);
			return (await pi.waitFor(({ method }) => method === "notify")).message;
		};
		// The first notice of a new machine.
		await pi.waitFor(
			({ method, message }) => method === "notify" && String(message).startsWith("BUSY Bar alerts are on"),
		);
		expect(await answerTo("/busybar-alert-test error")).toBe(
			`Alert sent to ${bar.addr} (app pi-turn-alert, front, hold 0.5s).`,
		);
		expect(await answerTo("/busybar-alert-test loud")).toBe('"loud" is none of turn, done, error, question.');
		expect(await answerTo("/busybar-alert-stats")).toMatch(
			/^Since .*: fired 1, draw p50 \d+ ms, p95 \d+ ms\nskipped 0\nerrors 0$/,
		);
		expect(await answerTo("/busybar-alert-toggle")).toBe("BUSY Bar alerts are off.");
		await pi.waitFor(({ statusText }) => statusText === "busybar:off");
		await pi.prompt("please");
		await pi.waitFor("agent_settled");
		expect(await answerTo("/busybar-alert-toggle on")).toBe("BUSY Bar alerts are on.");
		await pi.close();
		expect(desk.story().filter((row) => !row.includes("manual test"))).toEqual([]);
	});

	test("in print mode they answer on stdout, and the alert has its time although pi is gone", async () => {
		const desk = new Desk();
		desk.saveSettings({ holdSeconds: 1 });
		const bar = await desk.bar();
		const result = await runPi(desk.home, { ...desk.pi(bar.addr), prompt: "/busybar-alert-test done" });
		expect(result).toMatchObject({ code: 0, stderr: "" });
		expect(result.stdout).toBe(
			`Alert sent to ${bar.addr} (app pi-turn-alert, front, hold 1s). An automatic one would be silent now: headless.\n`,
		);
		await untilLit(bar);
		await untilDark(bar);
		expect(requests(await bar.journal()).filter((request) => request === CLEAR)).toHaveLength(1);
	});

	test("in JSON mode stdout stays the stream of events", async () => {
		const desk = new Desk();
		const result = await runPi(desk.home, { ...desk.pi(DEAD_ADDRESS), prompt: "/busybar-alert-test", mode: "json" });
		for (const line of result.stdout.trim().split("\n")) expect(() => JSON.parse(line)).not.toThrow();
		expect(result.stderr).toContain(`No BUSY Bar at ${DEAD_ADDRESS}: it refused the connection.`);
	});
});

test("on a new machine with a bad address in the environment, pi says so once and uses the default", async () => {
	const desk = new Desk();
	desk.saveSettings({ enabled: false });
	const pi = startRpcPi(desk.home, desk.pi("http://10.0.4.20"));
	await pi.prompt("please");
	const notice = await pi.waitFor(({ method }) => method === "notify");
	expect(notice.message).toMatch(
		/^The environment variable BUSYBAR_ADDR must be .* "10\.0\.4\.20", is used instead\.$/,
	);
	pi.send({ type: "new_session" });
	await pi.waitFor((record) => record.type === "response" && record.command === "new_session");
	await pi.prompt("again");
	await pi.waitFor("agent_settled");
	await pi.close();
	expect(pi.events.filter(({ method }) => method === "notify")).toHaveLength(1);
	expect(existsSync(join(desk.home.cacheDir, "pi-busybar-alert", "alerts.jsonl"))).toBe(false);
});
