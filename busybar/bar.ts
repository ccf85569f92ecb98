/**
 * The HTTP side of the bar: one request at a time, no keep-alive, never `fetch` (its undici 8 rejects the padded
 * Content-Length of the bar). Touches the network.
 */

import { CommandError } from "./command-error.ts";
import { parseObject } from "./json.ts";
import type { Address } from "./options.ts";
import { clean } from "./options.ts";

/** The bar answers in a few bytes; a listing of a full folder stays far below this. */
const maxReplyBytes = 256 * 1024;

export interface Reply {
	readonly status: number;
	readonly text: string;
	/** `text` parsed, undefined if it is not a JSON object. */
	readonly json: Readonly<Record<string, unknown>> | undefined;
}

export interface BarOptions {
	readonly address: Address;
	readonly token: string | undefined;
	/** For all requests of this object together, counted from now. */
	readonly requestTimeoutMs: number;
}

export class BusyBar {
	readonly #address: Address;
	readonly #token: string | undefined;
	readonly #timeoutMs: number;
	readonly #deadline: number;

	constructor({ address, token, requestTimeoutMs }: BarOptions) {
		this.#address = address;
		this.#token = token;
		this.#timeoutMs = requestTimeoutMs;
		this.#deadline = performance.now() + requestTimeoutMs;
	}

	/**
	 * Any HTTP status is a reply. The token goes into `X-API-Token` and nowhere else.
	 * @throws CommandError if the bar cannot be reached or the time is over
	 */
	request(
		method: "GET" | "POST" | "DELETE",
		path: string,
		query: Readonly<Record<string, string>> = {},
		body?: { readonly type: string; readonly bytes: Uint8Array },
	): Promise<Reply> {
		// The ESM import of node:http also loads undici, which doubles the start of a process.
		const http = process.getBuiltinModule("node:http");
		const { host, port, text } = this.#address;
		return new Promise((resolve, reject) => {
			const search = new URLSearchParams(query).toString();
			const request = http.request({
				host,
				port,
				method,
				path: search ? `${path}?${search}` : path,
				agent: false,
				headers: {
					...(this.#token ? { "X-API-Token": this.#token } : {}),
					...(body ? { "Content-Type": body.type, "Content-Length": body.bytes.length } : {}),
				},
			});
			const fail = (error: CommandError) => {
				clearTimeout(timer);
				reject(error);
				request.destroy();
			};
			const timer = setTimeout(
				() => fail(noAnswer(text, this.#timeoutMs)),
				Math.max(1, this.#deadline - performance.now()),
			);
			request.on("error", (error) => fail(unreachable(text, error)));
			request.on("response", (response) => {
				const chunks: Buffer[] = [];
				let size = 0;
				response.on("data", (chunk: Buffer) => {
					size += chunk.length;
					chunks.push(chunk);
					if (size > maxReplyBytes) fail(notABar(text));
				});
				response.on("error", (error) => fail(unreachable(text, error)));
				response.on("end", () => {
					clearTimeout(timer);
					const reply = Buffer.concat(chunks).toString();
					resolve({ status: response.statusCode ?? 0, text: reply, json: parseObject(reply) });
				});
			});
			request.end(body?.bytes);
		});
	}

	/**
	 * The JSON of a reply that must be a success.
	 * @param toDoOn400 what to do about the bar's HTTP 400, which means something else for every request
	 * @throws CommandError if it is a refusal, or no bar's answer
	 */
	accept(reply: Reply, toDoOn400 = advice[400]): Readonly<Record<string, unknown>> {
		if (reply.status === 200 && reply.json) return reply.json;
		// Any web server has these, for a path that it does not know.
		if ([200, 400, 404].includes(reply.status) && !isRefusal(reply)) throw notABar(this.#address.text);
		const words = isRefusal(reply) ? reply.json?.error : reply.text.includes("<") ? "" : reply.text;
		const said = clean(`HTTP ${reply.status} ${words}`, 200).replace(/\.$/, "");
		const toDo = reply.status === 400 ? toDoOn400 : (advice[reply.status] ?? advice[0]);
		throw new CommandError(`${said}; ${toDo}.`);
	}
}

/** Whether the bar itself says no: it gives its reason as JSON, and anything else that speaks HTTP does not. */
export function isRefusal(reply: Reply): boolean {
	return typeof reply.json?.error === "string";
}

const advice: Readonly<Record<number, string>> = {
	0: "the bar refused this; pi-busybar status tells its firmware version",
	400: "the bar did not accept this; pi-busybar status tells its firmware version",
	403: "allow HTTP access over Wi-Fi in the bar's settings, or give its current key with --token or BUSYBAR_TOKEN",
	404: "check that a BUSY Bar is at this address",
	408: "the upload stalled; check the connection and try again",
	409: "something of equal or higher priority is on the bar, or a BUSY timer runs, which nothing can override",
	508: "the bar cannot write a file while it plays; clear the display and try again, and power-cycle the bar if it stays so",
};

export function notABar(address: string): CommandError {
	return new CommandError(`${address} answers, but not as a BUSY Bar does; check the address.`);
}

function noAnswer(address: string, timeoutMs: number): CommandError {
	return new CommandError(
		`no answer from ${address} within ${timeoutMs} ms (timed out); check the cable or Wi-Fi, and power-cycle the bar if it stays so.`,
	);
}

/** The words per cause are stable: other programs tell the causes apart by them. */
const causes: Readonly<Record<string, string>> = {
	ECONNREFUSED: "connection refused; check the address, and that the bar is on",
	EHOSTUNREACH: "no route to host; check the cable or Wi-Fi",
	ENETUNREACH: "no route to host; check the cable or Wi-Fi",
	EHOSTDOWN: "no route to host; check the cable or Wi-Fi",
	ENOTFOUND: "host not found; check the address",
	EAI_AGAIN: "host not found; check the address and the network",
	ETIMEDOUT: "timed out; check the cable or Wi-Fi",
	ECONNRESET: "connection reset; try again, and power-cycle the bar if it stays so",
	ECONNABORTED: "connection reset; try again, and power-cycle the bar if it stays so",
	EPIPE: "connection reset; try again, and power-cycle the bar if it stays so",
};

function unreachable(address: string, error: Error): CommandError {
	const code = "code" in error ? String(error.code) : error.message;
	if (code.startsWith("HPE_")) return notABar(address);
	return new CommandError(`cannot reach ${address}: ${causes[code] ?? clean(code, 80)}.`);
}
