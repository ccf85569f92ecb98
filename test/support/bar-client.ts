// Starts a simulated bar in this process and talks to it, with an HTTP client or over a plain socket.

import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach } from "vitest";
import { encodeBicycle0 } from "../../busybar/anim/bicycle0.ts";
import type { BarOptions } from "../../busybar/simulate/bar.ts";
import type { Clock } from "../../busybar/simulate/clock.ts";
import { type BarServer, startBarServer } from "../../busybar/simulate/server.ts";
import { waitUntil } from "./wait.ts";

const DEADLINE_MS = 20_000;
export const UPLOAD = "/api/assets/upload?application_name=app&file=a.anim";
export const FRAMES = [
	[255, 0, 0],
	[0, 0, 255],
].map((color) => Uint8Array.from({ length: 72 * 16 * 4 }, (_, i) => color[i % 4] ?? 255));
export const ANIM = encodeBicycle0({
	width: 72,
	height: 16,
	fps: 1,
	colorMode: "rgb888",
	frames: FRAMES,
	sections: [{ name: "default", start: 0, end: 1 }],
});

/** Returns a function that starts a bar, which is closed after the test. */
export function barStarter(): (options?: Partial<BarOptions>, clock?: Clock) => Promise<BarServer> {
	const servers: BarServer[] = [];
	afterEach(async () => {
		for (const server of servers.splice(0)) await server.close();
	});
	return async (options = {}, clock) => {
		const all = { api: "27.5", access: "usb", token: undefined, faults: {}, ...options } as const;
		const server = await startBarServer(0, all, clock);
		servers.push(server);
		return server;
	};
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

/** Rejects if the connection breaks before the answer. */
export async function ask({ port }: BarServer, line: string, { body, headers = {} }: Ask = {}): Promise<Reply> {
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

export async function outcome(server: BarServer, line: string, more: Ask = {}): Promise<[number, unknown]> {
	const { status, body } = await ask(server, line, more);
	return [status, JSON.parse(body)];
}

export function drawBody(more: object = {}, element: object = {}): string {
	const drawn = { id: "a", type: "animation", path: "a.anim", loop: true, ...element };
	return JSON.stringify({ application_name: "app", priority: 60, elements: [drawn], ...more });
}

export async function draw(server: BarServer, more: object = {}, element: object = {}): Promise<[number, unknown]> {
	return await outcome(server, "POST /api/display/draw", { body: drawBody(more, element) });
}

export const OK = [200, { result: "OK" }];
export const refused = (status: number, error: string) => [status, { error }];

export async function until(what: string, holds: () => boolean): Promise<void> {
	await waitUntil(what, DEADLINE_MS, holds);
}

/** A connection without an HTTP client: sends `text` and collects what comes back. */
export async function dial({ port }: BarServer, text: string): Promise<{ socket: Socket; received: () => string }> {
	const socket = connect(port, "127.0.0.1");
	let received = "";
	socket.on("data", (chunk: Buffer) => {
		received += chunk;
	});
	socket.on("error", () => undefined);
	socket.write(text);
	return { socket, received: () => received };
}
