// A program in a real pseudo-terminal, with a terminal emulator that knows what a person would see of it.
// Starts that one program; touches nothing else.

import { constants } from "node:os";
import { type IPty, spawn } from "@lydell/node-pty";
import xterm, { type Terminal as Emulator, type IBufferCell } from "@xterm/headless";
import { waitUntil } from "./wait.ts";

/** One character cell; colours are `#rrggbb`, with palette, inverse and dim already worked in. */
export interface Cell {
	/** Empty behind a character that is two cells wide. */
	readonly char: string;
	readonly fg: string;
	readonly bg: string;
	readonly bold: boolean;
}

export interface ExitStatus {
	readonly code: number | null;
	readonly signal: string | null;
}

export interface TerminalOptions {
	readonly cwd: string;
	readonly env: Readonly<Record<string, string>>;
	readonly columns?: number;
	readonly rows?: number;
}

/** Keys for `write`, as a terminal sends them. */
export const KEY = { enter: "\r", escape: "\x1b", ctrlC: "\x03", ctrlD: "\x04", up: "\x1b[A", down: "\x1b[B" } as const;

export class Terminal {
	readonly exit: Promise<ExitStatus>;
	readonly #pty: IPty;
	readonly #emulator: Emulator;

	constructor(file: string, args: readonly string[], options: TerminalOptions) {
		const size = { cols: options.columns ?? 100, rows: options.rows ?? 30 };
		this.#emulator = new xterm.Terminal({ ...size, allowProposedApi: true, scrollback: 0 });
		this.#pty = spawn(file, [...args], { ...size, name: "xterm-256color", cwd: options.cwd, env: { ...options.env } });
		this.#pty.onData((data) => this.#emulator.write(data));
		// Programs ask their terminal things (device attributes, cursor position) and wait for the answers.
		this.#emulator.onData((answer) => this.#pty.write(answer));
		this.exit = new Promise((resolve) => {
			this.#pty.onExit(({ exitCode, signal }) => {
				resolve(signal ? { code: null, signal: signalName(signal) } : { code: exitCode, signal: null });
			});
		});
	}

	get pid(): number {
		return this.#pty.pid;
	}

	/** Types. A lone Escape must be its own call, or it reads as the start of a sequence. */
	write(keys: string): void {
		this.#pty.write(keys);
	}

	/** The visible lines, without trailing spaces. */
	screen(): string[] {
		return this.#lines((line) => line.translateToString(true));
	}

	cells(): Cell[][] {
		return this.#lines((line) => {
			const cells: Cell[] = [];
			for (let column = 0; column < this.#emulator.cols; column++) {
				const cell = line.getCell(column);
				if (cell) cells.push(cellOf(cell));
			}
			return cells;
		});
	}

	/** Waits until the screen, its lines joined by newlines, contains `pattern`, and returns it. */
	async waitForText(pattern: RegExp | string, deadlineMs = 30_000): Promise<string> {
		return this.waitForScreen(
			`${pattern} on the screen`,
			(screen) => (typeof pattern === "string" ? screen.includes(pattern) : pattern.test(screen)),
			deadlineMs,
		);
	}

	/** Waits until `check` likes the screen; for what must go away, or for two things at once. */
	async waitForScreen(what: string, check: (screen: string) => boolean, deadlineMs = 30_000): Promise<string> {
		const screen = () => this.screen().join("\n");
		return waitUntil(
			what,
			deadlineMs,
			() => {
				const now = screen();
				return check(now) && now;
			},
			() => `The screen:\n${screen()}`,
		);
	}

	resize(columns: number, rows: number): void {
		this.#pty.resize(columns, rows);
		this.#emulator.resize(columns, rows);
	}

	/** Sends a signal to the program alone, as `kill PID` does. */
	kill(signal: NodeJS.Signals): void {
		process.kill(this.pid, signal);
	}

	/** Closes the terminal under the program, as closing a window does. */
	hangUp(): void {
		(this.#pty as IPty & { destroy(): void }).destroy();
	}

	#lines<T>(read: (line: NonNullable<ReturnType<Emulator["buffer"]["active"]["getLine"]>>) => T): T[] {
		const buffer = this.#emulator.buffer.active;
		const lines: T[] = [];
		for (let row = 0; row < this.#emulator.rows; row++) {
			const line = buffer.getLine(buffer.viewportY + row);
			if (line) lines.push(read(line));
		}
		return lines;
	}
}

const FOREGROUND = 0xd8d8d8;
const BACKGROUND = 0x101014;

// xterm's own sixteen colours.
const SIXTEEN = [
	0x2e3436, 0xcc0000, 0x4e9a06, 0xc4a000, 0x3465a4, 0x75507b, 0x06989a, 0xd3d7cf, 0x555753, 0xef2929, 0x8ae234,
	0xfce94f, 0x729fcf, 0xad7fa8, 0x34e2e2, 0xeeeeec,
];

function cellOf(cell: IBufferCell): Cell {
	let fg = cell.isFgDefault() ? FOREGROUND : colour(cell.getFgColor(), cell.isFgRGB());
	let bg = cell.isBgDefault() ? BACKGROUND : colour(cell.getBgColor(), cell.isBgRGB());
	if (cell.isInverse()) [fg, bg] = [bg, fg];
	if (cell.isDim()) fg = mix(fg, bg);
	return {
		char: cell.getWidth() === 0 ? "" : cell.getChars() || " ",
		fg: hex(fg),
		bg: hex(bg),
		bold: cell.isBold() !== 0,
	};
}

function colour(value: number, isRgb: boolean): number {
	if (isRgb) return value;
	if (value < 16) return SIXTEEN[value] ?? FOREGROUND;
	if (value >= 232) return (8 + (value - 232) * 10) * 0x010101;
	const level = (step: number) => (step === 0 ? 0 : 55 + step * 40);
	const index = value - 16;
	return (level(Math.floor(index / 36)) << 16) | (level(Math.floor(index / 6) % 6) << 8) | level(index % 6);
}

function mix(a: number, b: number): number {
	const channel = (shift: number) => (((a >> shift) & 0xff) + ((b >> shift) & 0xff)) >> 1;
	return (channel(16) << 16) | (channel(8) << 8) | channel(0);
}

function hex(rgb: number): string {
	return `#${rgb.toString(16).padStart(6, "0")}`;
}

function signalName(number: number): string {
	const entry = Object.entries(constants.signals).find(([, value]) => value === number);
	return entry?.[0] ?? `signal ${number}`;
}
