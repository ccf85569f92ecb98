import { expect, test } from "vitest";
import { DetachedAlerts } from "../extensions/busybar-alert/detached-alerts.ts";
import type { PartingClear } from "../extensions/busybar-alert/drawing.ts";
import type { LogRow } from "../extensions/busybar-alert/log.ts";
import { alertRequest } from "./support/alert-desk.ts";

const OWN = "/home/me/frames";

function detached(expiresAfter = true) {
	const rows: LogRow[] = [];
	const started: string[][] = [];
	const clears: PartingClear[] = [];
	const abilities = { expiresAfter, requestTimeout: true, tokenFromEnvironment: true };
	const alerts = new DetachedAlerts({
		whichCli: {
			choose: async (command) =>
				command === "/gone"
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
		spawnDetached: (file, args) => void started.push([file, ...args]),
		spawnPartingClear: (parting) => void clears.push(parting),
		env: {},
	});
	return { alerts, rows, started, clears };
}

test("one process draws, with an expiry, and the row says that nobody waited for it", async () => {
	const { alerts, rows, started, clears } = detached();
	await alerts.show(alertRequest({ holdSeconds: 3 }));
	expect(started).toHaveLength(1);
	expect(started[0]?.slice(0, 2)).toEqual(["/opt/busybar", "show"]);
	expect(started[0]).toContain("--expires-after");
	expect(rows).toMatchObject([{ outcome: "fired", pattern: "spinner", detached: true }]);
	expect(clears).toEqual([]);
});

test("with a CLI that cannot let it expire, a clear is left to come after the hold", async () => {
	const { alerts, clears } = detached(false);
	await alerts.show(alertRequest({ holdSeconds: 3 }));
	expect(clears).toMatchObject([{ delayMs: 3_000 }]);
});

test("a picture of the user's own that broke is replaced by ours, with an error row", async () => {
	const { alerts, rows, started } = detached();
	await alerts.show(alertRequest({ pattern: OWN }));
	expect(started).toHaveLength(1);
	expect(rows).toMatchObject([
		{ outcome: "error", kind: "bad_asset" },
		{ outcome: "fired", pattern: "spinner" },
	]);
});

test("a CLI that is not there is an error row", async () => {
	const { alerts, rows, started } = detached();
	await alerts.show(alertRequest({ command: "/gone" }));
	expect(started).toEqual([]);
	expect(rows).toMatchObject([{ outcome: "error", kind: "not_found" }]);
});

test("getting ready says nothing, whatever it finds", async () => {
	const { alerts, rows, started } = detached();
	await alerts.prepare([alertRequest({ pattern: OWN }), alertRequest({ command: "/gone" })]);
	expect([rows, started]).toEqual([[], []]);
});
