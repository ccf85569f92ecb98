// Proves the stand-in for the Go CLI: what it accepts, what it sends to a bar, how it fails.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import type { Invocation } from "../support/go-busybar/go-busybar.ts";
import { waitUntil } from "../support/wait.ts";

const GO_BUSYBAR = fileURLToPath(new URL("../support/go-busybar/busybar", import.meta.url));
const FOREIGN_BUSYBAR = fileURLToPath(new URL("../support/foreign-busybar/busybar", import.meta.url));

interface Result {
	readonly code: number | null;
	readonly signal: string | null;
	readonly stdout: string;
	readonly stderr: string;
}

function start(program: string, args: readonly string[], env: Record<string, string> = {}) {
	const PATH = `${dirname(process.execPath)}:/usr/bin:/bin`;
	const child = spawn(program, args, { env: { PATH, ...env }, stdio: ["ignore", "pipe", "pipe"] });
	onTestFinished(() => void child.kill("SIGKILL"));
	const result = new Promise<Result>((resolve) => {
		let stdout = "";
		let stderr = "";
		child.stdout.on("data", (data) => {
			stdout += data;
		});
		child.stderr.on("data", (data) => {
			stderr += data;
		});
		child.once("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
	});
	return { child, result };
}

function run(program: string, args: readonly string[], env?: Record<string, string>): Promise<Result> {
	return start(program, args, env).result;
}

function temporaryFolder(): string {
	const dir = mkdtempSync(join(tmpdir(), "go-busybar-"));
	onTestFinished(() => rmSync(dir, { recursive: true }));
	return dir;
}

function animation(): string {
	const file = join(temporaryFolder(), "alert_front_spinner.anim");
	writeFileSync(file, "bicycle0 and the rest");
	return file;
}

/** A bar that keeps what it is asked; it says OK, or whatever `answer` says, or nothing. */
async function bar(answer: RequestListener = (_, response) => response.end('{"result":"OK"}\n')) {
	const requests: { line: string; token: string | undefined; body: string }[] = [];
	const server = createServer(async (request, response) => {
		let body = "";
		for await (const part of request) body += part;
		requests.push({
			line: `${request.method} ${request.url}`,
			token: request.headers["x-api-token"]?.toString(),
			body,
		});
		answer(request, response);
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	onTestFinished(() => {
		server.closeAllConnections();
		server.close();
	});
	return { addr: `127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

test("show uploads each time under the file's own name, then draws one element that never expires", async () => {
	const { addr, requests } = await bar();
	const show = [
		"show",
		"--input",
		animation(),
		"--addr",
		addr,
		"--application-name",
		"pi-turn-alert",
		"--token",
		"1234",
	];

	const first = await run(GO_BUSYBAR, [...show, "--display", "front", "--priority", "60", "--loop"]);
	await run(GO_BUSYBAR, show);

	const upload = "POST /api/assets/upload?application_name=pi-turn-alert&file=alert_front_spinner.anim";
	const draw = "POST /api/display/draw";
	expect(requests.map(({ line }) => line)).toEqual([upload, draw, upload, draw]);
	expect(new Set(requests.map(({ token }) => token))).toEqual(new Set(["1234"]));
	expect(requests[0]?.body).toBe("bicycle0 and the rest");
	expect(JSON.parse(requests[1]?.body ?? "")).toEqual({
		application_name: "pi-turn-alert",
		priority: 60,
		elements: [
			{
				id: "animation",
				type: "animation",
				path: "alert_front_spinner.anim",
				display: "front",
				section: "default",
				loop: true,
				await_previous_end: false,
			},
		],
	});
	expect(first).toMatchObject({ code: 0, signal: null });
	expect(first.stdout).toContain("ok");
	expect(first.stderr).toMatch(/ INF Uploading animation .*\n.* INF Drawing animation /);
});

test("clear names its application in the query; the log can be silenced, the row chosen", async () => {
	const { addr, requests } = await bar();

	const cleared = await run(GO_BUSYBAR, [
		...["clear", "--addr", addr, "--application-name=pi-turn-alert"],
		...["--log-level", "error", "--format", "json", "--output-fields", "status,unknown"],
	]);

	expect(requests.map(({ line }) => line)).toEqual(["DELETE /api/display/draw?application_name=pi-turn-alert"]);
	expect(cleared).toMatchObject({ code: 0, stderr: "" });
	expect(JSON.parse(cleared.stdout)).toEqual([{ status: "ok" }]);
});

test("the environment is ignored: without --addr and --token nothing reaches the bar it names", async () => {
	const { addr, requests } = await bar();
	const { addr: other, requests: otherRequests } = await bar();

	await run(GO_BUSYBAR, ["clear", "--addr", other], { BUSYBAR_ADDR: addr, BUSYBAR_TOKEN: "1234" });

	expect(requests).toEqual([]);
	expect(otherRequests.map(({ token }) => token)).toEqual([undefined]);
});

test.each([
	[["show", "--expires-after", "8"], "Error: unknown flag: --expires-after\nUsage:\n  busybar show [flags]\n"],
	[["show", "--request-timeout", "8"], "Error: unknown flag: --request-timeout\n"],
	[["clear", "--display", "front"], "Error: unknown flag: --display\n"],
	[["create", "--addr", "x"], "Error: unknown flag: --addr\n"],
	[["create", "--pattern", "check"], 'Error: invalid argument "check" for "--pattern" flag: '],
	[["show", "--priority", "high"], 'Error: invalid argument "high" for "--priority" flag: '],
	[["status"], 'Error: unknown command "status" for "busybar"\n'],
	[["show", "--input", fileURLToPath(import.meta.url)], "Error: show requires a compiled .anim\n"],
])("%j is refused", async (args, stderr) => {
	const refused = await run(GO_BUSYBAR, args);

	expect(refused).toMatchObject({ code: 1, stdout: "" });
	expect(refused.stderr.startsWith(stderr), refused.stderr).toBe(true);
});

test("show --help proves the contract", async () => {
	const help = await run(GO_BUSYBAR, ["show", "--help"]);

	expect(help).toMatchObject({ code: 0, stderr: "" });
	expect(help.stdout).toMatch(/^Upload and display a compiled Busy Bar animation\n/);
	for (const flag of ["--application-name", "--priority", "--loop"]) expect(help.stdout).toContain(` ${flag} `);
	expect(help.stdout).not.toContain("--expires-after");
});

test("what the bar refuses is an error with its status and its words", async () => {
	const { addr } = await bar((_, response) => {
		response.writeHead(409).end('{"error":"Not drawn due to low priority"}\n');
	});

	const refused = await run(GO_BUSYBAR, ["clear", "--addr", addr]);

	expect(refused).toMatchObject({ code: 1, stdout: "" });
	expect(refused.stderr).toMatch(/^Error: .*HTTP 409.*Not drawn due to low priority/m);
});

test("it waits for a bar that never answers; SIGTERM then gives exit code 0 without a row", async () => {
	const { addr, requests } = await bar(() => undefined);
	const { child, result } = start(GO_BUSYBAR, ["clear", "--addr", addr]);

	await waitUntil("The request", 20_000, () => requests.length === 1);
	child.kill("SIGTERM");

	expect(await result).toMatchObject({ code: 0, signal: null, stdout: "" });
});

test("its journal has every invocation", async () => {
	const journal = join(temporaryFolder(), "journal.jsonl");

	await run(GO_BUSYBAR, ["show", "--help"], { GO_BUSYBAR_JOURNAL: journal });
	await run(GO_BUSYBAR, ["status"], { GO_BUSYBAR_JOURNAL: journal });

	const lines = readFileSync(journal, "utf8").trim().split("\n");
	expect(lines.map((line): readonly string[] => (JSON.parse(line) as Invocation).argv)).toEqual([
		["show", "--help"],
		["status"],
	]);
});

test("create writes both files, and inspect reports the attested fields and no more", async () => {
	const dir = temporaryFolder();
	const anim = join(dir, "a.anim");

	const created = await run(GO_BUSYBAR, [
		...["create", "--pattern", "spinner", "--display", "front", "--frames", "12", "--fps", "12"],
		...["--output", join(dir, "a.zip"), "--compile-output", anim, "--format", "jsonl"],
	]);
	const inspected = await run(GO_BUSYBAR, ["inspect", "--input", anim, "--format", "json"]);
	const missing = await run(GO_BUSYBAR, ["inspect", "--input", join(dir, "missing.anim")]);

	expect(created).toMatchObject({ code: 0, stderr: "" });
	expect(JSON.parse(inspected.stdout)).toEqual([
		{ width: 72, height: 16, fps: 12, color_mode: "rgb888", bytes: readFileSync(anim).length },
	]);
	expect(readFileSync(join(dir, "a.zip")).subarray(0, 2).toString()).toBe("PK");
	expect(missing.code).toBe(1);
	expect(missing.stderr).toMatch(/^Error: /);
});

test("the foreign program of the same name knows no show", async () => {
	const refused = await run(FOREIGN_BUSYBAR, ["show", "--help"]);

	expect(refused).toMatchObject({ code: 2, stdout: "" });
	expect(refused.stderr).toContain("invalid choice: 'show'");
});
