// The right alert at the right moment: real pi, scripted model, simulated bar; the log of the run, row by row.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Desk, EXTENSION, requests, untilDark, untilLit } from "../support/desk.ts";
import { PI_VERSIONS, startRpcPi } from "../support/pi.ts";
import type { ScriptedStep } from "../support/scripted-model.ts";
import type { SimulatedBar } from "../support/simulated-bar.ts";
import { say, untilFile, untilLogged, WORK } from "../support/steps.ts";
import { waitUntil } from "../support/wait.ts";

const OVERLOADED: ScriptedStep = { error: "529 overloaded" };

/** What the bar plays on its front display, such as `check`. */
async function pictureOn(bar: SimulatedBar): Promise<string | undefined> {
	const { lit, canvas } = await bar.state();
	const file = canvas.elements.find(({ display }) => display === "front")?.file ?? "";
	return lit.front ? /(check|cross|question|spinner)/.exec(file)?.[0] : undefined;
}

/** The alerts that were shown, with their pictures: `done check`. */
function shown(desk: Desk): string[] {
	return desk.log().flatMap((row) => (row.outcome === "fired" ? [`${row.alert} ${row.pattern}`] : []));
}

describe.each(PI_VERSIONS)("pi %s", (version) => {
	test("a turn shows the spinner, one that comes too soon is only logged, the last turn shows the check", async () => {
		const desk = new Desk();
		desk.saveSettings({ holdSeconds: 30 });
		const bar = await desk.bar();
		const script = [WORK, untilLogged(desk, "fired", "turn 0"), say("Done.")];
		const pi = startRpcPi(desk.home, desk.pi(bar.addr, { version, script }));
		await pi.prompt("please");
		await desk.logged("fired turn 2");
		expect(desk.story()).toEqual(["fired turn 0", "skipped turn 1 in_flight", "fired turn 2"]);
		expect(shown(desk)).toEqual(["turn spinner", "done check"]);
		await pi.close();
		await untilDark(bar);
	});

	test("a failure that pi retries shows nothing; one verdict when it settles, good or bad", async () => {
		const desk = new Desk();
		desk.home.writeSettings({ retry: { baseDelayMs: 1, maxRetries: 2 } });
		desk.saveSettings({ holdSeconds: 0.5 });
		const bar = await desk.bar();
		const script = [OVERLOADED, OVERLOADED, say("Done."), OVERLOADED, OVERLOADED, OVERLOADED];
		const pi = startRpcPi(desk.home, desk.pi(bar.addr, { version, script }));
		await pi.prompt("please");
		await desk.logged("cleared turn 0");
		const recovered = ["fired turn 0", "cleared turn 0"];
		expect(desk.story()).toEqual(recovered);

		await pi.prompt("again");
		await desk.logged("cleared turn 0 (final)");
		expect(desk.story()).toEqual([...recovered, "fired turn 0 (final)", "cleared turn 0 (final)"]);
		expect(shown(desk)).toEqual(["done check", "error cross"]);
		await pi.close();
	});

	test("with `agent_settled`, one alert per prompt: none for its turns, steering messages or follow-ups", async () => {
		const desk = new Desk();
		desk.saveSettings({ holdSeconds: 0.5, alertOn: "agent_settled" });
		const bar = await desk.bar();
		const go = join(desk.home.dir, "go");
		const script = [WORK, WORK, untilFile(go), say("First."), say("Second.")];
		const pi = startRpcPi(desk.home, desk.pi(bar.addr, { version, script }));
		await pi.prompt("please");
		pi.send({ type: "steer", message: "rather this" });
		pi.send({ type: "follow_up", message: "and then that" });
		await waitUntil("both queued", 10_000, () => pi.events.filter(({ type }) => type === "queue_update").length >= 2);
		writeFileSync(go, "");
		await desk.logged("cleared agent settled");
		expect(JSON.stringify(pi.events)).toContain("Second.");
		expect(desk.story()).toEqual(["fired agent settled", "cleared agent settled"]);
		expect(shown(desk)).toEqual(["done check"]);
		await pi.close();
	});

	test("compacting by hand shows nothing; compacting at the threshold does not double the verdict", async () => {
		const desk = new Desk();
		// Any session is past the threshold.
		desk.home.writeSettings({ compaction: { enabled: true, reserveTokens: 127_990, keepRecentTokens: 1 } });
		desk.saveSettings({ holdSeconds: 0.5, alertOn: "agent_settled" });
		const bar = await desk.bar();
		const script = [say("Done."), say("The summary."), say("Another summary.")];
		const pi = startRpcPi(desk.home, desk.pi(bar.addr, { version, script }));
		await pi.prompt("please ".repeat(100));
		await desk.logged("cleared agent settled");
		expect(pi.events.filter(({ type }) => type === "compaction_start")).toMatchObject([{ reason: "threshold" }]);
		expect(desk.story()).toEqual(["fired agent settled", "cleared agent settled"]);

		pi.send({ type: "compact" });
		await pi.waitFor(({ type, command }) => type === "response" && command === "compact");
		await pi.close();
		expect(desk.story()).toHaveLength(2);
	});
});

test("after twenty quick turns the bar shows the check, for the whole hold, and the log has one decision for each", async () => {
	const desk = new Desk();
	desk.saveSettings({ holdSeconds: 3 });
	const bar = await desk.bar();
	const script = [...Array.from({ length: 19 }, () => WORK), say("Done.")];
	const pi = startRpcPi(desk.home, desk.pi(bar.addr, { script }));
	await pi.prompt("please");
	await pi.waitFor("agent_settled");
	await waitUntil("the check on the bar", 15_000, async () => (await pictureOn(bar)) === "check");
	await desk.logged("cleared turn 19");
	const cleared = desk.log().at(-1);
	expect(cleared?.outcome === "cleared" && cleared.heldMs).toBeGreaterThanOrEqual(2_900);

	// Every turn has exactly one decision, and there is one verdict.
	const decided = desk.log().flatMap(({ outcome, reason }) => (outcome === "cleared" ? [] : [reason]));
	expect(decided.sort()).toEqual(Array.from({ length: 20 }, (_, turn) => `turn ${turn}`).sort());
	expect(desk.story().filter((row) => row.startsWith("error"))).toEqual([]);
	expect(shown(desk).filter((alert) => alert === "done check")).toHaveLength(1);
	await pi.close();
});

test("with `turn_end`, the answer to a queued follow-up is the last turn: its verdict replaces the earlier one", async () => {
	const desk = new Desk();
	desk.saveSettings({ holdSeconds: 30 });
	const bar = await desk.bar();
	const go = join(desk.home.dir, "go");
	const script = [untilFile(go), say("First."), untilLogged(desk, "fired", "turn 1"), say("Second.")];
	const pi = startRpcPi(desk.home, desk.pi(bar.addr, { script }));
	await pi.prompt("please");
	await pi.waitFor("tool_execution_start");
	pi.send({ type: "follow_up", message: "and then that" });
	await pi.waitFor("queue_update");
	writeFileSync(go, "");
	await desk.logged("fired turn 3");
	expect(desk.story().slice(-3)).toEqual(["fired turn 1", "skipped turn 2 in_flight", "fired turn 3"]);
	await pi.close();
});

test("a new prompt ends the alert after three seconds instead of its full hold", async () => {
	const desk = new Desk();
	desk.saveSettings({ holdSeconds: 20 });
	const bar = await desk.bar();
	const script = [say("First."), untilLogged(desk, "cleared", "turn 0"), say("Second.")];
	const pi = startRpcPi(desk.home, desk.pi(bar.addr, { script }));
	await pi.prompt("please");
	await desk.logged("fired turn 0");
	await untilLit(bar);
	await pi.prompt("and now");
	await desk.logged("cleared turn 0");
	const cleared = desk.log().find(({ outcome }) => outcome === "cleared");
	const heldMs = cleared?.outcome === "cleared" ? cleared.heldMs : 0;
	expect(heldMs).toBeGreaterThanOrEqual(2_900);
	expect(heldMs).toBeLessThan(15_000);
	await pi.close();
	expect(requests(await bar.journal()).at(-1)).toBe("DELETE /api/display/draw");
});

test("a prompt that an extension sends ends no alert early", async () => {
	const desk = new Desk();
	desk.saveSettings({ holdSeconds: 4, alertOn: "agent_settled" });
	const bar = await desk.bar();
	const nudging = join(desk.home.dir, "nudging.ts");
	const command = '{ handler: async () => pi.sendUserMessage("go on") }';
	writeFileSync(nudging, `export default (pi) => pi.registerCommand("nudge", ${command});`);
	const script = [say("First."), untilLogged(desk, "cleared", "agent settled"), say("Second.")];
	const pi = startRpcPi(desk.home, desk.pi(bar.addr, { extensions: [EXTENSION, nudging], script }));
	await pi.prompt("please");
	await desk.logged("fired agent settled");
	pi.send({ type: "prompt", message: "/nudge" });
	await desk.logged("cleared agent settled");
	const cleared = desk.log().find((row) => row.outcome === "cleared");
	expect(cleared?.outcome === "cleared" && cleared.heldMs).toBeGreaterThanOrEqual(4_000);
	await pi.waitFor(({ type }) => type === "tool_execution_end");
	await pi.close();
});
