import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import { describe, expect, test, vi } from "vitest";
import { piExtension } from "../../extensions/busybar-alert/commands.ts";
import { rowOf } from "../../extensions/busybar-alert/log.ts";
import { DEAD_ADDRESS } from "../support/pi-desk.ts";
import { printSession } from "../support/print-session.ts";

/** What the user can start, and what it leaves in the settings file. */
function desk(saved: Readonly<Record<string, unknown>> = {}) {
	const { session, settings, cacheFolder } = printSession(saved);
	const extension = piExtension(() => session);
	// None of these actions asks its user anything.
	const context = {} as ExtensionCommandContext;
	const run = async (id: string, args = ""): Promise<string> =>
		String(await extension.actions.find((action) => action.id === id)?.run(args, context));
	const inFile = () => JSON.parse(readFileSync(settings, "utf8"));
	/** As many rows as that are in the log, one turn each. */
	const logged = (count: number) => {
		mkdirSync(cacheFolder, { recursive: true });
		const rows = Array.from({ length: count }, (_, index) =>
			rowOf({ alert: "turn", reason: `turn ${index}`, session: "s" }, { outcome: "skipped", gate: "debounce" }, 0),
		);
		writeFileSync(join(cacheFolder, "alerts.jsonl"), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
	};
	return { session, extension, run, inFile, logged, cacheFolder };
}

test("toggling switches alerts off and on again, or as it is told", async () => {
	const { run, inFile } = desk();
	for (const [argument, enabled] of [
		["", false],
		["", true],
		["on", true],
		["off", false],
		["off", false],
	] as const) {
		expect(await run("toggle", argument)).toContain(enabled ? "on" : "off");
		expect(inFile().enabled).toBe(enabled);
	}
	await expect(run("toggle", "maybe")).rejects.toThrow("maybe");
});

test("a mute is for a time, without an end or for this pi alone, and lifted whole", async () => {
	const { run, inFile, session } = desk();
	const startedMs = Date.now();
	await run("mute", "30m");
	const mutedMs = Date.parse(inFile().mutedUntil) - startedMs;
	expect(mutedMs).toBeGreaterThanOrEqual(30 * 60_000);
	expect(mutedMs).toBeLessThan(31 * 60_000);
	await run("mute");
	expect(inFile().mutedUntil).toBe("lifted");
	await run("mute", "here");
	expect(session.parts.isMutedHere).toBe(true);
	await run("mute", "off");
	expect(inFile()).not.toHaveProperty("mutedUntil");
	expect(session.parts.isMutedHere).toBe(false);
	await expect(run("mute", "5")).rejects.toThrow('"5"');
});

test("the log is as long as asked for: ten rows, or 1 to 200", async () => {
	const { run, logged } = desk();
	logged(250);
	expect((await run("log")).split("\n")).toHaveLength(10);
	expect((await run("log", "3")).split("\n")).toHaveLength(3);
	expect((await run("log", "200")).split("\n")).toHaveLength(200);
	for (const bad of ["0", "201", "1.5", "many"]) await expect(run("log", bad)).rejects.toThrow(bad);
});

test("the state names where alerts go, the last one and the last silence", async () => {
	const { run, logged } = desk({ display: "back", applicationName: "mine" });
	logged(2);
	const text = await run("state");
	for (const part of [DEAD_ADDRESS, "mine", "back", "turn 1", "debounce"]) expect(text).toContain(part);
	expect(text.split("\n")).toHaveLength(3);
});

test("the statistics are those of the log", async () => {
	const { run, logged } = desk();
	logged(7);
	expect(await run("stats")).toContain("skipped 7: debounce 7");
});

test("the doctor looks at the bar that the settings name", async () => {
	expect(await desk().run("doctor")).toMatch(new RegExp(`^problem .*${DEAD_ADDRESS}`, "m"));
});

test("a test that fails says why, and an unknown one is refused", async () => {
	const { run } = desk();
	await expect(run("test", "done")).rejects.toThrow(`No BUSY Bar at ${DEAD_ADDRESS}`);
	await expect(run("test", "loud")).rejects.toThrow('"loud"');
});

test("preparing makes what alerts show, again if it is there, and nothing else", async () => {
	const { run, cacheFolder } = desk({
		pattern: "off",
		patternDone: "off",
		patternError: "pulse",
		patternQuestion: "pulse",
	});
	await run("prepare");
	expect(readdirSync(cacheFolder)).toEqual(["alert_front_pulse.anim"]);
	const made = () => statSync(join(cacheFolder, "alert_front_pulse.anim"));
	const { ino, mtimeMs } = made();
	await run("prepare");
	expect([made().ino, made().mtimeMs]).not.toEqual([ino, mtimeMs]);
});

test.each(["state", "stats", "doctor", "prepare"])("%s takes no argument", async (id) => {
	await expect(desk().run(id, "surplus")).rejects.toThrow("surplus");
});

describe("the settings in /px", () => {
	test("say which values come from the environment, and which override it", async () => {
		const { extension } = desk();
		vi.stubEnv("BUSYBAR_ADDR", "bar.local");
		vi.stubEnv("BUSYBAR_TOKEN", "1234");
		const notes = (await extension.settings?.load())?.notes;
		expect(Object.keys(notes ?? {}).sort()).toEqual(["addr", "token"]);
		expect(notes?.addr).toMatch(/^Overrides .*BUSYBAR_ADDR/);
		expect(notes?.token).toMatch(/^From .*BUSYBAR_TOKEN/);
	});
});
