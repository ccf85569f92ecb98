// Focus reports under the real pi, started by a real shell: on while pi has the terminal, off for whoever has it next.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { spawn } from "@lydell/node-pty";
import xterm from "@xterm/headless";
import { expect, type OnTestFinishedHandler, test } from "vitest";
import { PiHome, type PiVersion } from "../support/pi.ts";
import { waitUntil } from "../support/wait.ts";

const EXTENSION = fileURLToPath(new URL("../support/presence-extension.ts", import.meta.url));
const KEYS = { ctrlC: "\x03", ctrlD: "\x04", ctrlG: "\x07", ctrlZ: "\x1a" };
const SHELL = "shell> ";

interface Screen {
	readonly version: PiVersion;
	readonly name: "full" | "regular" | "only";
	readonly args: readonly string[];
}

type AtEnd = (run: OnTestFinishedHandler) => void;

/** A terminal window with a shell in it, in which pi has been started. */
class Window {
	readonly #home: PiHome;
	readonly #seen: string;
	readonly #emulator = new xterm.Terminal({ cols: 100, rows: 30, allowProposedApi: true });
	readonly #pty;
	#output = "";

	static async open(screen: Screen, atEnd: AtEnd): Promise<Window> {
		const window = new Window(atEnd);
		await window.runPi(screen);
		return window;
	}

	constructor(atEnd: AtEnd) {
		this.#home = new PiHome(atEnd);
		this.#seen = join(this.#home.dir, "presence.txt");
		const editor = join(this.#home.dir, "editor.sh");
		writeFileSync(editor, 'echo "editor is open"; read -r line; printf %s "$line" > "$1"');
		const { env } = this.#home.command({ env: { EDITOR: `sh ${editor}`, PRESENCE: this.#seen, PS1: SHELL } });
		const options = { cols: 100, rows: 30, name: "xterm-256color", cwd: this.#home.projectDir, env };
		this.#pty = spawn("bash", ["--norc", "--noprofile", "-i"], options);
		this.#pty.onData((data) => {
			this.#output += data;
			this.#emulator.write(data);
		});
		this.#emulator.onData((answer) => this.#pty.write(answer));
		const exit = new Promise<{ code: number; signal: null }>((resolve) => {
			this.#pty.onExit(({ exitCode }) => resolve({ code: exitCode, signal: null }));
		});
		// A shell that loses its terminal hangs up on its jobs; a polite signal would not end it.
		atEnd(() => this.#pty.kill("SIGHUP"));
		this.#home.own({ pid: this.#pty.pid, exit });
	}

	async runPi({ version, args }: Screen): Promise<void> {
		const { file, args: all, env } = this.#home.command({ version, extensions: [EXTENSION], args });
		this.#emulator.reset();
		const script = `${env.PI_SCRIPTED_MODEL}`;
		this.type(`PI_SCRIPTED_MODEL=${script} ${[file, ...all].map((word) => `'${word}'`).join(" ")}\r`);
		// What is drawn after pi's questions to the terminal: once it is on the screen, they are answered.
		await this.until("pi's start", () => existsSync(`${script}.started`) && this.screen.includes("[Extensions]"));
	}

	type(keys: string): void {
		this.#pty.write(keys);
	}

	/** Turns to this window or away from it; the terminal says so only if it was asked to. */
	focus(gained: boolean): void {
		if (this.reports) this.#pty.write(gained ? "\x1b[I" : "\x1b[O");
	}

	/** Whether focus reports are on, by what was last written to the terminal about them. */
	get reports(): boolean {
		return this.#output.lastIndexOf("\x1b[?1004h") > this.#output.lastIndexOf("\x1b[?1004l");
	}

	/** What was written about focus reports so far. */
	get switches(): string {
		return [...this.#output.matchAll(/\?1004([hl])/g)].map(([, letter]) => letter).join("");
	}

	/** What the extension saw, oldest first. */
	get seen(): string[] {
		return existsSync(this.#seen) ? readFileSync(this.#seen, "utf8").trim().split("\n") : [];
	}

	get focused(): string | undefined {
		return this.seen.findLast((line) => line.startsWith("focused"));
	}

	terminatePi(): void {
		const line = this.seen.findLast((line) => line.startsWith("pid")) ?? "";
		process.kill(Number(line.slice("pid ".length)), "SIGTERM");
	}

	get screen(): string {
		const { active } = this.#emulator.buffer;
		const row = (at: number) => active.getLine(active.viewportY + at)?.translateToString(true) ?? "";
		return Array.from({ length: 30 }, (_, at) => row(at)).join("\n");
	}

	get #lineToCursor(): string | undefined {
		const { active } = this.#emulator.buffer;
		return active.getLine(active.baseY + active.cursorY)?.translateToString(false, 0, active.cursorX);
	}

	async until(what: string, check: () => boolean): Promise<void> {
		await waitUntil(what, 20_000, check, () => `${this.seen.join("\n")}\n${this.switches}\n${this.screen}`);
	}

	/** The shell has the terminal: it answers, and no report becomes part of its line. */
	async expectShell(): Promise<void> {
		await this.until("The shell's prompt", () => this.#lineToCursor === SHELL);
		expect(this.reports).toBe(false);
		this.focus(false);
		this.focus(true);
		const answer = Math.round(performance.now());
		this.type(`echo $((${answer} + 1))\r`);
		await this.until("The shell's answer", () => new RegExp(`^${answer + 1}\\b`, "m").test(this.screen));
		expect(this.screen).not.toMatch(/\[[IO]/);
	}
}

const SCREENS: readonly Screen[] = [
	{ version: "1.6.0", name: "full", args: [] },
	{ version: "1.6.0", name: "regular", args: ["--tui-mode", "regular"] },
	{ version: "0.82.1", name: "only", args: [] },
];

async function throughTheOtherScreen(window: Window): Promise<void> {
	window.type("/settings\r");
	await window.until("The settings", () => window.screen.includes("Type to search"));
	window.type("tui mode");
	await window.until("The setting", () => /TUI mode +fullscreen/.test(window.screen));
	for (const mode of ["regular", "fullscreen"]) {
		window.type("\r");
		await window.until(`The ${mode} screen`, () => window.screen.includes(`TUI mode: ${mode}`) && window.reports);
	}
	window.type(KEYS.ctrlC);
}

test.concurrent.for(SCREENS)(
	"pi $version, $name screen: focus is reported while pi has the terminal, and only then",
	async (screen, { onTestFinished }) => {
		const window = await Window.open(screen, onTestFinished);
		await window.until("Focus reports", () => window.reports);
		await window.until("The first state", () => window.focused === "focused: undefined");
		expect(window.seen).not.toContain("presence");

		window.focus(false);
		await window.until("Focus lost", () => window.focused === "focused: false");
		expect(window.seen).not.toContain("presence");
		window.focus(true);
		await window.until("Focus gained", () => window.focused === "focused: true");
		expect(window.seen).toContain("presence");

		window.type("/reload \r");
		await window.until("The reload", () => window.screen.includes("Reloaded keybindings") && window.reports);
		window.focus(false);
		await window.until("Focus lost after the reload", () => window.focused === "focused: false");

		if (screen.name === "full") await throughTheOtherScreen(window);

		window.type("typed");
		await window.until("The typed word", () => window.screen.includes("typed"));
		// Neither the reports nor the terminal's answers have become text.
		expect(window.screen).toMatch(/^\W*typed\W*$/m);

		window.type(KEYS.ctrlG);
		await window.until("The editor", () => window.screen.includes("editor is open"));
		expect(window.reports).toBe(false);
		window.type("written\r");
		await window.until("Focus reports after the editor", () => window.reports);
		await window.until("Unknown focus", () => window.focused === "focused: undefined");
		// Again a proof that the terminal has answered: else the shell gets the answer.
		window.type("!");
		await window.until("The written text", () => window.screen.includes("written!"));

		window.type(KEYS.ctrlZ);
		await window.expectShell();
		window.type("fg\r");
		await window.until("Focus reports after fg", () => window.reports);
		window.focus(false);
		await window.until("Focus lost after fg", () => window.focused === "focused: false");
		window.type("?");
		await window.until("The text after fg", () => window.screen.includes("written!?"));

		window.type(KEYS.ctrlC + KEYS.ctrlD);
		await window.expectShell();
		// Once for each time that pi had the terminal: nobody switched twice, or below pi.
		expect(window.switches).toMatch(screen.name === "full" ? /^(hl){5}$/ : /^(hl){4}$/);
	},
);

test.concurrent.for(SCREENS.filter(({ name }) => name !== "full"))(
	"pi $version, $name screen: no reports stay on when pi is terminated, exits without its farewell, or crashes",
	async (screen, { onTestFinished }) => {
		const window = new Window(onTestFinished);
		const endings = [() => window.terminatePi(), () => window.type("/leave \r"), () => window.type("/crash \r")];
		for (const end of endings) {
			await window.runPi(screen);
			await window.until("Focus reports", () => window.reports);
			end();
			await window.expectShell();
		}
	},
);
