import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { type Machine, type ShowOptions, show } from "../../busybar/commands/show.ts";
import { isProcessAlive } from "../../busybar/process-alive.ts";
import type { BarServer } from "../../busybar/simulate/server.ts";
import { ANIM, barStarter } from "../support/bar-client.ts";
import { runCli, temporaryFolder } from "../support/cli.ts";

const start = barStarter();
const folder = temporaryFolder();
const input = folder.in("a.anim");
writeFileSync(input, ANIM);
afterAll(() => folder.remove());

const requests = ({ bar }: BarServer) => bar.journal.entries().map(({ method, path }) => `${method} ${path}`);
const LIST = "GET /api/storage/list";
const UPLOAD = "POST /api/assets/upload";
const DRAW = "POST /api/display/draw";

async function showOn({ port }: BarServer, options: Partial<ShowOptions>, machine: Machine) {
	const flags = { input, applicationName: "app", display: "front", priority: 50, loop: true } as const;
	const address = { host: "127.0.0.1", port, text: `127.0.0.1:${port}` };
	const [row] = await show(
		{ ...flags, section: "default", awaitPreviousEnd: false, upload: true, ...options },
		{ address, token: undefined, requestTimeoutMs: 10_000 },
		machine,
	);
	return row;
}

describe("show --while-pid", () => {
	test("draws if the process is alive", async () => {
		const server = await start();
		const addr = `127.0.0.1:${server.port}`;
		const flags = ["--addr", addr, "--input", input, "--while-pid", String(process.pid)];
		expect(await runCli(["show", ...flags])).toMatchObject({ code: 0 });
		expect(server.bar.canvas.applicationName).toBe("busybar");
	});

	test("draws nothing and fails if the process has ended", async () => {
		const server = await start();
		const { pid } = spawnSync(process.execPath, ["--version"]);
		const flags = ["--addr", `127.0.0.1:${server.port}`, "--input", input, "--while-pid", String(pid)];
		expect(await runCli(["show", ...flags])).toEqual({
			code: 1,
			stdout: "",
			stderr: `Error: process ${pid} has ended, so nothing was drawn.\n`,
		});
		expect(requests(server)).not.toContain(DRAW);
	});

	test("asks after the upload, right before the draw", async () => {
		const server = await start();
		const seen: string[][] = [];
		const isAlive = () => {
			seen.push(requests(server));
			return true;
		};
		await showOn(server, { whilePid: 4711 }, { isAlive });
		expect(seen).toEqual([[LIST, UPLOAD]]);
	});

	test.each([
		["a process of another user", "EPERM", true],
		["a process that has ended", "ESRCH", false],
	])("%s (%s) counts as alive: %s", (_, code, expected) => {
		const probe = () => {
			throw Object.assign(new Error("kill"), { code });
		};
		expect(isProcessAlive(4711, probe)).toBe(expected);
	});
});
