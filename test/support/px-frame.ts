// The screens of /px outside pi: pi's own theme and keys, a terminal that is only a size, and what a user sees of it.

import { stripVTControlCharacters } from "node:util";
import { type ExtensionCommandContext, initTheme, type Theme } from "@earendil-works/pi-coding-agent";
import { KeybindingsManager, TUI_KEYBINDINGS, visibleWidth } from "@earendil-works/pi-tui";
import { Frame } from "../../extensions/launcher/frame.ts";
import { waitUntil } from "./wait.ts";

export const KEYS = {
	enter: "\r",
	escape: "\x1b",
	up: "\x1b[A",
	down: "\x1b[B",
	pageUp: "\x1b[5~",
	pageDown: "\x1b[6~",
	home: "\x1b[H",
	end: "\x1b[F",
	delete: "\x1b[3~",
	backspace: "\x7f",
	tab: "\t",
	clearLine: "\x15",
} as const;

/** A context for actions that use nothing of it. */
export const NO_CONTEXT = {} as ExtensionCommandContext;

export class FrameOnDesk {
	readonly frame: Frame;
	readonly notices: string[] = [];
	readonly size = { columns: 80, rows: 24 };
	isClosed = false;

	constructor() {
		initTheme("dark");
		const plain = (text: string) => text;
		this.frame = new Frame({
			tui: { requestRender: () => undefined, terminal: this.size },
			// Only what the screens use; pi's lists bring the real one's colours.
			theme: { fg: (_: string, text: string) => `\x1b[36m${text}\x1b[39m`, bold: plain } as unknown as Theme,
			keys: new KeybindingsManager(TUI_KEYBINDINGS),
			notify: (text) => this.notices.push(text),
		});
		this.frame.focused = true;
		this.frame.onClose = () => {
			this.isClosed = true;
		};
	}

	/** One key or text after the other; between them, what they started can go on. */
	async press(...keys: string[]): Promise<void> {
		for (const key of keys) {
			this.frame.handleInput(key);
			await new Promise((resolve) => setImmediate(resolve));
		}
	}

	/** What a user sees. Throws if a line is wider than the screen. */
	lines(): string[] {
		return this.frame.render(this.size.columns).map((line) => {
			if (visibleWidth(line) > this.size.columns) throw new Error(`Wider than ${this.size.columns}: ${line}`);
			return stripVTControlCharacters(line.replaceAll(/\x1b_[^\x07]*\x07/g, "")).trimEnd();
		});
	}

	get text(): string {
		return this.lines().join("\n");
	}

	/** Waits until the screen contains `text`. */
	async see(text: string): Promise<void> {
		await waitUntil(
			`"${text}" on the screen`,
			5_000,
			() => this.text.includes(text),
			() => this.text,
		);
	}

	/** The selected line, without its arrow. */
	get selected(): string | undefined {
		return this.lines()
			.find((line) => line.startsWith("→ "))
			?.slice(2);
	}
}
