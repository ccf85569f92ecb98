// Runs that end before their time: what was lit goes dark, and nothing that was broken off is shown as finished.

import { describe, expect, test } from "vitest";
import { DEAD_ADDRESS, Desk, untilDark } from "../support/desk.ts";
import { PI_VERSIONS, startRpcPi, startTerminalPi } from "../support/pi.ts";
import { bash, say, WORK } from "../support/steps.ts";
import { KEY } from "../support/terminal.ts";
import { waitUntil } from "../support/wait.ts";

// After a tool that is aborted pi takes one more turn, which is over before the model answers, or before it is asked.
const AFTER_ABORT = [say("Here I am."), say("Here I am.")];

describe.each(PI_VERSIONS)("pi %s", (version) => {
	test("an aborted run shows nothing, while the model speaks or a tool works; the next one is shown", async () => {
		const desk = new Desk();
		const bar = await desk.bar();
		const slow = { text: "word ".repeat(200), tokensPerSecond: 20 };
		const script = [slow, slow, bash("sleep 60"), ...AFTER_ABORT];
		const pi = startRpcPi(desk.home, desk.pi(bar.addr, { version, script }));
		for (const [alertOn, moment] of [
			["turn_end", "message_update"],
			["agent_settled", "message_update"],
			["turn_end", "tool_execution_start"],
		] as const) {
			desk.saveSettings({ holdSeconds: 0.5, alertOn });
			await pi.prompt("please");
			await pi.waitFor(moment);
			pi.send({ type: "abort" });
			await pi.waitFor("agent_settled");
		}
		await pi.prompt("again");
		await desk.logged("cleared turn 0");
		// Whatever an aborted run had asked for would be here.
		expect(desk.story()).toEqual(["fired turn 0", "cleared turn 0"]);
		expect(desk.log()[0]).toMatchObject({ alert: "done", pattern: "check" });
		await pi.close();
	});
});

test("a run that is aborted while pi waits to retry counts as aborted, not failed", async () => {
	const desk = new Desk();
	desk.home.writeSettings({ retry: { baseDelayMs: 60_000 } });
	desk.saveSettings({ holdSeconds: 0.5 });
	const bar = await desk.bar();
	const script = [{ error: "529 overloaded" }, say("Here I am.")];
	const pi = startRpcPi(desk.home, desk.pi(bar.addr, { script }));
	await pi.prompt("please");
	await pi.waitFor("auto_retry_start");
	pi.send({ type: "abort" });
	await pi.waitFor("agent_settled");
	await pi.prompt("again");
	await desk.logged("cleared turn 0");
	expect(desk.story()).toEqual(["fired turn 0", "cleared turn 0"]);
	expect(desk.log()[0]).toMatchObject({ alert: "done" });
	await pi.close();
});

test("Esc during a tool: a lit alert stays for its full time, the status line recovers, and no verdict follows", async () => {
	const desk = new Desk();
	desk.saveSettings({ holdSeconds: 1 });
	const bar = await desk.bar();
	const script = [WORK, bash("sleep 60"), ...AFTER_ABORT];
	const pi = await startTerminalPi(desk.home, desk.pi(bar.addr, { script }));
	pi.write(`please${KEY.enter}`);
	await pi.waitForText("sleep 60");
	await desk.logged("fired turn 0");
	pi.write(KEY.escape);
	await pi.waitForText(/aborted/i);
	await desk.logged("cleared turn 0");
	await untilDark(bar);
	await pi.waitForText("busybar:on");
	pi.write(`again${KEY.enter}`);
	await pi.waitForText("Here I am.");
	await waitUntil("the next verdict", 15_000, () => desk.story().length === 4);
	expect(desk.story()).toEqual(["fired turn 0", "cleared turn 0", "fired turn 0", "cleared turn 0"]);
	expect(desk.log().map(({ alert }) => alert)).toEqual(["turn", "turn", "done", "done"]);
});

test("/new in the middle of a run: nothing of the old run is shown in the new session", async () => {
	const desk = new Desk();
	desk.saveSettings({ holdSeconds: 0.5 });
	const bar = await desk.bar();
	const pi = startRpcPi(desk.home, desk.pi(bar.addr, { script: [bash("sleep 60"), ...AFTER_ABORT] }));
	await pi.prompt("please");
	await pi.waitFor("tool_execution_start");
	pi.send({ type: "new_session" });
	await pi.waitFor((record) => record.type === "response" && record.command === "new_session");
	await pi.prompt("again");
	await desk.logged("cleared turn 0");
	expect(desk.story()).toEqual(["fired turn 0", "cleared turn 0"]);
	expect(desk.log()[0]).toMatchObject({ alert: "done" });
	expect(await pi.close()).toEqual({ code: 0, signal: null });
	expect(pi.stderr).toBe("");
});

test("over RPC, pi before 1.6 starts a new session twice: a notice still appears only once", async () => {
	const desk = new Desk();
	const pi = startRpcPi(desk.home, desk.pi(DEAD_ADDRESS, { version: "0.82.1" }));
	await pi.prompt("/busybar-alert");
	pi.send({ type: "new_session" });
	await pi.waitFor((record) => record.type === "response" && record.command === "new_session");
	await pi.prompt("please");
	await pi.waitFor(({ statusText }) => statusText === "busybar:unreachable");
	await pi.waitFor(({ notifyType }) => notifyType === "warning");
	await pi.close();
	expect(pi.events.filter(({ notifyType }) => notifyType === "warning")).toHaveLength(1);
	expect(pi.events.filter(({ statusText }) => statusText === "busybar:unreachable")).toHaveLength(1);
});
