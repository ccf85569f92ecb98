// The way to a simulated bar, and what can go wrong on it: a TCP listener on loopback that lets each request through, or
// treats it as a broken bar, router or cable would.

import { connect, createServer, type Server, type Socket } from "node:net";

/** One request of one connection, which is all that our CLIs send over it. */
interface WireRequest {
	readonly socket: Socket;
	/** Resolves when the whole body has arrived. */
	readonly complete: Promise<void>;
	/** Lets it through to the bar; resolves to the bar's side of the connection. */
	pass(): Socket;
}

export type WireFault = (request: WireRequest) => void;

interface Rule {
	readonly fault: WireFault;
	readonly on: RegExp;
	timesLeft: number;
}

const HEAD_END = "\r\n\r\n";

export class Wire {
	readonly #barPort: number;
	readonly #sockets = new Set<Socket>();
	#server: Server | undefined;
	#port = 0;
	#rules: Rule[] = [];
	readonly #requests: string[] = [];

	constructor(barPort: number) {
		this.#barPort = barPort;
	}

	get addr(): string {
		return `127.0.0.1:${this.#port}`;
	}

	/** From now on, beside what was set before. @param on matches such as `POST /api/display/draw` */
	set(fault: WireFault, { on = /./, times = Number.POSITIVE_INFINITY }: { on?: RegExp; times?: number } = {}): void {
		this.#rules.push({ fault, on, timesLeft: times });
	}

	mend(): void {
		this.#rules = [];
	}

	/** How many requests have come so far. @param on as in `set` */
	count(on: RegExp): number {
		return this.#requests.filter((line) => on.test(line)).length;
	}

	/** The bar is there, again under the same address. */
	async open(): Promise<void> {
		const server = createServer((socket) => this.#take(socket));
		server.listen(this.#port, "127.0.0.1");
		await new Promise((resolve, reject) => server.once("listening", resolve).once("error", reject));
		const address = server.address();
		if (typeof address === "object" && address) this.#port = address.port;
		this.#server = server;
	}

	/** Connections break off, and new ones are refused. The bar itself goes on. */
	async close(): Promise<void> {
		const server = this.#server;
		this.#server = undefined;
		for (const socket of this.#sockets) socket.destroy();
		if (server) await new Promise((resolve) => server.close(resolve));
	}

	#take(socket: Socket): void {
		this.#own(socket);
		let received = Buffer.alloc(0);
		const { promise: complete, resolve } = Promise.withResolvers<void>();
		let awaitedBytes: number | undefined;
		let bar: Socket | undefined;
		const pass = () => {
			bar = connect(this.#barPort, "127.0.0.1");
			this.#own(bar);
			bar.write(received);
			bar.on("close", () => socket.end());
			return bar;
		};
		socket.on("data", (chunk: Buffer) => {
			bar?.write(chunk);
			received = Buffer.concat([received, chunk]);
			if (awaitedBytes === undefined) {
				const headBytes = received.indexOf(HEAD_END);
				if (headBytes < 0) return;
				const head = received.subarray(0, headBytes).toString("latin1");
				const bodyBytes = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
				awaitedBytes = headBytes + HEAD_END.length + bodyBytes;
				this.#faultFor(head)({ socket, complete, pass });
			}
			if (received.length >= awaitedBytes) resolve();
		});
		socket.on("close", () => bar?.destroy());
	}

	#faultFor(head: string): WireFault {
		const line = head.slice(0, head.search(/[?\r]| HTTP/));
		this.#requests.push(line);
		const rule = this.#rules.find(({ on, timesLeft }) => timesLeft > 0 && on.test(line));
		if (!rule) return passesOn;
		rule.timesLeft -= 1;
		return rule.fault;
	}

	#own(socket: Socket): void {
		this.#sockets.add(socket);
		socket.on("close", () => this.#sockets.delete(socket));
		// The other end may be killed at any time.
		socket.on("error", () => undefined);
	}
}

export const DRAW = /^POST \/api\/display\/draw$/;
export const CLEAR = /^DELETE \/api\/display\/draw$/;
export const UPLOAD = /^POST \/api\/assets\/upload$/;

const passesOn: WireFault = ({ socket, pass }) => void pass().pipe(socket);

/** The request has no effect, and this is the answer; an object is sent as JSON. */
export function answers(status: number, body: object | string, { afterMs = 0 } = {}): WireFault {
	const [text, type] =
		typeof body === "string" ? [body, "text/html"] : [`${JSON.stringify(body)}\n`, "application/json"];
	const head = `HTTP/1.1 ${status} Said\r\nContent-Type: ${type}\r\nContent-Length: ${text.length}\r\nConnection: close\r\n\r\n`;
	return ({ socket, complete }) => void complete.then(() => setTimeout(() => socket.end(head + text), afterMs));
}

/** It takes effect at once, and is answered late. */
export const answersLate =
	(ms: number): WireFault =>
	({ socket, pass }) => {
		const bar = pass();
		bar.pause();
		setTimeout(() => bar.pipe(socket), ms);
	};

/** It is taken, and nothing comes back, ever. */
export const neverAnswers: WireFault = () => undefined;

export const resets: WireFault = ({ socket }) => void socket.resetAndDestroy();

/** It takes effect, and the connection breaks instead of the answer. */
export const losesReply: WireFault = ({ socket, pass }) => void pass().once("data", () => socket.resetAndDestroy());

/** One byte of a header now and then, without end. */
export const drips: WireFault = ({ socket }) => {
	socket.write("HTTP/1.1 200 OK\r\nX-Slow: ");
	const timer = setInterval(() => socket.write("."), 300);
	socket.on("close", () => clearInterval(timer));
};

/** A body as fast as it is taken, without end. */
export const neverEnds: WireFault = ({ socket }) => {
	const block = Buffer.alloc(64 * 1024, " ");
	const write = () => {
		while (!socket.destroyed && socket.write(block));
	};
	socket.on("drain", write);
	socket.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n");
	write();
};

export const hangsUp: WireFault = ({ socket }) => void socket.end();

/** A reply that breaks off before its end. */
export const breaksOff: WireFault = ({ socket }) => {
	socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"resu', () =>
		socket.destroy(),
	);
};

/** What listens there speaks another protocol. */
export const speaksSsh: WireFault = ({ socket }) => void socket.end("SSH-2.0-OpenSSH_9.6\r\n");
