import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Desk, EXTENSION, requests, untilDark, untilLit } from "../support/desk.ts";
import { startRpcPi, startTerminalPi } from "../support/pi.ts";
import { KEY } from "../support/terminal.ts";
import { waitUntil } from "../support/wait.ts";

const CLEAR = "DELETE /api/display/draw";

test("in a terminal: the status line follows, the bar flashes, and quitting during the alert darkens it", async () => {
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

test.each(["SIGTERM", "SIGHUP"] as const)("%s during an alert darkens the bar", async (signal) => {
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

test("closing the terminal of an idle pi darkens the bar", async () => {
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

test("a pi that exits without a shutdown darkens the bar, and the log says so", async () => {
	const desk = new Desk();
	desk.saveSettings({ holdSeconds: 60 });
	const bar = await desk.bar();
	const exiting = join(desk.home.dir, "exiting.ts");
	writeFileSync(exiting, 'export default (pi) => pi.registerCommand("exit", { handler: () => process.exit(0) });');
	const pi = startRpcPi(desk.home, desk.pi(bar.addr, { extensions: [EXTENSION, exiting] }));
	await pi.prompt("/busybar-alert-test done");
	await desk.logged("fired manual test");
	await untilLit(bar);
	pi.send({ type: "prompt", message: "/exit" });
	expect(await pi.exit).toEqual({ code: 0, signal: null });
	await untilDark(bar);
	expect(desk.story()).toEqual(["fired manual test", "cleared manual test"]);
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

test("/new during a hold: the alert stays for its full time and is cleared once", async () => {
	const desk = new Desk();
	// Longer than the three seconds after which an alert ends when its user is back.
	desk.saveSettings({ holdSeconds: 4 });
	const bar = await desk.bar();
	const pi = startRpcPi(desk.home, desk.pi(bar.addr));
	await pi.prompt("please");
	await desk.logged("fired turn 1");
	pi.send({ type: "new_session" });
	await pi.waitFor((record) => record.type === "response" && record.command === "new_session");
	await waitUntil(
		"the new session's status line",
		3_000,
		() => pi.events.filter(({ statusText }) => statusText === "busybar:alerting (turn 1)").length === 2,
	);
	await desk.logged("cleared turn 1");
	const cleared = desk.log().find((row) => row.outcome === "cleared");
	expect(cleared?.outcome === "cleared" && cleared.heldMs).toBeGreaterThanOrEqual(4_000);
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
