import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Session } from "../../extensions/busybar-alert/session.ts";
import { scratchFolder } from "../support/scratch.ts";

/** Of a pi in print mode, which shares nothing with the rest of the process. */
function printSession() {
	const { PI_BUSYBAR_ALERT_PID: marker } = process.env;
	onTestFinished(() => {
		if (marker === undefined) delete process.env.PI_BUSYBAR_ALERT_PID;
		else process.env.PI_BUSYBAR_ALERT_PID = marker;
	});
	const folder = scratchFolder();
	const session = new Session({
		mode: "print",
		sessionId: "s",
		agentFolder: join(folder, "agent"),
		cacheFolder: join(folder, "cache"),
		setStatus: () => undefined,
		notify: () => undefined,
	});
	onTestFinished(() => session.end(true));
	return { session, settings: join(folder, "agent", "busybar-alert.json"), cache: join(folder, "cache") };
}

test("a command or a picture of the user's own that cannot be used is refused when it is set", async () => {
	const { session, settings } = printSession();
	await expect(session.save({ command: "/nowhere/busybar" })).rejects.toThrow("/nowhere/busybar does not exist");
	expect(existsSync(settings)).toBe(false);
	await session.save({ command: "bundled" });
	await expect(session.save({ pattern: "/nowhere/frames" })).rejects.toThrow("/nowhere/frames does not exist");
	await expect(session.save({ patternError: "/nowhere/one.anim" })).rejects.toThrow("/nowhere/one.anim does not exist");
	expect(JSON.parse(readFileSync(settings, "utf8"))).toEqual({ command: "bundled" });
});

test("what a run has asked for last is in the log when pi ends", async () => {
	const { session, cache } = printSession();
	session.policy.turnEnded({ index: 0, outcome: "completed", calledTools: false }, false);
	session.policy.settled(false);
	await session.end(true);
	const rows = readFileSync(join(cache, "alerts.jsonl"), "utf8").trim().split("\n");
	expect(rows.map((row) => JSON.parse(row))).toMatchObject([
		{ reason: "turn 0", outcome: "skipped" },
		{ reason: "turn 0 (final)", outcome: "skipped" },
	]);
});
