import { expect, test } from "vitest";
import type { FailureKind } from "../../extensions/busybar-alert/cli/failures.ts";
import { Outcomes } from "../../extensions/busybar-alert/tell/outcomes.ts";
import { AlertDesk, alertRequest, refusal, turn } from "../support/alert-desk.ts";
import { ManualClock } from "../support/manual-clock.ts";

function outcomes() {
	const clock = new ManualClock(0);
	const notices = { shown: async () => undefined, failed: async () => false };
	return { clock, outcomes: new Outcomes({ clock, notices, log: { append: () => undefined } }) };
}
const failure = (kind: FailureKind) => ({ kind, message: kind });

test.each(["not_found", "no_node"] as const)("a program that is not there is left alone (%s)", (kind) => {
	const { outcomes: told, clock } = outcomes();
	expect(told.backingOff).toBe(false);
	told.failed(alertRequest(), failure(kind));
	clock.advance(29_999);
	expect(told.backingOff).toBe(true);
	clock.advance(1);
	expect(told.backingOff).toBe(false);
});

test.each(["wrong_cli", "bad_asset", "unknown"] as const)("a program that is there is asked again (%s)", (kind) => {
	const { outcomes: told } = outcomes();
	told.failed(alertRequest(), failure(kind));
	expect(told.backingOff).toBe(false);
});

test.each(["forbidden", "preempted", "device"] as const)(
	"a bar that answers is tried again at once (%s)",
	async (kind) => {
		const desk = new AlertDesk();
		desk.behaviours.show.push(refusal(kind));
		desk.cycle.show(turn(0));
		await desk.advance(100);
		expect((await desk.cycle.look(turn(0).target)).backingOff).toBe(false);
		expect(desk.outcomes.backingOff).toBe(false);
	},
);

test("each failure in a row is waited for longer, five minutes at most, until one succeeds", () => {
	const { outcomes: told, clock } = outcomes();
	for (const waitMs of [30_000, 60_000, 120_000, 300_000, 300_000]) {
		told.failed(alertRequest(), failure("not_found"));
		clock.advance(waitMs - 1);
		expect(told.backingOff).toBe(true);
		clock.advance(1);
		expect(told.backingOff).toBe(false);
	}
	told.fired(alertRequest(), { pattern: "spinner", anim: "spinner.anim" });
	told.failed(alertRequest(), failure("not_found"));
	clock.advance(30_000);
	expect(told.backingOff).toBe(false);
});
