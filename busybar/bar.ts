/**
 * Talks HTTP to the bar: one request at a time and without keep-alive. It does not use `fetch`, because undici 8 inside
 * it rejects the bar's padded Content-Length. Uses the network.
 */

import { CommandError } from "./command-error.ts";
import { parseObject } from "./json.ts";
import type { Address } from "./options.ts";
import { clean } from "./options.ts";

/** The bar's replies are a few bytes long; even the listing of a full folder stays far below this. */
const maxReplyBytes = 256 * 1024;

export interface Reply {
	readonly status: number;
	readonly text: string;
	/** `text` as a JSON object; undefined if it is not one. */
	readonly json: Readonly<Record<string, unknown>> | undefined;
}

export interface BarOptions {
	readonly address: Address;
	readonly token: string | undefined;
	/** The limit for all requests of a `BusyBar` together, counted from its creation. */
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

	get timeLeftMs(): number {
		return this.#deadline - performance.now();
	}

	/**
	 * Resolves with the reply, whatever its HTTP status. The access key goes into `X-API-Token` and nowhere else.
	 * @param objection called once the bar is connected, right before anything is sent: a reason not to send it
	 * @throws CommandError if the bar cannot be reached or does not answer in time, or the objection
	 */
	request(
		method: "GET" | "POST" | "DELETE",
		path: string,
		query: Readonly<Record<string, string>> = {},
		body?: { readonly type: string; readonly bytes: Uint8Array },
		objection: () => CommandError | undefined = () => undefined,
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
			const timer = setTimeout(() => fail(noAnswer(text, this.#timeoutMs)), Math.max(1, this.timeLeftMs));
			request.on("error", (error) => fail(this.#unreachable(error)));
			request.on("response", (response) => {
				const chunks: Buffer[] = [];
				let size = 0;
				response.on("data", (chunk: Buffer) => {
					size += chunk.length;
					chunks.push(chunk);
					if (size > maxReplyBytes) fail(this.notABar());
				});
				response.on("error", (error) => fail(this.#unreachable(error)));
				response.on("end", () => {
					clearTimeout(timer);
					const reply = Buffer.concat(chunks).toString();
					resolve({ status: response.statusCode ?? 0, text: reply, json: parseObject(reply) });
				});
			});
			// Looking up a name and connecting can take seconds.
			request.on("socket", (socket) =>
				socket.once("connect", () => {
					const error = objection();
					if (error) fail(error);
					else request.end(body?.bytes);
				}),
			);
		});
	}

	/** The error if something else answers at this address. */
	notABar(): CommandError {
		return new CommandError(`${this.#address.text} answers, but is not a BUSY Bar; check the address.`);
	}

	#unreachable(error: Error): CommandError {
		const code = "code" in error ? String(error.code) : error.message;
		if (code.startsWith("HPE_")) return this.notABar();
		return new CommandError(`cannot reach ${this.#address.text}: ${causes[code] ?? clean(code, 80)}.`);
	}

	/**
	 * Returns the JSON of a successful reply.
	 * @param toDoOn400 the advice for HTTP 400, which means something different for each request
	 * @throws CommandError if the bar refused, or if the reply is not from a bar
	 */
	accept(reply: Reply, toDoOn400 = advice[400]): Readonly<Record<string, unknown>> {
		if (!isRefusal(reply)) {
			if (reply.status === 200 && reply.json) return reply.json;
			throw this.notABar();
		}
		const said = clean(`HTTP ${reply.status} ${reply.json?.error}`, 200).replace(/\.$/, "");
		const toDo = reply.status === 400 ? toDoOn400 : (advice[reply.status] ?? advice[0]);
		throw new CommandError(`${said}; ${toDo}.`);
	}

	/** As `accept`, for a request that changes something: the bar says that it is done. */
	confirm(reply: Reply, toDoOn400?: string): void {
		if (typeof this.accept(reply, toDoOn400).result !== "string") throw this.notABar();
	}
}

/** Whether the bar itself refused: it gives its reason as JSON, which other web servers and routers do not. */
export function isRefusal(reply: Reply): boolean {
	return typeof reply.json?.error === "string";
}

const powerCycle = ", and power-cycle the bar if that does not help";

const advice: Readonly<Record<number, string>> = {
	0: "the bar refused this request; run pi-busybar status to see its firmware version",
	400: "the bar did not accept this request; run pi-busybar status to see its firmware version",
	403: "turn on HTTP access over Wi-Fi in the bar's settings, or give the bar's access key with --token or BUSYBAR_TOKEN",
	404: "check the address",
	408: "the upload stalled; check the connection and try again",
	409: "the bar shows something of the same or a higher priority, or a BUSY timer is running, which no priority overrides",
	508: `the bar cannot write to a file that is in use; clear the display and try again${powerCycle}`,
};

function noAnswer(address: string, timeoutMs: number): CommandError {
	return new CommandError(
		`no answer from ${address} within ${timeoutMs} ms (timed out); check the cable or Wi-Fi${powerCycle}.`,
	);
}

/** The first words of each must stay as they are: other programs recognise the cause by them. */
const causes: Readonly<Record<string, string>> = {
	ECONNREFUSED: "connection refused; check the address and that the bar is on",
	EHOSTUNREACH: "no route to host; check the cable or Wi-Fi",
	ENETUNREACH: "no route to host; check the cable or Wi-Fi",
	EHOSTDOWN: "no route to host; check the cable or Wi-Fi",
	ENOTFOUND: "host not found; check the address",
	EAI_AGAIN: "host not found; check the address and the network",
	ETIMEDOUT: "timed out; check the cable or Wi-Fi",
	ECONNRESET: `connection reset; try again${powerCycle}`,
	ECONNABORTED: `connection reset; try again${powerCycle}`,
	EPIPE: `connection reset; try again${powerCycle}`,
};
