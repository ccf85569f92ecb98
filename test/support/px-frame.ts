// The screens of /px without pi: pi's own theme and keys, the rows that pi's other parts take, and what a user sees of /px.

import { type ExtensionCommandContext, initTheme, type Theme } from "@earendil-works/pi-coding-agent";
import {
	type Component,
	Container,
	KeybindingsManager,
	stripTerminalSequences,
	TUI_KEYBINDINGS,
	visibleWidth,
} from "@earendil-works/pi-tui";
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

const FOOTER_ROWS = 3;

/** A context for actions that do not use it. */
export const NO_CONTEXT = {} as ExtensionCommandContext;

export class FrameOnDesk {
	readonly frame: Frame;
	readonly notices: string[] = [];
	readonly size = { columns: 80, rows: 24 };
	/** How many rows other extensions' widgets take, above and below. */
	readonly widgets = { above: 0, below: 0 };
	isClosed = false;

	constructor() {
		initTheme("dark");
		const plain = (text: string) => text;
		const place = new Container();
		const part = (rows: () => number): Component => ({
			render: () => Array.from({ length: rows() }, (_, row) => `row ${row}`),
			invalidate: () => undefined,
		});
		const nothing = part(() => 0);
		const above = { ...nothing, render: () => ["", ...part(() => this.widgets.above).render(0)] };
		const below = part(() => this.widgets.below);
		// pi's parts, in their order; /px takes the editor's place.
		const children = [part(() => 100), nothing, nothing, above, place, below, part(() => FOOTER_ROWS)];
		this.frame = new Frame({
			tui: { requestRender: () => undefined, terminal: this.size, children },
			// Only what the screens use; pi's own lists use the real theme.
			theme: { fg: (_: string, text: string) => `\x1b[36m${text}\x1b[39m`, bold: plain } as unknown as Theme,
			keys: new KeybindingsManager(TUI_KEYBINDINGS),
			notify: (text) => this.notices.push(text),
		});
		place.addChild(this.frame);
		this.frame.focused = true;
		this.frame.onClose = () => {
			this.isClosed = true;
		};
	}

	/** Presses one key, or types one text, after the other, and lets what they started go on in between. */
	async press(...keys: string[]): Promise<void> {
		for (const key of keys) {
			this.frame.handleInput(key);
			await new Promise((resolve) => setImmediate(resolve));
		}
	}

	/** What a user sees. Throws if a line is not one line or wider than the screen, or if pi has no room for all of them. */
	lines(): string[] {
		const { above, below } = this.widgets;
		const { columns, rows } = this.size;
		// pi keeps a line of the transcript, and sets widgets off with a blank line.
		const room = Math.max(3, rows - 1 - (above > 0 ? above + 1 : 0) - below - FOOTER_ROWS);
		const lines = this.frame.render(columns);
		if (lines.length > room) throw new Error(`More than ${room} lines:\n${lines.join("\n")}`);
		return lines.map((line) => {
			if (visibleWidth(line) > columns) throw new Error(`Wider than ${columns}: ${line}`);
			const text = stripTerminalSequences(line);
			if (/[\x00-\x1f]/.test(text)) throw new Error(`Not one line: ${JSON.stringify(text)}`);
			return text.trimEnd();
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
