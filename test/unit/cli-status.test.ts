import { expect, test } from "vitest";
import { barStarter, outcome } from "../support/bar-client.ts";
import { rowOf } from "../support/cli.ts";

const start = barStarter();
const statusOf = (port: number) => rowOf(["status", "--addr", `127.0.0.1:${port}`]);

test("status only reads", async () => {
	const server = await start();
	const row = await statusOf(server.port);
	expect(row).toMatchObject({ device: "BUSY Bar", api_version: "27.5.0", busy_timer: "none" });
	expect(server.bar.journal.entries().map(({ method, path }) => `${method} ${path}`)).toEqual([
		"GET /api/version",
		"GET /api/status",
		"GET /api/name",
		"GET /api/busy/snapshot",
	]);
});

test.each([
	["running", false],
	["paused", true],
])("a BUSY timer that is %s refuses every draw, and status says so", async (state, isPaused) => {
	const server = await start();
	const snapshot = { type: "INFINITE", card_id: "00000000-0000-0000-0000-000000000000", is_paused: isPaused };
	const body = JSON.stringify({ snapshot, snapshot_timestamp_ms: 1 });
	await outcome(server, "PUT /api/busy/snapshot", { body });
	expect(await statusOf(server.port)).toMatchObject({ busy_timer: state });
});
