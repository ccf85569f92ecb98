import { describe, expect, test } from "vitest";
import type { BarOptions } from "../../busybar/simulate/bar.ts";
import type { BarServer } from "../../busybar/simulate/server.ts";
import {
	ANIM,
	ask,
	barStarter,
	dial,
	draw,
	drawBody,
	OK,
	outcome,
	refused,
	UPLOAD,
	until,
} from "../support/bar-client.ts";
import { ManualClock } from "../support/manual-clock.ts";

const start = barStarter();

describe("the bytes of an answer", () => {
	test("have a padded length, no date, and a newline at the end; the connection stays open", async () => {
		const server = await start();
		const { socket, received } = await dial(server, "GET /api/version HTTP/1.1\r\nHost: bar\r\n\r\n");
		await until("the answer", () => received().endsWith("}\n"));
		expect(received()).toBe(
			[
				"HTTP/1.1 200 OK",
				"Access-Control-Allow-Origin: *",
				"Access-Control-Allow-Headers: *",
				"Content-Type: application/json",
				"Content-Length: 24         ",
				"",
				'{"api_semver":"27.5.0"}\n',
			].join("\r\n"),
		);
		socket.write("GET /api/transport HTTP/1.1\r\nHost: bar\r\n\r\n");
		await until("the second answer", () => received().endsWith('{"type":"usb"}\n'));
		socket.destroy();
	});

	test("are followed by the end of the connection if the client asks for it", async () => {
		const server = await start();
		const { socket } = await dial(server, "GET /api/name HTTP/1.1\r\nHost: bar\r\nConnection: close\r\n\r\n");
		await until("the end", () => socket.destroyed);
	});

	test("announce the end of the connection after an upload", async () => {
		const server = await start();
		const { socket, received } = await dial(
			server,
			`POST ${UPLOAD} HTTP/1.1\r\nHost: bar\r\nContent-Length: 3\r\n\r\nabc`,
		);
		await until("the end", () => socket.destroyed);
		expect(received()).toContain("\r\nContent-Length: 16         \r\nConnection: close\r\n\r\n");
	});

	test("repeat the status only on API 25, where every 400 has the same words", async () => {
		const server = await start({ api: "25" });
		expect(await draw(server, { priority: 0 })).toEqual([400, { error: "Bad Request", code: 400 }]);
		expect(await draw(await start(), { priority: 0 })).toEqual(refused(400, "Priority must be >= 1"));
	});
});

describe("which requests the bar accepts", () => {
	test.each([
		["GET /api/display/draw", 405, "Method Not Allowed"],
		["PUT /api/assets/upload", 405, "Method Not Allowed"],
		["GET /api/nope", 400, "Bad Request"],
		["GET /api/storage/list?path=/etc", 400, "Bad Request"],
		["GET /api/storage/list?path=/ext/user_assets/nobody", 400, "Bad Request"],
		[`GET /api/storage/list?path=/ext/${"a".repeat(60)}`, 400, "Bad Request"],
		["GET /api/screen?display=2", 400, "Bad Request"],
		["POST /api/input?key=any", 400, "Bad Request"],
	])("%s: %i %s", async (line, status, error) => {
		expect(await outcome(await start(), line)).toEqual(refused(status, error));
	});

	test("the answer to a wrong method names the right ones", async () => {
		expect((await ask(await start(), "GET /api/display/draw")).headers.allow).toBe("POST, DELETE");
	});

	test("the answer to a path outside the API is an HTML page", async () => {
		const { status, headers } = await ask(await start(), "GET /nope");
		expect([status, headers["content-type"]]).toEqual([404, "text/html"]);
	});

	test("another major API version is refused, another minor version is accepted", async () => {
		const server = await start();
		const version = async (semver: string) =>
			await outcome(server, "GET /api/name", { headers: { "X-API-Sem-Ver": semver } });
		expect(await version("26.5.0")).toEqual(refused(405, "Incompatible API version"));
		expect((await version("27.0.0"))[0]).toBe(200);
	});

	test("more than 256 KiB of JSON are refused", async () => {
		const body = drawBody({ padding: "x".repeat(256 * 1024) });
		expect((await ask(await start(), "POST /api/display/draw", { body })).status).toBe(413);
	});

	test("its status and name can be read", async () => {
		const server = await start();
		const [, status] = await outcome(server, "GET /api/status");
		expect(status).toMatchObject({ firmware: { version: "1.2.4" }, system: { api_semver: "27.5.0" } });
		expect(await outcome(server, "GET /api/name")).toEqual([200, { name: "BUSY Bar" }]);
	});
});

describe("access", () => {
	const FORBIDDEN = refused(403, "Forbidden");
	const name = async (server: BarServer, token?: string) =>
		await outcome(server, "GET /api/name", token === undefined ? {} : { headers: { "X-API-Token": token } });

	test.each<[BarOptions["access"], string | undefined, string | undefined, boolean]>([
		["usb", undefined, undefined, true],
		["usb", undefined, "9999", false],
		["usb", "1234", undefined, true],
		["usb", "1234", "1234", true],
		["usb", "1234", "9999", false],
		["key", "1234", "1234", true],
		["key", "1234", "9999", false],
		["key", "1234", undefined, false],
		["key", undefined, "1234", false],
		["enabled", "1234", "9999", true],
		["disabled", "1234", "1234", false],
	])("%s, key %s, sent %s: allowed %s", async (access, token, sent, allowed) => {
		const answer = await name(await start({ access, token }), sent);
		if (allowed) expect(answer[0]).toBe(200);
		else expect(answer).toEqual(FORBIDDEN);
	});

	test("a client that sends everything before it reads gets the refusal too", async () => {
		const server = await start({ access: "disabled" });
		const size = 8_000_000;
		const head = `POST ${UPLOAD} HTTP/1.1\r\nHost: bar\r\nContent-Length: ${size}\r\n\r\n`;
		const { socket, received } = await dial(server, head);
		await new Promise<void>((resolve, reject) => {
			socket.write(new Uint8Array(size), (error) => (error ? reject(error) : resolve()));
		});
		await until("the refusal", () => received().includes("Forbidden"));
		expect(server.bar.storage.list("/ext")).toBeUndefined();
	});

	test("reading version, access and transport needs no access key, nor does OPTIONS", async () => {
		const server = await start({ access: "disabled" });
		for (const line of ["GET /api/version", "GET /api/access", "GET /api/transport", "OPTIONS /api/display/draw"]) {
			expect((await ask(server, line)).status).toBe(200);
		}
		expect(await outcome(server, "POST /api/version")).toEqual(FORBIDDEN);
	});

	test("the access key is nowhere in the journal", async () => {
		const server = await start({ access: "key", token: "8675309" });
		await ask(server, "GET /api/name?x-api-token=8675309&key=8675309", { headers: { "X-API-Token": "8675309" } });
		const { body } = await ask(server, "GET /_sim/live");
		expect(JSON.parse(body)).toMatchObject({ journal: [{ path: "/api/name", token: true, status: 200 }] });
		expect(body).not.toContain("8675309");
	});
});

describe("uploads", () => {
	const size = (server: BarServer) => server.bar.storage.read("/ext/user_assets/app/a.anim")?.length;

	test.each([
		["application_name=app&file=../x", "a file name with .."],
		["application_name=app&file=/x", "one that begins with a slash"],
		["application_name=app&file=a//x", "a double slash"],
		["application_name=app", "none"],
		[`application_name=app&file=${"x".repeat(65)}`, "65 characters"],
		[`application_name=${"x".repeat(32)}&file=x`, "an application of 32 characters"],
		["application_name=a/b&file=x", "an application with a slash"],
	])("%s is refused (%s)", async (query) => {
		const server = await start();
		expect(await outcome(server, `POST /api/assets/upload?${query}`, { body: "x" })).toEqual(
			refused(400, "Bad Request"),
		);
		expect(server.bar.storage.list("/ext")).toBeUndefined();
	});

	test("are listed with their size, and replace an older file", async () => {
		const server = await start();
		expect(await outcome(server, `POST ${UPLOAD}`, { body: "longer" })).toEqual(OK);
		expect(await outcome(server, `POST ${UPLOAD}`, { body: "short" })).toEqual(OK);
		expect(await outcome(server, "GET /api/storage/list?path=/ext/user_assets/app")).toEqual([
			200,
			{ list: [{ type: "file", name: "a.anim", size: 5 }] },
		]);
		expect(await outcome(server, "GET /api/storage/list?path=/ext/user_assets")).toEqual([
			200,
			{ list: [{ type: "dir", name: "app" }] },
		]);
	});

	test("over a file that is playing fail and do not change it", async () => {
		const server = await start();
		await ask(server, `POST ${UPLOAD}`, { body: ANIM });
		expect(await draw(server)).toEqual(OK);
		expect(await outcome(server, `POST ${UPLOAD}`, { body: "new" })).toEqual(
			refused(508, "Failed to open file for writing"),
		);
		await ask(server, "DELETE /api/display/draw?application_name=app");
		expect(size(server)).toBe(ANIM.length);
		expect(await outcome(server, `POST ${UPLOAD}`, { body: "new" })).toEqual(OK);
	});

	const head = `POST ${UPLOAD} HTTP/1.1\r\nHost: bar\r\nContent-Length: 100\r\n\r\n`;

	test("that are aborted leave a partial file", async () => {
		const server = await start();
		await ask(server, `POST ${UPLOAD}`, { body: "the whole file" });
		const { socket } = await dial(server, `${head}half`);
		await until("the first part", () => size(server) === 4);
		socket.destroy();
		expect((await ask(server, "GET /api/name")).status).toBe(200);
		expect(size(server)).toBe(4);
	});

	test("that stall for three seconds are answered with 408", async () => {
		const clock = new ManualClock();
		const server = await start({}, clock);
		const { socket, received } = await dial(server, `${head}half`);
		await until("the first part", () => size(server) === 4);
		clock.advance(2999);
		socket.write("more");
		await until("the second part", () => size(server) === 8);
		clock.advance(2999);
		await ask(server, "GET /api/name");
		expect(received()).toBe("");
		clock.advance(1);
		await until("the answer", () => received().includes("Upload timeout"));
		expect(received()).toMatch(/^HTTP\/1\.1 408 /);
		socket.destroy();
	});
});

test("the page loads nothing from elsewhere", async () => {
	const { status, body, headers } = await ask(await start(), "GET /");
	expect([status, headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
	expect(body).not.toMatch(/https?:\/\//);
	expect(body).not.toMatch(/(src|href)="(?!data:)/);
});
