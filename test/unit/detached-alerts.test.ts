import { expect, test } from "vitest";
import { DetachedAlerts } from "../../extensions/busybar-alert/after-pi/detached-alerts.ts";
import type { LaterStep } from "../../extensions/busybar-alert/after-pi/detached-steps.ts";
import type { AlertRequest } from "../../extensions/busybar-alert/cycle/request.ts";
import type { LogRow } from "../../extensions/busybar-alert/log.ts";
import { alertRequest } from "../support/alert-desk.ts";
import { ManualClock } from "../support/manual-clock.ts";

const OWN = "/home/me/frames";

function detached(expiresAfter = true, hasNode = true) {
	const clock = new ManualClock();
	const rows: LogRow[] = [];
	const left: LaterStep[][] = [];
	const abilities = { expiresAfter, requestTimeout: true, tokenFromEnvironment: true };
	const alerts = new DetachedAlerts({
		whichCli: {
			choose: async (command) =>
				command === "/slow"
					? new Promise<never>(() => undefined)
					: command === "/gone"
						? { ok: false, failure: { kind: "not_found", message: "gone" }, foreign: [] }
						: { ok: true, cli: { source: "path", file: "/opt/busybar", leadingArgs: [], abilities }, foreign: [] },
		},
		assets: {
			ensure: async (pattern) =>
				pattern === OWN
					? { ok: false, failure: { kind: "bad_asset", message: "broken" } }
					: { ok: true, anim: `/cache/${pattern}.anim` },
		},
		log: { append: (row) => void rows.push(row) },
		runLater: (steps) => {
			left.push([...steps]);
			return hasNode;
		},
		env: {},
		clock,
	});
	/** What is left to another process, as `show` or `clear +3000`. */
	const steps = () =>
		left.flat().map(({ command, delayMs }) => `${command.args[0]}${delayMs === 0 ? "" : ` +${delayMs}`}`);
	const show = async (request: AlertRequest) => {
		alerts.prepare([request]);
		await alerts.show(request);
	};
	return { alerts, rows, left, steps, show, clock };
}

test("one process draws, with an expiry, and the row says that nobody waited for it", async () => {
	const { show, rows, left, steps } = detached();
	await show(alertRequest());
	expect(steps()).toEqual(["show"]);
	expect(left[0]?.[0]?.command.args).toContain("--expires-after");
	expect(rows).toMatchObject([{ outcome: "fired", pattern: "spinner", detached: true }]);
});

test("with a CLI that cannot let it expire, the same process clears after the hold", async () => {
	const { show, steps } = detached(false);
	await show(alertRequest({ holdSeconds: 3 }));
	expect(steps()).toEqual(["show", "clear +3000"]);
	const short = detached(false);
	await short.show(alertRequest({ holdSeconds: 0.5 }));
	// Not before a draw that the bar has parked.
	expect(short.steps()).toEqual(["show", "clear +2000"]);
	expect(short.left[0]?.map(({ always }) => always)).toEqual([false, true]);
});

test("a run that is over before anything is ready waits for it, and is shown", async () => {
	const { alerts, rows, steps } = detached();
	await alerts.show(alertRequest());
	expect(steps()).toEqual(["show"]);
	expect(rows).toMatchObject([{ outcome: "fired", pattern: "spinner", detached: true }]);
});

test("a picture of the user's own that broke is replaced by ours, with an error row", async () => {
	const { show, rows, steps } = detached();
	await show(alertRequest({ pattern: OWN }));
	expect(steps()).toEqual(["show"]);
	expect(rows).toMatchObject([
		{ outcome: "error", kind: "bad_asset" },
		{ outcome: "fired", pattern: "spinner" },
	]);
});

test("a CLI that is not there is an error row", async () => {
	const { show, rows, left } = detached();
	await show(alertRequest({ command: "/gone" }));
	expect(left).toEqual([]);
	expect(rows).toMatchObject([{ outcome: "error", kind: "not_found" }]);
});

test("a CLI that is not ready in time is an error row, and pi does not wait for it", async () => {
	const { alerts, rows, left, clock } = detached();
	const shown = alerts.show(alertRequest({ command: "/slow" }));
	await clock.advanceAsync(800);
	await shown;
	expect(left).toEqual([]);
	expect(rows).toMatchObject([{ outcome: "error", error: expect.stringContaining("was skipped") }]);
});

test("without any Node to draw after pi's end, the log does not say that it fired", async () => {
	const { show, rows } = detached(true, false);
	await show(alertRequest());
	expect(rows).toMatchObject([{ outcome: "error", kind: "no_node" }]);
});

test("one broken picture for two alerts gives each of them its own of ours", async () => {
	const { alerts, rows } = detached();
	const done = alertRequest({ alert: "done", pattern: OWN, fallbackPattern: "check" });
	alerts.prepare([done, { ...done, alert: "error", fallbackPattern: "cross" }]);
	await alerts.show(done);
	expect(rows.at(-1)).toMatchObject({ outcome: "fired", alert: "done", pattern: "check" });
});
