import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { rowOf, runCli, temporaryFolder } from "../support/cli.ts";
import { type SimulatedBar, startSimulatedBar } from "../support/simulated-bar.ts";

const folder = temporaryFolder();
const anim = folder.in("spin.anim");
const app = ["--application-name", "pi-turn-alert"];
let bar: SimulatedBar;

beforeAll(async () => {
	const create = ["create", "--output", folder.in("spin.zip"), "--compile-output", anim];
	[bar] = await Promise.all([startSimulatedBar(), rowOf(create)]);
});
afterAll(async () => {
	await bar.close();
	folder.remove();
});

const show = (...flags: string[]) => ["show", "--addr", bar.addr, "--input", anim, ...app, ...flags];
const clear = (...flags: string[]) => ["clear", "--addr", bar.addr, ...app, ...flags];

/** The requests that `action` sent to the bar: `METHOD path`, in order. */
async function heard(action: () => Promise<unknown>): Promise<string[]> {
	const before = (await bar.journal()).length;
	await action();
	return (await bar.journal()).slice(before).map((entry) => `${entry.method} ${entry.path}`);
}

async function failure(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
	const { code, stdout, stderr } = await runCli(args, env);
	expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
	expect(stderr).toMatch(/^Error: [^\n]+\.\n$/);
	return stderr;
}

describe("show and clear", () => {
	beforeEach(async () => {
		await bar.faults({});
		await runCli(clear());
	});

	test("the first show uploads the file, later ones only draw, and the bar plays it", async () => {
		const other = folder.in("first.anim");
		const create = ["create", "--pattern", "pulse", "--output", folder.in("first.zip"), "--compile-output", other];
		await rowOf(create);
		const args = [...show("--loop", "--expires-after", "30"), "--input", other];
		let row: Record<string, unknown> = {};
		const first = await heard(async () => {
			row = await rowOf(args);
		});
		expect(first).toEqual(["GET /api/storage/list", "POST /api/assets/upload", "POST /api/display/draw"]);
		expect(row).toMatchObject({ status: "ok", uploaded: true, bytes: readFileSync(other).length });
		expect(row.file).toMatch(/^first-[0-9a-f]{8}\.anim$/);

		const second = await heard(async () => {
			row = await rowOf(args);
		});
		expect(second).toEqual(["GET /api/storage/list", "POST /api/display/draw"]);
		expect(row).toMatchObject({ status: "ok", uploaded: false });

		expect(await heard(() => rowOf([...args, "--no-upload"]))).toEqual(["POST /api/display/draw"]);

		const { rgb } = await bar.screen("front");
		expect(rgb.some((value) => value > 100)).toBe(true);
		expect(await heard(() => rowOf(clear()))).toEqual(["DELETE /api/display/draw"]);
		expect((await bar.screen("front")).rgb.every((value) => value === 0)).toBe(true);
	});

	test("the draw request has what the flags say", async () => {
		await rowOf(show("--loop", "--priority", "77", "--expires-after", "9", "--await-previous-end"));
		const draw = (await bar.journal()).at(-1);
		expect(draw?.body).toMatchObject({
			application_name: "pi-turn-alert",
			priority: 77,
			elements: [{ type: "animation", display: "front", loop: true, timeout: 9, await_previous_end: true, x: 0, y: 0 }],
		});
		await rowOf(show("--priority", "77"));
		expect(JSON.stringify((await bar.journal()).at(-1)?.body)).not.toMatch(/timeout|"loop":true/);
	});

	test("a long or unusual file name becomes one that the bar accepts", async () => {
		const strange = folder.in("ein sehr langer Name, mit Umläuten & Zeichen.anim");
		writeFileSync(strange, readFileSync(anim));
		const row = await rowOf([...show(), "--input", strange]);
		expect(row.file).toMatch(/^[A-Za-z0-9._-]{1,31}$/);
	});

	test("if another application has drawn, show reports HTTP 409 and clear HTTP 400, in the bar's own words", async () => {
		const neighbour = ["--application-name", "neighbour"];
		await rowOf([...show(), ...neighbour]);
		expect(await failure(show())).toContain(
			"HTTP 409 Not drawn due to low priority; the bar shows something of the same or a higher",
		);
		expect(await failure(clear())).toMatch(/HTTP 400 .*; there is no drawing of pi-turn-alert to clear/);
		await rowOf(["clear", "--addr", bar.addr, ...neighbour]);
	});

	test("if our element is on the other display, show says what to do", async () => {
		await rowOf(show());
		await rowOf([
			"create",
			"--display",
			"back",
			"--output",
			folder.in("b.zip"),
			"--compile-output",
			folder.in("b.anim"),
		]);
		const args = [...show("--display", "back"), "--input", folder.in("b.anim")];
		expect(await failure(args)).toBe(
			"Error: HTTP 400 Unspecified request error; clear the drawing of this application first.\n",
		);
	});

	test("status shows what answers", async () => {
		expect(await rowOf(["status", "--addr", bar.addr])).toMatchObject({
			address: bar.addr,
			device: "BUSY Bar",
			api_version: "27.5.0",
		});
	});

	test("without --addr, BUSYBAR_ADDR is used", async () => {
		expect(await rowOf(["status"], { BUSYBAR_ADDR: bar.addr })).toMatchObject({ address: bar.addr });
	});
});

test("the access key is sent if there is one, and is in no message", async () => {
	const locked = await startSimulatedBar({ token: "81726354" });
	try {
		const args = ["show", "--input", anim, "--addr", locked.addr];
		expect(await rowOf(args, { BUSYBAR_TOKEN: "81726354" })).toMatchObject({ status: "ok" });
		expect(await rowOf([...args, "--token", "81726354"], { BUSYBAR_TOKEN: "1" })).toMatchObject({ status: "ok" });
		for (const env of [{}, { BUSYBAR_TOKEN: "99887766" }]) {
			const message = await failure(args, env);
			expect(message).toMatch(/^Error: HTTP 403 Forbidden; turn on HTTP access .*BUSYBAR_TOKEN\.$/m);
			expect(message).not.toContain("99887766");
		}
		expect(await failure(["status", "--addr", locked.addr])).toContain("HTTP 403 Forbidden");
		expect(await failure(args, { BUSYBAR_TOKEN: "99\n88" })).toBe(
			"Error: BUSYBAR_TOKEN contains a character that is not allowed in an HTTP header; set the access key again.\n",
		);
	} finally {
		await locked.close();
	}
});

describe("without a request to the bar, show refuses", () => {
	test.each<[string, () => string[], RegExp]>([
		["no --input", () => ["show"], /required option '--input <anim>' not specified; see pi-busybar show --help/],
		["a source zip", () => show("--input", folder.in("spin.zip")), /show requires a compiled \.anim/],
		["a missing file", () => show("--input", folder.in("none.anim")), /it does not exist/],
		[
			"a truncated file",
			() => {
				writeFileSync(folder.in("cut.anim"), readFileSync(anim).subarray(0, 5000));
				return show("--input", folder.in("cut.anim"));
			},
			/file size is 5000: its header says/,
		],
		["an unknown section", () => show("--section", "intro"), /has no section "intro"; it has "default"/],
		["priority 0", () => show("--priority", "0"), /--priority must be a whole number from 1 to 100, not "0"/],
		["priority 101", () => show("--priority", "101"), /--priority must be/],
		["a lifetime of 0", () => show("--expires-after", "0"), /--expires-after must be a whole number from 1/],
		[
			"an empty application name",
			() => show("--application-name", ""),
			/--application-name "" is not allowed; use 1 to 31/,
		],
		[
			"a long application name",
			() => show("--application-name", "a".repeat(32)),
			/--application-name "a+" is not allowed/,
		],
		["an application name with a space", () => show("--application-name", "my app"), /"my app" is not allowed/],
		[
			"dots as application name",
			() => show("--application-name", ".."),
			/"\.\." is not allowed; .*, and not only dots/,
		],
		["a URL", () => show("--addr", "http://10.0.4.20/"), /--addr must be a host or host:port/],
		["port 0", () => show("--addr", "10.0.4.20:0"), /--addr must be/],
		["IPv6 without brackets", () => show("--addr", "fe80::1"), /IPv6 in brackets/],
		["a flag as address", () => show("--addr", "--loop"), /--addr must be/],
		["a time limit of 0", () => show("--request-timeout", "0"), /--request-timeout must be/],
	])("%s", async (_, args, message) => {
		let stderr = "";
		const requests = await heard(async () => {
			stderr = await failure(args());
		});
		expect(stderr).toMatch(message);
		expect(requests).toEqual([]);
	});

	test("a file larger than the display", async () => {
		const big = folder.in("big.anim");
		await rowOf(["create", "--display", "back", "--output", folder.in("big.zip"), "--compile-output", big]);
		expect(await failure(show("--input", big))).toMatch(/is 160x80, but the front display is 72x16/);
	});

	test("a wrong BUSYBAR_ADDR is named", async () => {
		expect(await failure(["status"], { BUSYBAR_ADDR: "http://bar" })).toMatch(/^Error: BUSYBAR_ADDR must be a host/);
	});
});

describe("if no bar answers, the error says why", () => {
	const servers: Server[] = [];
	const sockets = new Set<Socket>();
	afterAll(() => {
		for (const socket of sockets) socket.destroy();
		for (const server of servers) server.close();
	});
	/** The address of a server that calls `react` when a request has arrived. */
	async function something(react: (socket: Socket) => void): Promise<string> {
		const server = createServer((socket) => {
			sockets.add(socket);
			socket.on("error", () => undefined);
			socket.once("data", () => react(socket));
		});
		servers.push(server);
		server.listen(0, "127.0.0.1");
		await once(server, "listening");
		const address = server.address();
		return `127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
	}
	const answer = (text: string) => something((socket) => socket.end(text));
	const reply = (status: string, body: string) =>
		answer(`HTTP/1.1 ${status}\r\nContent-Length: ${String(body.length).padEnd(11)}\r\n\r\n${body}`);
	const status = (addr: string, ...flags: string[]) => failure(["status", "--addr", addr, ...flags]);

	test("nothing listens", async () => {
		const addr = await something(() => undefined);
		const server = servers.pop();
		server?.close();
		expect(await status(addr)).toBe(
			`Error: cannot reach ${addr}: connection refused; check the address and that the bar is on.\n`,
		);
	});

	test("no answer: the command ends by itself", async () => {
		const addr = await something(() => undefined);
		expect(await status(addr, "--request-timeout", "200")).toContain(
			`no answer from ${addr} within 200 ms (timed out)`,
		);
	});

	test("an answer that arrives very slowly does not extend --request-timeout", async () => {
		const addr = await something((socket) => {
			const timer = setInterval(() => socket.write("X-Still: here\r\n"), 20);
			socket.write("HTTP/1.1 200 OK\r\n");
			socket.on("close", () => clearInterval(timer));
		});
		expect(await status(addr, "--request-timeout", "300")).toContain("timed out");
	});

	test("the connection is reset", async () => {
		const addr = await something((socket) => socket.resetAndDestroy());
		expect(await status(addr)).toContain(`cannot reach ${addr}: connection reset; try again`);
	});

	test("the connection is reset in the middle of an answer", async () => {
		const addr = await something((socket) => {
			socket.write("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{", () => socket.resetAndDestroy());
		});
		expect(await status(addr)).toContain(`cannot reach ${addr}: connection reset; try again`);
	});

	test("the host name is unknown", async () => {
		expect(await status("nobody.invalid")).toContain("cannot reach nobody.invalid: host not found; check the address");
	});

	test.each([
		["a web server", () => reply("200 OK", "<html>Welcome</html>")],
		["another JSON service", () => reply("200 OK", '{"hello":"world"}')],
		["a web server without that page", () => reply("404 Not Found", "<html>Nope</html>")],
		["a service that refuses", () => reply("400 Bad Request", "Bad Request")],
		["no HTTP at all", () => answer("SSH-2.0-OpenSSH_9.9\r\n")],
		["an endless answer", () => reply("200 OK", "x".repeat(600_000))],
	])("%s is not a BUSY Bar", async (_, start) => {
		const addr = await start();
		expect(await status(addr)).toBe(`Error: ${addr} answers, but is not a BUSY Bar; check the address.\n`);
		expect(await failure(["show", "--input", anim, "--addr", addr])).toContain("is not a BUSY Bar");
	});

	test.each([
		["200 OK", "{}"],
		["200 OK", '{"hello":"world"}'],
		["302 Found", "<h1>Log in</h1>"],
		["400 Bad Request", "<h1>Bad Request</h1>"],
		["403 Forbidden", "<h1>Forbidden</h1>"],
		["404 Not Found", '{"message":"no such route"}'],
		["502 Bad Gateway", "Bad Gateway"],
	])("what answers a clear with %s and %s is not a BUSY Bar", async (line, body) => {
		const addr = await reply(line, body);
		expect(await failure(["clear", "--addr", addr])).toContain("is not a BUSY Bar");
	});

	test("a bar that refuses with HTTP 200 has refused", async () => {
		const addr = await reply("200 OK", '{"error":"Nothing to display"}');
		expect(await failure(["clear", "--addr", addr])).toMatch(/^Error: HTTP 200 Nothing to display; /);
	});

	test("something that is not a bar gets neither the file nor the access key a second time", async () => {
		const requests: string[] = [];
		const server = createHttpServer((request, response) => {
			requests.push(`${request.method} ${request.url?.split("?")[0]}`);
			response.writeHead(404, { "Content-Type": "text/html" }).end("<h1>Not Found</h1>");
		});
		servers.push(server);
		await once(server.listen(0, "127.0.0.1"), "listening");
		const address = server.address();
		const addr = `127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
		await failure(["show", "--input", anim, "--addr", addr, "--token", "1234"]);
		expect(requests).toEqual(["GET /api/storage/list"]);
	});

	test("the bar's own words cannot move the cursor of the terminal or fill the screen", async () => {
		const addr = await reply("508 Loop", JSON.stringify({ error: `\u001b[2J${"no ".repeat(200)}` }));
		const message = await failure(["clear", "--addr", addr]);
		expect(message).toMatch(/^Error: HTTP 508 \[2Jno no .*; the bar cannot write to a file that is in use/);
		expect(message.length).toBeLessThan(500);
	});
});
