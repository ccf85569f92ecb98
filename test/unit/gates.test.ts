import { describe, expect, onTestFinished, test } from "vitest";
import type { Alert } from "../../extensions/busybar-alert/settings.ts";
import { type Gate, gateOf, isQuietAt, type Situation } from "../../extensions/busybar-alert/when/gates.ts";

const ALERTS: readonly Alert[] = ["turn", "done", "error", "question"];

const OPEN: Situation = {
	nested: false,
	headless: false,
	muted: false,
	quiet: false,
	focused: false,
	runMs: 10_000,
	minRunSeconds: 0,
	patternOff: false,
	backingOff: false,
	inFlight: false,
	sinceLastAlertMs: Number.POSITIVE_INFINITY,
	minIntervalMs: 2_000,
	outranked: false,
};

/** What closes each gate, in the order of the gates. */
const CLOSED: readonly [Gate, Partial<Situation>, readonly Alert[]][] = [
	["nested", { nested: true }, ALERTS],
	["headless", { headless: true }, ALERTS],
	["muted", { muted: true }, ALERTS],
	["quiet_hours", { quiet: true }, ALERTS],
	["focused", { focused: true }, ALERTS],
	["short_run", { minRunSeconds: 11 }, ["turn", "done", "error"]],
	["pattern_off", { patternOff: true }, ALERTS],
	["backoff", { backingOff: true }, ALERTS],
	["in_flight", { inFlight: true }, ["turn"]],
	["debounce", { sinceLastAlertMs: 1_999 }, ["turn"]],
	["outranked", { outranked: true }, ["turn"]],
];

test.each(ALERTS)("if no gate is closed, a %s alert is shown", (alert) => {
	expect(gateOf(alert, OPEN)).toBeUndefined();
});

test.each(CLOSED)("%s silences the alerts that it is for, and no others", (gate, closing, silenced) => {
	for (const alert of ALERTS) {
		expect(gateOf(alert, { ...OPEN, ...closing }), alert).toBe(silenced.includes(alert) ? gate : undefined);
	}
});

test("of two closed gates, the first one is named", () => {
	for (const [index, [gate, closing]] of CLOSED.entries()) {
		for (const [, later] of CLOSED.slice(index)) expect(gateOf("turn", { ...OPEN, ...later, ...closing })).toBe(gate);
	}
});

test.each([
	[9_999, "short_run"],
	[10_000, undefined],
	[10_001, undefined],
] as const)("a run of %i ms, with a minimum run time of 10 s: %s", (runMs, gate) => {
	expect(gateOf("done", { ...OPEN, runMs, minRunSeconds: 10 })).toBe(gate);
});

test.each([
	[1_999, "debounce"],
	[2_000, undefined],
] as const)("a turn %i ms after the last alert, with a minimum gap of 2 s: %s", (sinceLastAlertMs, gate) => {
	expect(gateOf("turn", { ...OPEN, sinceLastAlertMs })).toBe(gate);
});

describe("quiet hours", () => {
	const at = (time: string) => new Date(`2026-06-15T${time}:00`);

	test.each([
		["22:00-08:00", "21:59", false],
		["22:00-08:00", "22:00", true],
		["22:00-08:00", "00:00", true],
		["22:00-08:00", "07:59", true],
		["22:00-08:00", "08:00", false],
		["09:00-17:00", "08:59", false],
		["09:00-17:00", "09:00", true],
		["09:00-17:00", "16:59", true],
		["09:00-17:00", "17:00", false],
		["12:00-12:00", "12:00", false],
		["00:00-00:00", "13:00", false],
		["", "03:00", false],
	])("%s at %s: %s", (hours, time, quiet) => {
		expect(isQuietAt(hours, at(time))).toBe(quiet);
	});

	test("are right on the days when the clocks change", () => {
		const before = process.env.TZ;
		onTestFinished(() => {
			if (before === undefined) delete process.env.TZ;
			else process.env.TZ = before;
		});
		process.env.TZ = "Europe/Berlin";
		// 2026-03-29: 02:00 becomes 03:00. 07:59 local is 05:59 UTC, 08:00 is 06:00.
		expect(isQuietAt("22:00-08:00", new Date("2026-03-29T05:59:00Z"))).toBe(true);
		expect(isQuietAt("22:00-08:00", new Date("2026-03-29T06:00:00Z"))).toBe(false);
		// 2026-10-25: 03:00 becomes 02:00. 02:30 comes twice, and both are inside 02:00-03:00.
		expect(isQuietAt("02:00-03:00", new Date("2026-10-25T00:30:00Z"))).toBe(true);
		expect(isQuietAt("02:00-03:00", new Date("2026-10-25T01:30:00Z"))).toBe(true);
		expect(isQuietAt("02:00-03:00", new Date("2026-10-25T02:00:00Z"))).toBe(false);
	});
});
