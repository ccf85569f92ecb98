import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { DEAD_ADDRESS, Desk, requests, TWO_TURNS, untilDark, untilLit } from "../support/desk.ts";
import { runPi, startRpcPi, startTerminalPi } from "../support/pi.ts";
import { KEY } from "../support/terminal.ts";
import { waitUntil } from "../support/wait.ts";

const CLEAR = "DELETE /api/display/draw";

describe("the access key", () => {
	test("missing: one notice names both causes, the log says forbidden, and the next failure gives no notice", async () => {
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
		expect(notices[0]?.message).toMatch(/HTTP access over Wi-Fi is off.*access key is missing or wrong.*BUSYBAR_TOKEN/);
		await pi.close();
	});

	test("set: the bar flashes, and the key is in no log, notice or cache file", async () => {
		const desk = new Desk();
		const token = "97531864";
		const bar = await desk.bar({ token });
		const pi = startRpcPi(desk.home, desk.pi(bar.addr, { env: { BUSYBAR_TOKEN: token } }));
		await pi.prompt("please");
		await desk.logged("fired turn 1");
		await pi.close();
		expect(JSON.stringify(pi.events)).not.toContain(token);
		const folder = join(desk.home.cacheDir, "pi-busybar-alert");
		const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
		expect(files.length).toBeGreaterThan(3);
		for (const { parentPath, name } of files) {
			expect(readFileSync(join(parentPath, name), "latin1"), name).not.toContain(token);
		}
	});
});

describe("the commands", () => {
	test("answer with notices over RPC", async () => {
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
		expect(await answerTo("/busybar-alert-test banana")).toBe(
			'Unknown alert "banana". Use turn, done, error or question.',
		);
		expect(await answerTo("/busybar-alert-toggle maybe")).toBe('Unknown argument "maybe". Use on or off.');
		expect(await answerTo("/busybar-alert-mute 5")).toBe('"5" needs a unit, such as 5m.');
		expect(await answerTo("/busybar-alert-mute soon")).toBe(
			'Cannot mute for "soon". Use 30m, 2h (at most a week), here, off, or nothing.',
		);
		expect(await answerTo("/busybar-alert-stats today")).toBe('This takes no argument. Leave out "today".');
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

	test("change settings for every pi: another one follows at its next prompt, and a new one from its start", async () => {
		const desk = new Desk();
		desk.saveSettings({ holdSeconds: 0.5, alertOn: "agent_settled" });
		const bar = await desk.bar();
		const one = startRpcPi(desk.home, desk.pi(bar.addr));
		const other = startRpcPi(desk.home, desk.pi(bar.addr, { script: [...TWO_TURNS, ...TWO_TURNS] }));
		await other.prompt("please");
		await desk.logged("cleared agent settled");
		await one.prompt("/busybar-alert-mute 2h");
		await other.prompt("again");
		await desk.logged("skipped agent settled muted");
		await other.waitFor(({ statusText }) => statusText === "busybar:muted");
		await Promise.all([one.close(), other.close()]);
		const restarted = startRpcPi(desk.home, desk.pi(bar.addr));
		await restarted.waitFor(({ statusText }) => statusText === "busybar:muted");
		await restarted.close();
	});

	test("need only one Enter when typed in full in a terminal", async () => {
		const desk = new Desk();
		desk.saveSettings({ holdSeconds: 0.5 });
		const bar = await desk.bar();
		const pi = await startTerminalPi(desk.home, desk.pi(bar.addr));
		pi.write("/busybar-alert-test do");
		await pi.waitForText("the run has finished");
		pi.write("ne");
		await pi.waitForScreen("no more offers", (screen) => !screen.includes("the run has finished"));
		pi.write(KEY.enter);
		await desk.logged("fired manual test");
		pi.kill("SIGTERM");
		await pi.exit;
	});

	test("that are still running when pi replaces the session do no harm", async () => {
		const desk = new Desk();
		const bar = await desk.bar();
		await bar.faults({ slowMs: 1_500 });
		const pi = startRpcPi(desk.home, desk.pi(bar.addr));
		pi.send({ id: "test", type: "prompt", message: "/busybar-alert-test" });
		await waitUntil("the draw", 20_000, async () => (await bar.journal()).length > 0);
		pi.send({ type: "new_session" });
		await desk.logged("fired manual test");
		await pi.close();
		expect(pi.events.filter(({ type }) => type === "extension_error")).toEqual([]);
		expect(pi.stderr).toBe("");
	});

	test("answer on stdout in print mode, and the alert stays for its full time although pi has ended", async () => {
		const desk = new Desk();
		desk.saveSettings({ holdSeconds: 1 });
		const bar = await desk.bar();
		const result = await runPi(desk.home, { ...desk.pi(bar.addr), prompt: "/busybar-alert-test done" });
		expect(result).toMatchObject({ code: 0, stderr: "" });
		expect(result.stdout).toBe(
			`Alert sent to ${bar.addr} (app pi-turn-alert, front, hold 1s). An automatic alert would be skipped now: headless.\n`,
		);
		await untilLit(bar);
		await untilDark(bar);
		expect(requests(await bar.journal()).filter((request) => request === CLEAR)).toHaveLength(1);
	});

	test("keep stdout a stream of events in JSON mode", async () => {
		const desk = new Desk();
		const result = await runPi(desk.home, { ...desk.pi(DEAD_ADDRESS), prompt: "/busybar-alert-test", mode: "json" });
		for (const line of result.stdout.trim().split("\n")) expect(() => JSON.parse(line)).not.toThrow();
		expect(result.stderr).toContain(`No BUSY Bar at ${DEAD_ADDRESS}: connection refused.`);
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
	expect(existsSync(join(desk.home.cacheDir, "pi-busybar-alert"))).toBe(false);
});
