/**
 * Serves the simulated bar on a loopback port, and answers with the same bytes as a real bar. Checks faults, access,
 * version, path and method, in this order, and keeps the journal.
 */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { CommandError } from "../command-error.ts";
import { parseObject } from "../json.ts";
import { type Answer, DRAW_PATH, ENDPOINTS, refusal, UPLOAD_PATH } from "./api.ts";
import { Bar, type BarOptions } from "./bar.ts";
import { type Clock, systemClock } from "./clock.ts";
import { control } from "./controls.ts";
import { BadRequest } from "./draw-request.ts";
import { PAGE } from "./page.ts";
import { receiveUpload } from "./upload.ts";

const JSON_LIMIT_BYTES = 256 * 1024;
/** The journal does not keep longer bodies. */
const JOURNAL_BODY_LIMIT = 16 * 1024;
/** How long the connection stays open after an answer to an incomplete request, so that the client can read it. */
const LINGER_MS = 1000;
const OPEN_PATHS = ["/api/version", "/api/access", "/api/transport"];

export interface BarServer {
	readonly bar: Bar;
	readonly port: number;
	close(): Promise<void>;
}

/** Listens on 127.0.0.1 only. @throws CommandError if the port cannot be used */
export async function startBarServer(
	port: number,
	options: BarOptions,
	clock: Clock = systemClock,
): Promise<BarServer> {
	const bar = new Bar(options, clock);
	const server = createServer((request, response) => {
		void serve(bar, request, response).catch(() => response.destroy());
	});
	// The bar does not close idle connections.
	server.keepAliveTimeout = 0;
	await new Promise<void>((resolve, reject) => {
		server.once("error", (error: NodeJS.ErrnoException) => {
			const why = error.code === "EADDRINUSE" ? "another program is using it" : error.message;
			reject(new CommandError(`cannot listen on port ${port}: ${why}; choose another port, or 0 for any free one.`));
		});
		server.listen(port, "127.0.0.1", resolve);
	});
	return {
		bar,
		port: (server.address() as AddressInfo).port,
		async close() {
			bar.dispose();
			const closed = new Promise((resolve) => server.close(resolve));
			server.closeAllConnections();
			await closed;
		},
	};
}

async function serve(bar: Bar, request: IncomingMessage, response: ServerResponse): Promise<void> {
	const method = request.method ?? "GET";
	const url = new URL(`http://bar${request.url?.startsWith("/") ? request.url : "/"}`);
	// If the client disconnects in the middle of its request, the handlers see the stream end.
	request.on("error", () => undefined);
	if (url.pathname.startsWith("/_sim/")) {
		const body = (await readBody(request)) ?? "";
		send(request, response, control(bar, method, url, body));
		return;
	}
	if (url.pathname === "/" && method === "GET") {
		send(request, response, { status: 200, body: PAGE, contentType: "text/html; charset=utf-8" });
		return;
	}

	const arrivedAtMs = bar.clock.now();
	const token = header(request, "x-api-token");
	const seq = bar.journal.open(arrivedAtMs, method, url, token !== undefined);
	let bytes = 0;
	request.on("data", (chunk: Buffer) => {
		bytes += chunk.length;
		bar.journal.update(seq, { bytes });
	});
	if (bar.faults.reset) {
		request.socket.resetAndDestroy();
		return;
	}
	if (bar.faults.hang || bar.isWedged) return;
	const answer = await answerTo(bar, seq, request, method, url);
	const { slowMs = 0, loseReplies = false } = bar.faults;
	if (slowMs > 0) await new Promise<void>((resolve) => bar.clock.after(slowMs, resolve));
	bar.journal.update(seq, {
		status: answer.status,
		ms: bar.clock.now() - arrivedAtMs,
		...(request.socket.destroyed ? { unheard: true } : {}),
	});
	if (loseReplies) request.socket.resetAndDestroy();
	else send(request, response, answer);
}

async function answerTo(bar: Bar, seq: number, request: IncomingMessage, method: string, url: URL): Promise<Answer> {
	if (method === "OPTIONS") return { status: 200, body: "" };
	const isOpen = method === "GET" && OPEN_PATHS.includes(url.pathname);
	if (!isOpen && !bar.admits(header(request, "x-api-token")))
		return { ...refusal(bar, 403, "Forbidden"), closes: true };
	const semver = header(request, "x-api-sem-ver");
	if (semver !== undefined && semver.split(".")[0] !== bar.model.apiSemver.split(".")[0]) {
		return refusal(bar, 405, "Incompatible API version");
	}
	if (url.pathname === UPLOAD_PATH && method === "POST") {
		const length = Number(header(request, "content-length") ?? 0);
		return await receiveUpload(bar, { query: url.searchParams, length, content: request });
	}
	const endpoint = Object.hasOwn(ENDPOINTS, url.pathname) ? ENDPOINTS[url.pathname] : undefined;
	if (endpoint === undefined) {
		if (url.pathname.startsWith("/api/")) return refusal(bar, 400, "Bad Request");
		return { status: 404, body: "<h1>Not Found</h1>\n", contentType: "text/html" };
	}
	const handler = Object.hasOwn(endpoint, method) ? endpoint[method] : undefined;
	if (handler === undefined) {
		const allowed = [...Object.keys(endpoint), ...(url.pathname === UPLOAD_PATH ? ["POST"] : [])];
		return { ...refusal(bar, 405, "Method Not Allowed"), headers: { Allow: allowed.join(", ") } };
	}
	const body = await readBody(request);
	if (body === undefined) return { ...refusal(bar, 413, "Payload Too Large"), closes: true };
	if (url.pathname === DRAW_PATH && body !== "") bar.journal.update(seq, drawDetails(body));
	try {
		return await handler({ bar, query: url.searchParams, body });
	} catch (error) {
		if (error instanceof BadRequest) return refusal(bar, 400, error.message);
		throw error;
	}
}

function drawDetails(body: string): { body?: unknown; applicationName?: string } {
	const parsed = parseObject(body);
	const name = parsed?.application_name;
	return {
		...(body.length <= JOURNAL_BODY_LIMIT ? { body: parsed ?? body } : {}),
		...(typeof name === "string" ? { applicationName: name } : {}),
	};
}

/** Undefined if the body is too long. Never settles if the client disconnects before the body is complete. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
	const chunks: Buffer[] = [];
	let size = 0;
	return await new Promise((resolve) => {
		request.on("data", (chunk: Buffer) => {
			size += chunk.length;
			if (size > JSON_LIMIT_BYTES) resolve(undefined);
			else chunks.push(chunk);
		});
		request.on("end", () => resolve(Buffer.concat(chunks).toString()));
	});
}

/** Pads the length to eleven characters, as a real bar does, although some HTTP clients cannot read that. */
function send(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
	if (response.destroyed) return;
	response.sendDate = false;
	if (answer.closes) response.shouldKeepAlive = false;
	response.setHeader("Access-Control-Allow-Origin", "*");
	response.setHeader("Access-Control-Allow-Headers", "*");
	response.setHeader("Content-Type", answer.contentType ?? "application/json");
	response.setHeader("Content-Length", String(Buffer.byteLength(answer.body)).padEnd(11));
	for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
	// Otherwise Node sends this header in every answer.
	response.removeHeader("Connection");
	if (answer.closes) response.setHeader("Connection", "close");
	response.writeHead(answer.status);
	response.write(answer.body);
	if (request.complete) {
		response.end();
		return;
	}
	// Closing while the client is still sending would reset the connection, and the answer would be lost.
	const timer = setTimeout(() => response.end(), LINGER_MS);
	request.on("close", () => {
		clearTimeout(timer);
		response.end();
	});
	request.resume();
}

function header(request: IncomingMessage, name: string): string | undefined {
	const value = request.headers[name];
	return Array.isArray(value) ? value[0] : value;
}
