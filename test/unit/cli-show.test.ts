import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { assetName } from "../../busybar/asset.ts";
import { type Machine, show } from "../../busybar/commands/show.ts";
import { isProcessAlive } from "../../busybar/process-alive.ts";
import type { BarServer } from "../../busybar/simulate/server.ts";
import { ANIM, barStarter, dial, until } from "../support/bar-client.ts";
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

async function showOn(
	{ port }: BarServer,
	{ whilePid, requestTimeoutMs = 10_000 }: { whilePid?: number; requestTimeoutMs?: number },
	machine: Partial<Machine>,
) {
	const flags = { input, applicationName: "app", display: "front", priority: 50, loop: true } as const;
	const address = { host: "127.0.0.1", port, text: `127.0.0.1:${port}` };
	const [row] = await show(
		{
			...flags,
			section: "default",
			awaitPreviousEnd: false,
			upload: true,
			...(whilePid === undefined ? {} : { whilePid }),
		},
		{ address, token: undefined, requestTimeoutMs },
		{
			isAlive: () => true,
			sleep: async () => {
				throw new Error("not expected to wait");
			},
			...machine,
		},
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

describe("if another process is uploading the same file, show waits for a second", () => {
	const name = assetName(input, ANIM);
	const half = ANIM.length >> 1;
	const size = ({ bar }: BarServer) => bar.storage.read(`/ext/user_assets/app/${name}`)?.length;

	async function otherUpload(server: BarServer): Promise<Socket> {
		const head = `${UPLOAD}?application_name=app&file=${name} HTTP/1.1\r\nHost: bar\r\nContent-Length: ${ANIM.length}`;
		const { socket } = await dial(server, `${head}\r\n\r\n`);
		socket.write(ANIM.subarray(0, half));
		await until("the first half", () => size(server) === half);
		onTestFinished(() => void socket.destroy());
		return socket;
	}

	test("and then draws, if the file is there", async () => {
		const server = await start();
		const socket = await otherUpload(server);
		const sleep = async (ms: number) => {
			expect(ms).toBe(1000);
			socket.write(ANIM.subarray(half));
			await until("the other upload", () => size(server) === ANIM.length);
		};
		expect(await showOn(server, {}, { sleep })).toMatchObject({ status: "ok", uploaded: false });
		expect(requests(server).slice(1)).toEqual([LIST, UPLOAD, LIST, DRAW]);
	});

	test("and then uploads it, if the other process has given up", async () => {
		const server = await start();
		const socket = await otherUpload(server);
		const sleep = async () => {
			socket.destroy();
			await until("the end of the other upload", () => server.bar.uploading.size === 0);
		};
		expect(await showOn(server, {}, { sleep })).toMatchObject({ status: "ok", uploaded: true });
		expect(size(server)).toBe(ANIM.length);
	});

	test("but only once", async () => {
		const server = await start();
		await otherUpload(server);
		await expect(showOn(server, {}, { sleep: async () => undefined })).rejects.toThrow(
			/^HTTP 508 Failed to open file for writing; the bar cannot write to a file that is in use; .*\.$/,
		);
		expect(requests(server).slice(1)).toEqual([LIST, UPLOAD, LIST, UPLOAD]);
	});

	test("but not if --request-timeout is over by then", async () => {
		const server = await start();
		await otherUpload(server);
		await expect(showOn(server, { requestTimeoutMs: 900 }, {})).rejects.toThrow(/^HTTP 508 /);
	});
});

test("after an upload that --request-timeout has aborted, the next show uploads the whole file", async () => {
	const server = await start();
	const size = () => server.bar.storage.read(`/ext/user_assets/busybar/${assetName(input, ANIM)}`)?.length;
	const args = ["show", "--input", input, "--format", "jsonl", "--addr"];
	const aborted = await runCli([...args, await lossyRelay(server), "--request-timeout", "300"]);
	expect(aborted.stderr).toContain("timed out");
	expect(size()).toBe(ANIM.length - 1);
	const { stdout } = await runCli([...args, `127.0.0.1:${server.port}`]);
	expect(JSON.parse(stdout)).toMatchObject({ status: "ok", uploaded: true });
	expect(size()).toBe(ANIM.length);
});

/** The address of a relay to the bar that keeps back the last byte of an upload. */
async function lossyRelay({ port }: BarServer): Promise<string> {
	const relay = createServer((client) => {
		const bar = connect(port, "127.0.0.1");
		let kept: Buffer = Buffer.alloc(0);
		client.on("data", (chunk) => {
			const isUpload = kept.length > 0 || chunk.toString("latin1").startsWith(UPLOAD);
			const bytes = Buffer.concat([kept, chunk]);
			kept = bytes.subarray(bytes.length - (isUpload ? 1 : 0));
			bar.write(bytes.subarray(0, bytes.length - kept.length));
		});
		bar.pipe(client);
		client.on("error", () => undefined).on("close", () => bar.destroy());
	}).listen(0, "127.0.0.1");
	onTestFinished(() => void relay.close());
	await once(relay, "listening");
	const address = relay.address();
	return `127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
}
