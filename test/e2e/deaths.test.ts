import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { canContain, DEATHS } from "../faults/deaths.ts";
import { STAGES } from "../faults/deaths-pi.ts";
import { die, makeAnimations } from "../faults/deaths-row.ts";
import { Desk, requests, untilDark, untilLit } from "../support/desk.ts";
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

/** Those of the table of `npm run faults` that are quick, one of each kind of end. */
const TELLING = [
	["SIGTERM", "sent"],
	["SIGKILL", "draw"],
	["SIGKILL", "hold"],
	["SIGKILL, next pi at once", "question"],
	["terminal closed, pi idle", "hold"],
	["terminal closed, pi at work", "question"],
	["exception in another extension", "hold"],
	["/fork", "hold"],
	["container, input closed (RPC)", "question"],
	["container, end of pi -p", "asset"],
].map(([how, stage]) => DEATHS.find((death) => death.how === how && death.stage === stage) ?? how);

describe("the bar is dark in time, the log is true and nothing is left behind", () => {
	const folder = mkdtempSync(join(tmpdir(), "busybar-deaths-"));
	beforeAll(() => makeAnimations(folder));
	afterAll(() => rm(folder, { recursive: true }));

	for (const death of TELLING) {
		if (typeof death !== "object") throw new Error(`There is no row "${death}".`);
		const run = canContain(death) ? test.concurrent : test.skip;
		run(`${death.how}: ${STAGES[death.stage]}`, async () => {
			expect((await die(death, folder)).failures).toEqual([]);
		});
	}
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
