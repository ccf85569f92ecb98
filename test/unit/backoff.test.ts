import { expect, test } from "vitest";
import { Backoff } from "../../extensions/busybar-alert/cycle/backoff.ts";

test.each(["unreachable", "not_found", "no_node"] as const)("what is not there is left alone (%s)", (kind) => {
	const backoff = new Backoff();
	expect(backoff.active(1_000)).toBe(false);
	backoff.failed(kind, 1_000);
	expect(backoff.active(30_999)).toBe(true);
	expect(backoff.active(31_000)).toBe(false);
});

test.each(["wrong_cli", "forbidden", "preempted", "bad_asset", "device", "unknown"] as const)(
	"what answers is tried again at once (%s)",
	(kind) => {
		const backoff = new Backoff();
		backoff.failed(kind, 1_000);
		expect(backoff.active(1_000)).toBe(false);
	},
);

test("each failure in a row is waited for longer, five minutes at most, until one succeeds", () => {
	const backoff = new Backoff();
	for (const waitMs of [30_000, 60_000, 120_000, 300_000, 300_000]) {
		backoff.failed("unreachable", 0);
		expect([backoff.active(waitMs - 1), backoff.active(waitMs)]).toEqual([true, false]);
	}
	backoff.reset();
	expect(backoff.active(0)).toBe(false);
	backoff.failed("unreachable", 0);
	expect(backoff.active(30_000)).toBe(false);
});
