import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { PNG } from "pngjs";
import { afterEach, describe, expect, test } from "vitest";
import { encodeBicycle0 } from "../busybar/anim/bicycle0.ts";
import type { BarOptions } from "../busybar/simulate/bar.ts";
import type { Clock } from "../busybar/simulate/clock.ts";
import { type BarServer, startBarServer } from "../busybar/simulate/server.ts";
import { readScreen } from "./support/led-picture.ts";
import { ManualClock } from "./support/manual-clock.ts";

const DEADLINE_MS = 20_000;
const UPLOAD = "/api/assets/upload?application_name=app&file=a.anim";
const FRAMES = [
	[255, 0, 0],
	[0, 0, 255],
].map((color) => Uint8Array.from({ length: 72 * 16 * 4 }, (_, i) => color[i % 4] ?? 255));
const ANIM = encodeBicycle0({
	width: 72,
	height: 16,
	fps: 1,
	colorMode: "rgb888",
	frames: FRAMES,
	sections: [{ name: "default", start: 0, end: 1 }],
});

const servers: BarServer[] = [];
afterEach(async () => {
	for (const server of servers.splice(0)) await server.close();
});

async function start(options: Partial<BarOptions> = {}, clock?: Clock): Promise<BarServer> {
	const server = await startBarServer(
		0,
		{ api: "27.5", access: "usb", token: undefined, faults: {}, ...options },
		clock,
	);
	servers.push(server);
	return server;
}

interface Reply {
	readonly status: number;
	readonly body: string;
	readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

interface Ask {
	readonly body?: string | Uint8Array;
	readonly headers?: Readonly<Record<string, string>>;
}

/** Rejects if the bar does not answer properly. */
async function ask({ port }: BarServer, line: string, { body, headers = {} }: Ask = {}): Promise<Reply> {
	const [method = "", path = ""] = line.split(" ");
	return await new Promise((resolve, reject) => {
		const length = body === undefined ? {} : { "Content-Length": String(Buffer.byteLength(body)) };
		const options = { host: "127.0.0.1", port, method, path, agent: false, headers: { ...length, ...headers } };
		const call = request(options, (response) => {
			let text = "";
			response.on("data", (chunk: Buffer) => {
				text += chunk;
			});
			response.on("end", () => resolve({ status: response.statusCode ?? 0, body: text, headers: response.headers }));
			response.on("error", reject);
		});
		call.on("error", reject);
		call.end(body);
	});
}

async function outcome(server: BarServer, line: string, more: Ask = {}): Promise<[number, unknown]> {
	const { status, body } = await ask(server, line, more);
	return [status, JSON.parse(body)];
}

function drawBody(more: object = {}, element: object = {}): string {
	const drawn = { id: "a", type: "animation", path: "a.anim", loop: true, ...element };
	return JSON.stringify({ application_name: "app", priority: 60, elements: [drawn], ...more });
}

async function draw(server: BarServer, more: object = {}, element: object = {}): Promise<[number, unknown]> {
	return await outcome(server, "POST /api/display/draw", { body: drawBody(more, element) });
}

const OK = [200, { result: "OK" }];
const refused = (status: number, error: string) => [status, { error }];

async function until(what: string, holds: () => boolean): Promise<void> {
	const end = performance.now() + DEADLINE_MS;
	while (!holds()) {
		if (performance.now() > end) throw new Error(`${what} did not happen`);
		await new Promise((resolve) => setTimeout(resolve, 5));
	}
}

/** A connection without an HTTP client's good manners. */
async function dial({ port }: BarServer, text: string): Promise<{ socket: Socket; received: () => string }> {
	const socket = connect(port, "127.0.0.1");
	let received = "";
	socket.on("data", (chunk: Buffer) => {
		received += chunk;
	});
	socket.on("error", () => undefined);
	socket.write(text);
	return { socket, received: () => received };
}

describe("the bytes of an answer", () => {
	test("have a padded length, no date, and end in a newline; the connection stays open", async () => {
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

	test("say after an upload that the connection closes", async () => {
		const server = await start();
		const { socket, received } = await dial(
			server,
			`POST ${UPLOAD} HTTP/1.1\r\nHost: bar\r\nContent-Length: 3\r\n\r\nabc`,
		);
		await until("the end", () => socket.destroyed);
		expect(received()).toContain("\r\nContent-Length: 16         \r\nConnection: close\r\n\r\n");
	});

	test("carry the status as a code on API 25 alone, where every 400 says the same", async () => {
		const server = await start({ api: "25" });
		expect(await draw(server, { priority: 0 })).toEqual([400, { error: "Bad Request", code: 400 }]);
		expect(await draw(await start(), { priority: 0 })).toEqual(refused(400, "Priority must be >= 1"));
	});
});

describe("which requests the bar understands", () => {
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

	test("names the methods that would have been right", async () => {
		expect((await ask(await start(), "GET /api/display/draw")).headers.allow).toBe("POST, DELETE");
	});

	test("a path outside the API is a page that does not exist", async () => {
		const { status, headers } = await ask(await start(), "GET /nope");
		expect([status, headers["content-type"]]).toEqual([404, "text/html"]);
	});

	test("another major API version is refused, another minor one is not", async () => {
		const server = await start();
		const version = async (semver: string) =>
			await outcome(server, "GET /api/name", { headers: { "X-API-Sem-Ver": semver } });
		expect(await version("26.5.0")).toEqual(refused(405, "Incompatible API version"));
		expect((await version("27.0.0"))[0]).toBe(200);
	});

	test("more than 256 KiB of JSON is too much", async () => {
		const body = drawBody({ padding: "x".repeat(256 * 1024) });
		expect((await ask(await start(), "POST /api/display/draw", { body })).status).toBe(413);
	});

	test("status, name and their parts are there", async () => {
		const server = await start();
		const [, status] = await outcome(server, "GET /api/status");
		expect(status).toMatchObject({ firmware: { version: "1.2.4" }, system: { api_semver: "27.5.0" } });
		expect(await outcome(server, "GET /api/name")).toEqual([200, { name: "BUSY Bar" }]);
		expect((await outcome(server, "GET /api/status/power"))[0]).toBe(200);
	});
});

describe("access", () => {
	const FORBIDDEN = refused(403, "Forbidden");
	const name = async (server: BarServer, token?: string) =>
		await outcome(server, "GET /api/name", token === undefined ? {} : { headers: { "X-API-Token": token } });

	test.each<[BarOptions["access"], string | undefined, string | undefined, boolean]>([
		["usb", undefined, undefined, true],
		["usb", undefined, "9999", true],
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

	test("version, access, transport and OPTIONS are always open, the version's other methods are not", async () => {
		const server = await start({ access: "disabled" });
		for (const line of ["GET /api/version", "GET /api/access", "GET /api/transport", "OPTIONS /api/display/draw"]) {
			expect((await ask(server, line)).status).toBe(200);
		}
		expect(await outcome(server, "POST /api/version")).toEqual(FORBIDDEN);
	});

	test("the token is nowhere in the journal", async () => {
		const server = await start({ access: "key", token: "8675309" });
		await ask(server, "GET /api/name?x-api-token=8675309&key=8675309", { headers: { "X-API-Token": "8675309" } });
		const { body } = await ask(server, "GET /_sim/journal");
		expect(JSON.parse(body)).toMatchObject([{ path: "/api/name", token: true, status: 200 }]);
		expect(body).not.toContain("8675309");
	});
});

describe("uploads", () => {
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
		expect(server.bar.storage.files).toEqual([]);
	});

	test("are listed with their size, replace what was there, and go with a delete", async () => {
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
		const remove = "DELETE /api/assets/upload?application_name=app";
		expect(await outcome(server, remove)).toEqual(OK);
		expect(await outcome(server, remove)).toEqual(refused(503, "File delete failed"));
	});

	test("over a file that is playing fail and leave it as it is", async () => {
		const server = await start();
		await ask(server, `POST ${UPLOAD}`, { body: ANIM });
		expect(await draw(server)).toEqual(OK);
		expect(await outcome(server, `POST ${UPLOAD}`, { body: "new" })).toEqual(
			refused(508, "Failed to open file for writing"),
		);
		await ask(server, "DELETE /api/display/draw?application_name=app");
		expect(server.bar.storage.files).toEqual([{ path: "/ext/user_assets/app/a.anim", size: ANIM.length }]);
		expect(await outcome(server, `POST ${UPLOAD}`, { body: "new" })).toEqual(OK);
	});

	const head = `POST ${UPLOAD} HTTP/1.1\r\nHost: bar\r\nContent-Length: 100\r\n\r\n`;
	const size = (server: BarServer) => server.bar.storage.files[0]?.size;

	test("that break off leave the part that came", async () => {
		const server = await start();
		await ask(server, `POST ${UPLOAD}`, { body: "the whole file" });
		const { socket } = await dial(server, `${head}half`);
		await until("the first part", () => size(server) === 4);
		socket.destroy();
		expect((await ask(server, "GET /api/name")).status).toBe(200);
		expect(size(server)).toBe(4);
	});

	test("that stand still for three seconds are given up", async () => {
		const clock = new ManualClock();
		const server = await start({}, clock);
		const { socket, received } = await dial(server, `${head}half`);
		await until("the first part", () => size(server) === 4);
		clock.advance(2999);
		expect(received()).toBe("");
		socket.write("more");
		await until("the second part", () => size(server) === 8);
		clock.advance(2999);
		expect(received()).toBe("");
		clock.advance(1);
		await until("the answer", () => received().includes("Upload timeout"));
		expect(received()).toMatch(/^HTTP\/1\.1 408 /);
		socket.destroy();
	});
});

describe("draw and clear", () => {
	test("the screen shows the frame that the animation has reached, and is dark when its time is over", async () => {
		const clock = new ManualClock();
		const server = await start({}, clock);
		const addr = `127.0.0.1:${server.port}`;
		await ask(server, `POST ${UPLOAD}`, { body: ANIM });
		expect(await draw(server, {}, { timeout: 3 })).toEqual(OK);
		const rgbOf = (frame: Uint8Array | undefined) => frame?.filter((_, i) => i % 4 !== 3);
		expect((await readScreen(addr, "front")).rgb).toEqual(rgbOf(FRAMES[0]));
		clock.advance(1000);
		expect((await readScreen(addr, "front")).rgb).toEqual(rgbOf(FRAMES[1]));
		clock.advance(1000);
		expect((await readScreen(addr, "front")).rgb).toEqual(rgbOf(FRAMES[0]));
		clock.advance(1000);
		expect((await readScreen(addr, "front")).rgb.every((value) => value === 0)).toBe(true);
		expect((await readScreen(addr, "back")).rgb).toHaveLength(160 * 80 * 3);
	});

	test("an animation that is not there is drawn all the same, and said to be unloadable in the state", async () => {
		const server = await start();
		expect(await draw(server)).toEqual(OK);
		const [, state] = await outcome(server, "GET /_sim/state");
		expect(state).toMatchObject({
			canvas: { elements: [{ id: "a", loadError: true }] },
			lit: { front: true, back: false },
		});
	});

	test("an image that is missing or too large is refused", async () => {
		const server = await start();
		const image = { type: "image", path: "i.png" };
		expect(await draw(server, {}, image)).toEqual(refused(400, "failed to decode image"));
		const upload = "POST /api/assets/upload?application_name=app&file=i.png";
		await ask(server, upload, { body: PNG.sync.write(new PNG({ width: 73, height: 1 })) });
		expect(await draw(server, {}, image)).toEqual(refused(400, "exceeds display dimensions 72x16"));
		expect(await draw(server, {}, { ...image, display: "back" })).toEqual(OK);
	});

	test("a draw of too little priority is answered with 409, and journalled with the time it took", async () => {
		const clock = new ManualClock();
		const server = await start({}, clock);
		await draw(server);
		const second = draw(server, { application_name: "other" });
		await until("the refusal", () => server.bar.canvas.parked !== undefined);
		clock.advance(1500);
		expect(await second).toEqual(refused(409, "Not drawn due to low priority"));
		expect(server.bar.journal.entries().at(-1)).toMatchObject({ applicationName: "other", status: 409, ms: 1500 });
	});

	test("a parked draw appears although its client has gone", async () => {
		const server = await start({}, new ManualClock());
		server.bar.busy.start();
		const body = drawBody();
		const { socket } = await dial(
			server,
			`POST /api/display/draw HTTP/1.1\r\nHost: bar\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
		);
		await until("the refusal", () => server.bar.canvas.parked !== undefined);
		socket.destroy();
		await ask(server, "DELETE /api/display/draw?application_name=app");
		server.bar.busy.stop();
		expect(server.bar.canvas.applicationName).toBe("app");
	});

	const clear = "DELETE /api/display/draw";

	test("clearing for another application is refused on API 27.5, and does nothing on 25", async () => {
		const server = await start();
		const old = await start({ api: "25" });
		await draw(server);
		await draw(old);
		expect(await outcome(server, `${clear}?application_name=other`)).toEqual(
			refused(400, "this application_name is currently not displaying anything"),
		);
		expect(await outcome(old, `${clear}?application_name=other`)).toEqual(OK);
		expect([server.bar.canvas.applicationName, old.bar.canvas.applicationName]).toEqual(["app", "app"]);
	});

	test.each([
		["no name", clear, {}],
		["a name in the body only", clear, { body: JSON.stringify({ application_name: "other" }) }],
		["an empty name", `${clear}?application_name=`, {}],
		["a name of 64 characters", `${clear}?application_name=${"x".repeat(64)}`, {}],
	])("a clear with %s clears everyone's drawing", async (_, line, more) => {
		const server = await start();
		await draw(server);
		expect(await outcome(server, line, more)).toEqual(OK);
		expect(server.bar.canvas.applicationName).toBeUndefined();
	});

	test("a clear can be of single elements, if they exist", async () => {
		const server = await start();
		await draw(server);
		const line = `${clear}?application_name=app`;
		expect(await outcome(server, line, { body: '{"element_ids":["b"]}' })).toEqual(
			refused(400, "one of element_ids is non-existent"),
		);
		expect(await outcome(server, line, { body: '{"element_ids":["a"]}' })).toEqual(OK);
		expect(server.bar.canvas.applicationName).toBeUndefined();
	});
});

describe("keys and the BUSY timer", () => {
	test.each([
		["back", false],
		["busy", false],
		["off", false],
		["ok", true],
		["start", true],
		["up", true],
	])("after the %s key the drawing is there: %s", async (key, stays) => {
		const server = await start();
		await draw(server);
		expect(await outcome(server, `POST /api/input?key=${key}`)).toEqual(OK);
		expect(server.bar.canvas.applicationName === "app").toBe(stays);
	});

	const set = async (server: BarServer, snapshot: object) =>
		await outcome(server, "PUT /api/busy/snapshot", {
			body: JSON.stringify({ snapshot, snapshot_timestamp_ms: 1 }),
		});
	const CARD = { card_id: "00000000-0000-0000-0000-000000000000" };

	test("a BUSY timer, even paused, wipes the screen; one with an end lets go by itself", async () => {
		const clock = new ManualClock();
		const server = await start({}, clock);
		await draw(server, { priority: 100 });
		expect(await set(server, { type: "INFINITE", ...CARD, is_paused: true })).toEqual(OK);
		expect(server.bar.canvas.applicationName).toBeUndefined();
		expect(server.bar.canvas.loaderPriority).toBe(101);
		expect(await set(server, { type: "SIMPLE", ...CARD, is_paused: false, time_left_ms: 9000 })).toEqual(OK);
		clock.advance(8999);
		expect((await outcome(server, "GET /api/busy/snapshot"))[1]).toMatchObject({ snapshot: { type: "SIMPLE" } });
		clock.advance(1);
		expect((await outcome(server, "GET /api/busy/snapshot"))[1]).toMatchObject({ snapshot: { type: "NOT_STARTED" } });
		expect(server.bar.canvas.loaderPriority).toBe(10);
	});

	test("a snapshot that is none is refused", async () => {
		expect(await set(await start(), { type: "FOREVER" })).toEqual(refused(400, "Bad Request"));
	});
});

describe("faults, set while it runs", () => {
	const faults = async (server: BarServer, body: object) =>
		await ask(server, "POST /_sim/faults", { body: JSON.stringify(body) });

	test("slow: what is asked happens at once, the answer comes later", async () => {
		const clock = new ManualClock();
		const server = await start({ faults: { slowMs: 5000 } }, clock);
		const answer = draw(server);
		await until(
			"the drawing and the wait",
			() => server.bar.canvas.applicationName === "app" && clock.pendingTimers > 0,
		);
		expect(server.bar.journal.entries()[0]?.status).toBeUndefined();
		clock.advance(5000);
		expect(await answer).toEqual(OK);
	});

	test("hang: no answer and no effect, until it is over", async () => {
		const server = await start();
		await faults(server, { hang: true });
		const body = drawBody();
		const { socket, received } = await dial(
			server,
			`POST /api/display/draw HTTP/1.1\r\nHost: bar\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
		);
		await until("the request", () => server.bar.journal.entries()[0]?.bytes === body.length);
		expect([received(), server.bar.canvas.applicationName]).toEqual(["", undefined]);
		socket.destroy();
		await faults(server, {});
		expect(await draw(server)).toEqual(OK);
	});

	test("reset: the connection breaks, nothing happens", async () => {
		const server = await start({ faults: { reset: true } });
		await expect(draw(server)).rejects.toThrow();
		expect(server.bar.canvas.applicationName).toBeUndefined();
	});

	test("lost replies: the connection breaks, but the drawing is there", async () => {
		const server = await start({ faults: { loseReplies: true } });
		await expect(draw(server)).rejects.toThrow();
		expect(server.bar.canvas.applicationName).toBe("app");
	});

	test("wedge: after so many uploads nothing is answered any more", async () => {
		const server = await start({ faults: { wedgeAfterWrites: 2 } });
		expect((await ask(server, `POST ${UPLOAD}`, { body: "1" })).status).toBe(200);
		expect((await ask(server, "GET /api/name")).status).toBe(200);
		expect((await ask(server, `POST ${UPLOAD}`, { body: "2" })).status).toBe(200);
		const { socket, received } = await dial(server, "GET /api/name HTTP/1.1\r\nHost: bar\r\n\r\n");
		await until("the request", () => server.bar.journal.entries().length === 4);
		expect(received()).toBe("");
		socket.destroy();
	});

	test("one that does not exist is refused", async () => {
		expect((await faults(await start(), { slow: 1 })).status).toBe(400);
	});
});

test("the page needs nothing from elsewhere", async () => {
	const { status, body, headers } = await ask(await start(), "GET /");
	expect([status, headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
	expect(body).not.toMatch(/https?:\/\//);
	expect(body).not.toMatch(/(src|href)="(?!data:)/);
});
