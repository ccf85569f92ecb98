// What counts as the user being at the terminal, and that listening changes nothing about the input.

import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { type TerminalEvent, TerminalInput } from "../../extensions/busybar-alert/terminal/input.ts";
import { TerminalPresence, type TerminalPresenceOptions } from "../../extensions/busybar-alert/terminal/presence.ts";
import { ManualClock } from "../support/manual-clock.ts";

const FOCUS_IN = "\x1b[I";
const FOCUS_OUT = "\x1b[O";
const REPORTS_ON = "\x1b[?1004h";
const REPORTS_OFF = "\x1b[?1004l";
const MINUTE_MS = 60_000;

const KEYS = {
	letter: "a",
	"letter beyond ASCII": "ж",
	enter: "\r",
	"Ctrl+C": "\x03",
	arrow: "\x1b[A",
	"arrow in application mode": "\x1bOA",
	"Ctrl+arrow": "\x1b[1;5C",
	F5: "\x1b[15~",
	"F1 in application mode": "\x1bOP",
	"Shift+Tab": "\x1b[Z",
	"Alt+letter": "\x1bb",
	"kitty's Ctrl+letter": "\x1b[97;5u",
	"kitty's key release": "\x1b[97;1:3u",
	modifyOtherKeys: "\x1b[27;5;13~",
	"Escape twice": "\x1b\x1bx",
	paste: "\x1b[200~two\nlines\x1b[201~",
	"paste of what looks like a report": `\x1b[200~${FOCUS_OUT}\x1b[201~`,
};

const REPLIES = {
	"primary device attributes": "\x1b[?62;4;22c",
	"secondary device attributes": "\x1b[>41;354;0c",
	"cursor's place": "\x1b[24;80R",
	status: "\x1b[0n",
	mode: "\x1b[?1004;1$y",
	"kitty's flags": "\x1b[?7u",
	"colour scheme": "\x1b[?997;1n",
	"cell size": "\x1b[6;20;10t",
	"resize in band": "\x1b[48;24;80;480;800t",
	"background colour ended by BEL": "\x1b]11;rgb:1111/2222/3333\x07",
	"background colour ended by ST": "\x1b]11;rgb:1111/2222/3333\x1b\\",
	"program status": "\x1b]7501;?\x1b\\",
	version: "\x1bP>|xterm(390)\x1b\\",
	"kitty's graphics": "\x1b_Gi=31;OK\x1b\\",
	mouse: "\x1b[<35;20;5M",
	"mouse button release": "\x1b[<0;20;5m",
	"old mouse": "\x1b[M !!",
	"urxvt's mouse": "\x1b[35;20;5M",
};

function read(...chunks: string[]): TerminalEvent[] {
	const input = new TerminalInput();
	const events = chunks.flatMap((chunk) => input.read(chunk));
	expect(input.isUnfinished).toBe(false);
	return events.filter((event, at) => event !== events[at - 1]);
}

const cuts = (text: string) => Array.from(text, (_, at): [string, string] => [text.slice(0, at), text.slice(at)]);

describe("in what the terminal sends", () => {
	test.each(Object.entries(KEYS))("%s is a key, however it is cut", (_name, text) => {
		for (const cut of cuts(text)) expect(read(...cut)).toEqual(["key"]);
		expect(read(...text)).toEqual(["key"]);
	});

	test.each(Object.entries(REPLIES))("a reply or report (%s) is nothing, however it is cut", (_name, text) => {
		for (const cut of cuts(text)) expect(read(...cut)).toEqual([]);
		expect(read(...text)).toEqual([]);
	});

	test("focus reports are told from keys and replies that are glued to them", () => {
		const glued = ["x", FOCUS_OUT, ...Object.values(REPLIES), FOCUS_IN, KEYS["Ctrl+arrow"], FOCUS_OUT].join("");
		for (const cut of cuts(glued)) {
			expect(read(...cut)).toEqual(["key", "focus-out", "focus-in", "key", "focus-out"]);
		}
	});

	test("a reply that breaks off does not hide what follows", () => {
		expect(read("\x1b]11;rgb:1111\x1b[A")).toEqual(["key"]);
		expect(read(`\x1b[?62;4${FOCUS_IN}`)).toEqual(["focus-in"]);
	});
});

class Terminal {
	readonly stdin = new PassThrough({ encoding: "utf8" });
	readonly exits = new EventEmitter();
	readonly clock = new ManualClock(5_000);
	/** What pi reads. */
	read = "";
	written = "";
	present = 0;
	piReports = false;
	readonly presence: TerminalPresence;
	readonly #pi = (chunk: string) => {
		this.read += chunk;
	};

	constructor(more: Partial<TerminalPresenceOptions> & { readonly piHasStarted?: boolean } = {}) {
		if (more.piHasStarted ?? true) this.piStarts();
		this.presence = new TerminalPresence({
			stdin: this.stdin,
			write: (text) => {
				this.written += text;
			},
			clock: this.clock,
			piReportsFocus: () => this.piReports,
			onPresence: () => {
				this.present += 1;
			},
			exits: this.exits,
			...more,
		});
	}

	piStarts(): void {
		this.stdin.on("data", this.#pi);
		this.stdin.resume();
	}

	piStops(): void {
		this.stdin.off("data", this.#pi);
		this.stdin.pause();
	}

	async send(text: string | Buffer): Promise<void> {
		this.stdin.write(text);
		await untilDelivered();
	}
}

const untilDelivered = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("the user is seen", () => {
	test("at a key and at a turn to the terminal, not at a turn away, nor at what the terminal says by itself", async () => {
		const terminal = new Terminal();
		for (const reply of Object.values(REPLIES)) await terminal.send(reply);
		await terminal.send(FOCUS_OUT);
		expect(terminal.present).toBe(0);
		await terminal.send(FOCUS_IN);
		await terminal.send("a whole paste");
		expect(terminal.present).toBe(2);
	});

	test.each(["\x1b", "\x1b[", "\x1bO", "\x1b]"])("at %j alone, once nothing follows it", async (keys) => {
		const terminal = new Terminal();
		await terminal.send(keys);
		expect(terminal.present).toBe(0);
		terminal.clock.advance(100);
		expect(terminal.present).toBe(1);
		await terminal.send(FOCUS_OUT);
		expect(terminal.presence.known.focused).toBe(false);
	});

	test("in bytes as in text", async () => {
		const terminal = new Terminal();
		const bytes = new PassThrough();
		bytes.resume();
		const presence = new TerminalPresence({
			stdin: bytes,
			write: () => undefined,
			clock: terminal.clock,
			piReportsFocus: () => true,
			onPresence: () => undefined,
			exits: terminal.exits,
		});
		bytes.write(Buffer.from(`ж${FOCUS_IN}`));
		await untilDelivered();
		expect(presence.focused).toBe(true);
	});
});

describe("the terminal is focused", () => {
	test("only if it said so: a key alone leaves it unknown", async () => {
		const terminal = new Terminal();
		await terminal.send("typed");
		expect(terminal.presence.known.focused).toBeUndefined();
		expect(terminal.presence.focused).toBe(false);
		await terminal.send(FOCUS_IN);
		expect(terminal.presence.focused).toBe(true);
		await terminal.send(FOCUS_OUT);
		expect(terminal.presence.focused).toBe(false);
	});

	test("again at a key after it lost the focus", async () => {
		const terminal = new Terminal();
		await terminal.send(`${FOCUS_OUT}x`);
		expect(terminal.presence.focused).toBe(true);
	});

	test("for ten minutes after the last key or report", async () => {
		const terminal = new Terminal();
		await terminal.send(FOCUS_IN);
		terminal.clock.advance(10 * MINUTE_MS);
		expect(terminal.presence.focused).toBe(true);
		await terminal.send("x");
		terminal.clock.advance(10 * MINUTE_MS);
		expect(terminal.presence.focused).toBe(true);
		terminal.clock.advance(1);
		expect(terminal.presence.focused).toBe(false);
		await terminal.send("x");
		expect(terminal.presence.focused).toBe(true);
	});

	test("as it was in the session before", async () => {
		const before = new Terminal();
		await before.send(FOCUS_IN);
		before.presence.stop();
		expect(new Terminal({ known: before.presence.known }).presence.focused).toBe(true);
	});
});

describe("listening", () => {
	test("takes nothing from pi, whether pi starts before or after", async () => {
		for (const piHasStarted of [true, false]) {
			const terminal = new Terminal({ piHasStarted });
			await terminal.send("early ");
			if (!piHasStarted) {
				expect(terminal.stdin.readableFlowing).toBeNull();
				terminal.piStarts();
			}
			await terminal.send(`keys${FOCUS_IN}`);
			expect(terminal.read).toBe(`early keys${FOCUS_IN}`);
			expect(terminal.presence.focused).toBe(true);
		}
	});

	test("leaves a stream that pi has paused paused, and what arrives then to whoever reads next", async () => {
		const terminal = new Terminal();
		await terminal.send(FOCUS_IN);
		terminal.piStops();
		await terminal.send("for pi");
		expect([terminal.stdin.isPaused(), terminal.present, terminal.presence.known.focused]).toEqual([
			true,
			1,
			undefined,
		]);
		terminal.piStarts();
		await untilDelivered();
		expect(terminal.read).toBe(`${FOCUS_IN}for pi`);
	});

	test("ends without a trace", async () => {
		const terminal = new Terminal({ piHasStarted: false });
		const names = ["data", "pause", "resume"];
		const before = names.map((name) => terminal.stdin.listenerCount(name));
		terminal.presence.stop();
		const other = new Terminal();
		await other.send("\x1b");
		other.presence.stop();
		other.presence.stop();
		expect(names.map((name) => terminal.stdin.listenerCount(name))).toEqual(before.map(() => 0));
		expect(names.map((name) => other.stdin.listenerCount(name))).toEqual([1, 0, 0]);
		expect(other.exits.listenerCount("exit")).toBe(0);
		expect(other.clock.pendingTimers).toBe(0);
		await other.send("x");
		expect([other.present, other.read]).toEqual([0, "\x1bx"]);
	});

	test("survives an error in what it calls", async () => {
		const fail = () => {
			throw new Error("stale");
		};
		const terminal = new Terminal({ onPresence: fail, write: fail, piReportsFocus: fail });
		terminal.presence.wantReports(true);
		await terminal.send("x");
		terminal.exits.emit("exit");
		terminal.presence.stop();
		expect(terminal.read).toBe("x");
	});
});

describe("focus reports", () => {
	test("are switched on only if asked for, once, and off again when no longer wanted", () => {
		const terminal = new Terminal();
		expect(terminal.written).toBe("");
		terminal.presence.wantReports(true);
		terminal.presence.wantReports(true);
		expect(terminal.written).toBe(REPORTS_ON);
		terminal.presence.wantReports(false);
		terminal.presence.stop();
		expect(terminal.written).toBe(REPORTS_ON + REPORTS_OFF);
	});

	test("are pi's own affair where pi switches them", () => {
		const terminal = new Terminal();
		terminal.piReports = true;
		terminal.presence.wantReports(true);
		terminal.piStops();
		terminal.exits.emit("exit");
		terminal.presence.stop();
		expect(terminal.written).toBe("");
	});

	test("are off while pi leaves the terminal to another program, also if wanted only then", async () => {
		const terminal = new Terminal();
		terminal.presence.wantReports(true);
		terminal.piStops();
		expect(terminal.written).toBe(REPORTS_ON + REPORTS_OFF);
		terminal.presence.wantReports(true);
		expect(terminal.written).toBe(REPORTS_ON + REPORTS_OFF);
		terminal.piStarts();
		terminal.piStops();
		await untilDelivered();
		expect(terminal.written).toBe(REPORTS_ON + REPORTS_OFF);
		terminal.piStarts();
		await untilDelivered();
		expect(terminal.written).toBe(REPORTS_ON + REPORTS_OFF + REPORTS_ON);
	});

	test("follow the user from pi's one screen to the other", async () => {
		const terminal = new Terminal();
		terminal.presence.wantReports(true);
		for (const piReports of [true, false]) {
			terminal.piStops();
			terminal.piReports = piReports;
			terminal.piStarts();
			await untilDelivered();
		}
		expect(terminal.written).toBe(REPORTS_ON + REPORTS_OFF + REPORTS_ON);
	});

	test("are off when the process exits", () => {
		const terminal = new Terminal();
		terminal.presence.wantReports(true);
		terminal.exits.emit("exit");
		expect(terminal.written).toBe(REPORTS_ON + REPORTS_OFF);
	});
});
