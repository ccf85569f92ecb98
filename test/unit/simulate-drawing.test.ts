import { PNG } from "pngjs";
import { describe, expect, test } from "vitest";
import type { BarServer } from "../../busybar/simulate/server.ts";
import {
	ANIM,
	ask,
	barStarter,
	dial,
	draw,
	drawBody,
	FRAMES,
	OK,
	outcome,
	refused,
	UPLOAD,
	until,
} from "../support/bar-client.ts";
import { readScreen } from "../support/led-picture.ts";
import { ManualClock } from "../support/manual-clock.ts";

const start = barStarter();

describe("draw and clear", () => {
	test("the display shows the current frame of the animation, and is dark after its timeout", async () => {
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

	test("an animation whose file is missing is accepted and reported as unreadable", async () => {
		const server = await start();
		expect(await draw(server)).toEqual(OK);
		const [, state] = await outcome(server, "GET /_sim/live");
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

	test("a draw with too low a priority is answered with 409, and the journal has the time it took", async () => {
		const clock = new ManualClock();
		const server = await start({}, clock);
		await draw(server);
		const second = draw(server, { application_name: "other" });
		await until("the refusal", () => server.bar.canvas.parked !== undefined);
		clock.advance(1500);
		expect(await second).toEqual(refused(409, "Not drawn due to low priority"));
		expect(server.bar.journal.entries().at(-1)).toMatchObject({ applicationName: "other", status: 409, ms: 1500 });
	});

	test("a draw that waits appears even if its client has disconnected", async () => {
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
		const entry = () =>
			server.bar.journal.entries().find(({ path, method }) => path === "/api/display/draw" && method === "POST");
		await until("its row in the journal", () => entry()?.status === 200);
		expect(entry()?.unheard).toBe(true);
	});

	const clear = "DELETE /api/display/draw";

	test("a clear by another application is refused on API 27.5, and does nothing on API 25", async () => {
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
	])("a clear with %s clears every application", async (_, line, more) => {
		const server = await start();
		await draw(server);
		expect(await outcome(server, line, more)).toEqual(OK);
		expect(server.bar.canvas.applicationName).toBeUndefined();
	});

	test("a clear can name elements, if they exist", async () => {
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

describe("buttons and the BUSY timer", () => {
	test.each([
		["back", false],
		["busy", false],
		["off", false],
		["ok", true],
		["start", true],
		["up", true],
	])("after the %s button, the drawing is still there: %s", async (key, stays) => {
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

	test("a BUSY timer clears the drawing, even if paused; one with an end stops by itself", async () => {
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

	test("a BUSY timer that replaces another one does not end when that one would have", async () => {
		const clock = new ManualClock();
		const server = await start({}, clock);
		await set(server, { type: "SIMPLE", ...CARD, is_paused: false, time_left_ms: 9000 });
		await set(server, { type: "INFINITE", ...CARD, is_paused: false });
		clock.advance(9000);
		expect(server.bar.canvas.loaderPriority).toBe(101);
	});

	test("an invalid snapshot is refused", async () => {
		expect(await set(await start(), { type: "FOREVER" })).toEqual(refused(400, "Bad Request"));
	});
});

describe("faults, set while the bar runs", () => {
	const faults = async (server: BarServer, body: object) =>
		await ask(server, "POST /_sim/faults", { body: JSON.stringify(body) });

	test("slow: the request takes effect at once, the answer is late", async () => {
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

	test("hang: no answer and no effect, until the fault ends", async () => {
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

	test("reset: the connection breaks, and nothing is drawn", async () => {
		const server = await start({ faults: { reset: true } });
		await expect(draw(server)).rejects.toThrow();
		expect(server.bar.canvas.applicationName).toBeUndefined();
	});

	test("lost replies: the connection breaks, but the drawing appears", async () => {
		const server = await start({ faults: { loseReplies: true } });
		await expect(draw(server)).rejects.toThrow();
		expect(server.bar.canvas.applicationName).toBe("app");
	});

	test("wedge: after so many uploads the bar stops answering", async () => {
		const server = await start({ faults: { wedgeAfterWrites: 2 } });
		expect((await ask(server, `POST ${UPLOAD}`, { body: "1" })).status).toBe(200);
		expect((await ask(server, "GET /api/name")).status).toBe(200);
		expect((await ask(server, `POST ${UPLOAD}`, { body: "2" })).status).toBe(200);
		const { socket, received } = await dial(server, "GET /api/name HTTP/1.1\r\nHost: bar\r\n\r\n");
		await until("the request", () => server.bar.journal.entries().length === 4);
		expect(received()).toBe("");
		socket.destroy();
	});

	test("an unknown fault is refused", async () => {
		expect((await faults(await start(), { slow: 1 })).status).toBe(400);
	});
});
