import { expect, test } from "vitest";
import type { BarServer } from "../../busybar/simulate/server.ts";
import { barStarter, draw, outcome } from "../support/bar-client.ts";
import { rowOf } from "../support/cli.ts";

const start = barStarter();

/** The answer for application `app`, and that what is drawn stays. */
async function drawColumn(server: BarServer, priority = "60"): Promise<unknown> {
	const before = server.bar.canvas.elements;
	const flags = ["--addr", `127.0.0.1:${server.port}`, "--application-name", "app", "--priority", priority];
	const row = await rowOf(["status", ...flags]);
	expect(server.bar.canvas.elements).toEqual(before);
	return row.draw;
}

test("without --priority, status sends nothing but three reads", async () => {
	const server = await start();
	const row = await rowOf(["status", "--addr", `127.0.0.1:${server.port}`]);
	expect(Object.keys(row)).toEqual(["address", "device", "name", "firmware", "api_version", "ms"]);
	expect(server.bar.journal.entries().map(({ method, path }) => `${method} ${path}`)).toEqual([
		"GET /api/version",
		"GET /api/status",
		"GET /api/name",
	]);
});

test("a draw would be shown if nothing is drawn, or only by the same application", async () => {
	const server = await start();
	expect(await drawColumn(server)).toBe("ok");
	await draw(server);
	expect(await drawColumn(server)).toBe("ok");
});

test("it is unknown whether a draw would be shown if another application has drawn", async () => {
	const server = await start();
	await draw(server, { application_name: "other" });
	expect(await drawColumn(server)).toBe("unknown");
});

test("it is unknown whether the bar's own applications have a higher priority than 9", async () => {
	const server = await start();
	expect([await drawColumn(server, "9"), await drawColumn(server, "10")]).toEqual(["unknown", "ok"]);
});

test("on API 25 it is unknown, and the drawing stays", async () => {
	const server = await start({ api: "25" });
	await draw(server);
	expect(await drawColumn(server)).toBe("unknown");
});

test.each([
	["running", false],
	["paused", true],
])("a %s BUSY timer refuses every draw", async (_, isPaused) => {
	const server = await start();
	const snapshot = { type: "INFINITE", card_id: "00000000-0000-0000-0000-000000000000", is_paused: isPaused };
	const body = JSON.stringify({ snapshot, snapshot_timestamp_ms: 1 });
	await outcome(server, "PUT /api/busy/snapshot", { body });
	expect(await drawColumn(server, "100")).toBe("busy_timer");
});
