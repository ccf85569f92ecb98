// The gates in a real pi: each says no when it should and is named in the log, and a manual test passes them all.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Settings } from "../../extensions/busybar-alert/settings.ts";
import { DEAD_ADDRESS, Desk, EXTENSION, requests, untilDark } from "../support/desk.ts";
import { startRpcPi } from "../support/pi.ts";
import { ASKING, ask, say, untilLogged, WORK } from "../support/steps.ts";
import { waitUntil } from "../support/wait.ts";

const SETTLED = { alertOn: "agent_settled", holdSeconds: 0.5 } as const;
const SHOWN = ["fired agent settled", "cleared agent settled"];

type RpcPi = ReturnType<typeof startRpcPi>;

/** The rows that one prompt adds, once there are as many as `count`. */
async function rowsOfPrompt(desk: Desk, pi: RpcPi, count: number): Promise<string[]> {
	const before = desk.story().length;
	await pi.prompt("please");
	await pi.waitFor("agent_settled");
	await waitUntil(
		`${count} rows`,
		20_000,
		() => desk.story().length - before >= count,
		() => desk.story().join("\n"),
	);
	return desk.story().slice(before);
}

async function command(pi: RpcPi, text: string): Promise<string> {
	await pi.prompt(text);
	return String((await pi.waitFor(({ method }) => method === "notify")).message);
}

/** A window of quiet hours in UTC, in hours from now. */
function quietHours(fromHours: number, toHours: number): string {
	const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16);
	return `${at(fromHours)}-${at(toHours)}`;
}

test("quiet hours, short runs and a pattern that is off silence alerts while the setting says so", async () => {
	const desk = new Desk();
	const bar = await desk.bar();
	const startedMs = performance.now();
	// Of a run that fails at first, the failed part counts as well.
	desk.home.writeSettings({ retry: { baseDelayMs: 1 } });
	const slowFailure = { error: "529 overloaded", delayMs: 600 };
	const script = [...Array.from({ length: 6 }, () => say("Done.")), slowFailure, say("Done."), say("Done.")];
	const pi = startRpcPi(desk.home, desk.pi(bar.addr, { script, env: { TZ: "UTC" } }));
	const rowsWith = (settings: Partial<Settings>, count: number) => {
		desk.saveSettings({ ...SETTLED, ...settings });
		return rowsOfPrompt(desk, pi, count);
	};

	expect(await rowsWith({ quietHours: quietHours(-2, 2) }, 1)).toEqual(["skipped agent settled quiet_hours"]);
	expect(await rowsWith({ quietHours: quietHours(4, 6) }, 2)).toEqual(SHOWN);
	expect(await rowsWith({ quietHours: quietHours(0, 0) }, 2)).toEqual(SHOWN);
	expect(await rowsWith({ patternDone: "off" }, 1)).toEqual(["skipped agent settled pattern_off"]);
	expect(await rowsWith({ pattern: "off" }, 2)).toEqual(SHOWN);
	expect(await rowsWith({ minRunSeconds: 30 }, 1)).toEqual(["skipped agent settled short_run"]);
	expect(await rowsWith({ minRunSeconds: 0.5 }, 2)).toEqual(SHOWN);
	// The clock runs from the prompt, not from the start of pi.
	const ageSeconds = (performance.now() - startedMs) / 1_000;
	expect(await rowsWith({ minRunSeconds: ageSeconds / 2 }, 1)).toEqual(["skipped agent settled short_run"]);
	await pi.close();
});

test("a short run and quiet turns do not keep a question from being shown", async () => {
	const desk = new Desk();
	desk.saveSettings({ ...SETTLED, minRunSeconds: 3_600, patternDone: "off" });
	const bar = await desk.bar();
	const script = [ask("confirm"), untilLogged(desk, "cleared", "question: confirm"), say("Thanks.")];
	const pi = startRpcPi(desk.home, desk.pi(bar.addr, { extensions: [EXTENSION, ASKING], script }));
	await pi.prompt("please");
	const { id } = await pi.waitFor(({ method }) => method === "confirm");
	await desk.logged("fired question: confirm");
	pi.send({ type: "extension_ui_response", id, confirmed: true });
	await desk.logged("skipped agent settled short_run");
	expect(desk.story()).toEqual([
		"fired question: confirm",
		"cleared question: confirm",
		"skipped agent settled short_run",
	]);
	await pi.close();
});

test("switched off: no log file, and no request to the bar", async () => {
	const desk = new Desk();
	desk.saveSettings({ ...SETTLED, enabled: false });
	const bar = await desk.bar();
	const pi = startRpcPi(desk.home, desk.pi(bar.addr));
	await pi.prompt("please");
	await pi.waitFor("agent_settled");
	await pi.waitFor(({ statusText }) => statusText === "busybar:off");
	await pi.close();
	expect(existsSync(join(desk.home.cacheDir, "pi-busybar-alert"))).toBe(false);
	expect(await bar.journal()).toEqual([]);
});

test("a mute applies to all pis and after a restart, until they are unmuted; `here` applies to this pi only, until it ends", async () => {
	const desk = new Desk();
	desk.saveSettings(SETTLED);
	const bar = await desk.bar();
	const start = () =>
		startRpcPi(desk.home, desk.pi(bar.addr, { script: Array.from({ length: 4 }, () => say("Done.")) }));
	const MUTED = ["skipped agent settled muted"];
	const first = start();
	// The first notice of a new machine.
	await first.waitFor(({ method, message }) => method === "notify" && String(message).includes("alerts are on"));
	expect(await command(first, "/busybar-alert-mute 30m")).toMatch(/^BUSY Bar alerts are muted until .*\d\d:\d\d\.$/);
	expect(await rowsOfPrompt(desk, first, 1)).toEqual(MUTED);
	await first.close();

	const second = start();
	expect(await rowsOfPrompt(desk, second, 1)).toEqual(MUTED);
	expect(await command(second, "/busybar-alert-mute off")).toBe("BUSY Bar alerts are not muted.");
	expect(await rowsOfPrompt(desk, second, 2)).toEqual(SHOWN);
	expect(await command(second, "/busybar-alert-mute here")).toBe("BUSY Bar alerts are muted in this pi.");
	expect(await rowsOfPrompt(desk, second, 1)).toEqual(MUTED);
	second.send({ type: "new_session" });
	await second.waitFor(({ type, command: name }) => type === "response" && name === "new_session");
	expect(await rowsOfPrompt(desk, second, 1)).toEqual(MUTED);

	// Beside it, a pi that is not muted here; then a mute without an end, which it learns of too.
	const third = start();
	expect(await rowsOfPrompt(desk, third, 2)).toEqual(SHOWN);
	expect(await command(second, "/busybar-alert-mute")).toBe(
		"BUSY Bar alerts are muted until you run /busybar-alert-mute off.",
	);
	expect(await rowsOfPrompt(desk, third, 1)).toEqual(MUTED);
	await Promise.all([second.close(), third.close()]);
});

test("without a bar, automatic alerts back off after the first failure, until a setting changes", async () => {
	const desk = new Desk();
	desk.saveSettings(SETTLED);
	const bar = await desk.bar();
	const script = Array.from({ length: 4 }, () => say("Done."));
	const pi = startRpcPi(desk.home, desk.pi(DEAD_ADDRESS, { script }));
	expect(await rowsOfPrompt(desk, pi, 1)).toEqual(["error agent settled unreachable"]);
	// Whoever sends a prompt is back, and needs no late alert of the run before.
	const withdrawn = "skipped agent settled withdrawn";
	expect(await rowsOfPrompt(desk, pi, 2)).toEqual([withdrawn, "skipped agent settled backoff"]);
	desk.saveSettings({ ...SETTLED, addr: bar.addr });
	expect(await rowsOfPrompt(desk, pi, 3)).toEqual([withdrawn, ...SHOWN]);
	await pi.close();
});

test("a turn too soon after the last alert is debounced, the final turn is not", async () => {
	const desk = new Desk();
	desk.saveSettings({ holdSeconds: 0.5, minIntervalMs: 60_000 });
	const bar = await desk.bar();
	const script = [WORK, untilLogged(desk, "cleared", "turn 0"), say("Done.")];
	const pi = startRpcPi(desk.home, desk.pi(bar.addr, { script }));
	const shown = ["fired turn 0", "cleared turn 0", "skipped turn 1 debounce", "fired turn 2", "cleared turn 2"];
	expect(await rowsOfPrompt(desk, pi, 5)).toEqual(shown);
	await pi.close();
});

test("a manual test passes every gate, and names the one that would silence an automatic alert", async () => {
	const desk = new Desk();
	const closed = { minRunSeconds: 3_600, patternDone: "off", minIntervalMs: 60_000 } as const;
	desk.saveSettings({ ...SETTLED, ...closed, quietHours: quietHours(-2, 2) });
	const bar = await desk.bar();
	const pi = startRpcPi(desk.home, desk.pi(bar.addr, { script: [], env: { TZ: "UTC" } }));
	await pi.waitFor(({ method, message }) => method === "notify" && String(message).includes("alerts are on"));
	const sent = `Alert sent to ${bar.addr} (app pi-turn-alert, front, hold 0.5s).`;
	const silent = (gate: string) => `${sent} An automatic alert would be skipped now: ${gate}.`;
	await command(pi, "/busybar-alert-mute here");
	expect(await command(pi, "/busybar-alert-test done")).toBe(silent("muted"));
	await command(pi, "/busybar-alert-mute off");
	expect(await command(pi, "/busybar-alert-test done")).toBe(silent("quiet_hours"));
	desk.saveSettings({ ...SETTLED, ...closed });
	expect(await command(pi, "/busybar-alert-test done")).toBe(silent("pattern_off"));
	await untilDark(bar);
	await pi.close();
	expect(requests(await bar.journal()).filter((request) => request === "POST /api/display/draw")).toHaveLength(3);
	expect(desk.story().filter((row) => row === "fired manual test")).toHaveLength(3);
});
