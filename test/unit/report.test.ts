import { afterAll, beforeAll, expect, test } from "vitest";
import type { LogEvent, LogRow } from "../../extensions/busybar-alert/log.ts";
import { lastText, logText, statsText } from "../../extensions/busybar-alert/tell/report.ts";
import { muteEnd, muteText } from "../../extensions/busybar-alert/when/mute.ts";

const zone = process.env.TZ;
beforeAll(() => {
	process.env.TZ = "UTC";
});
afterAll(() => {
	if (zone === undefined) delete process.env.TZ;
	else process.env.TZ = zone;
});

const row = (second: number, reason: string, event: LogEvent, alert: LogRow["alert"] = "turn"): LogRow => ({
	ts: `2026-11-30T05:00:${String(second).padStart(2, "0")}.000Z`,
	reason,
	alert,
	pid: 1,
	session: "s",
	...event,
});

const ROWS: readonly LogRow[] = [
	row(0, "turn 0", { outcome: "fired", pattern: "spinner", anim: "a", ms: 84 }),
	row(1, "turn 1", { outcome: "skipped", gate: "in_flight" }),
	row(2, "turn 2", { outcome: "skipped", gate: "debounce" }),
	row(3, "turn 3", { outcome: "skipped", gate: "in_flight" }),
	row(4, "turn 4", { outcome: "fired", pattern: "check", anim: "b", ms: 71 }, "done"),
	row(7, "turn 4", { outcome: "cleared", heldMs: 3_049 }, "done"),
	row(9, "turn 0", { outcome: "error", kind: "preempted", error: "busy" }, "done"),
];

test("the statistics count alerts, skipped alerts by gate with the last reason of each, and errors by kind", () => {
	expect(statsText(ROWS).split("\n")).toEqual([
		"Since 2026-11-30 05:00:00: fired 2, draw p50 71 ms, p95 84 ms",
		"skipped 3: in_flight 2 (last: turn 3), debounce 1 (last: turn 2)",
		"errors 1: preempted 1 (last: turn 0)",
		expect.stringContaining("BUSY timer"),
	]);
	expect(statsText([])).toBe("There have been no alerts yet.");
});

test("the log is readable, and as long as it was asked to be", () => {
	expect(logText(ROWS, 3).split("\n")).toEqual([
		"2026-11-30 05:00:04  fired    done      turn 4, check after 71 ms",
		"2026-11-30 05:00:07  cleared  done      turn 4, after 3.0 s",
		"2026-11-30 05:00:09  error    done      turn 0, preempted: busy",
	]);
	expect(logText([], 3)).toMatch(/empty/);
});

test("the last alert and the last skipped one are shown, or that there is none yet", () => {
	expect(lastText(ROWS).split("\n")).toEqual([
		"Last alert: 2026-11-30 05:00:09 done, turn 0, preempted: busy",
		"Last skipped: 2026-11-30 05:00:03 turn, turn 3, in_flight",
	]);
	expect(lastText([])).toBe("Last alert: none yet\nLast skipped: none yet");
});

test.each([
	["30m", 30 * 60_000],
	["2h", 2 * 3_600_000],
	["168h", 168 * 3_600_000],
	["0m", undefined],
	["169h", undefined],
	["30", undefined],
	["1.5h", undefined],
	["-1h", undefined],
	["soon", undefined],
])("a mute of %s lasts %s ms", (duration, lengthMs) => {
	expect(muteEnd(duration, 1_000)).toBe(lengthMs === undefined ? undefined : 1_000 + lengthMs);
});

test("a mute says how long it lasts", () => {
	const now = Date.parse("2026-11-30T10:00:00Z");
	expect(muteText(Date.parse("2026-11-30T14:30:00Z"), false, now)).toBe("muted until 14:30");
	expect(muteText(Date.parse("2026-12-01T14:30:00Z"), false, now)).toBe("muted until Tue Dec 01 14:30");
	expect(muteText(Number.POSITIVE_INFINITY, false, now)).toBe("muted until you run /busybar-alert-mute off");
	expect(muteText(now - 1, false, now)).toBeUndefined();
	expect(muteText(now - 1, true, now)).toBe("muted in this pi");
});
