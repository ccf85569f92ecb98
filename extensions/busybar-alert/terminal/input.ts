/** Tells keys, focus reports and the terminal's replies apart in what arrives on stdin. Pure. */

export type TerminalEvent = "key" | "focus-in" | "focus-out";

type State = "text" | "escape" | "csi" | "ss3" | "x10-mouse" | "string" | "string-escape";

const ESC = "\x1b";
const BEL = "\x07";
/** How a reply can begin: OSC, DCS and APC. */
const STRING_INTRODUCERS = "]P_";
/** The final bytes of replies with numbers: device attributes, status, sizes, cursor position. */
const REPLY_FINALS = "cntxR";

/**
 * Keeps its state between chunks, wherever they are cut. Mouse reports and replies give no event. A paste, a key release
 * and anything unknown count as keys.
 */
export class TerminalInput {
	#state: State = "text";
	#csi = "";
	#mouseBytesLeft = 0;
	#pasting = false;

	/** Whether a sequence has begun but not ended. If nothing follows soon, call `giveUp`. */
	get isUnfinished(): boolean {
		return this.#state !== "text";
	}

	/** The events that the chunk completed, in order; repeated ones only once. */
	read(chunk: string): TerminalEvent[] {
		const events: TerminalEvent[] = [];
		for (const char of chunk) {
			const event = this.#next(char);
			if (event !== undefined && event !== events.at(-1)) events.push(event);
		}
		return events;
	}

	/** Drops an unfinished sequence: it was Escape, or Alt with a character that can begin a sequence. */
	giveUp(): TerminalEvent {
		this.#state = "text";
		return "key";
	}

	#next(char: string): TerminalEvent | undefined {
		// Escape always begins a new sequence; only within a string can it be the first half of the end.
		if (char === ESC && this.#state !== "x10-mouse") {
			const before = this.#state;
			this.#state = before === "string" ? "string-escape" : "escape";
			return before === "escape" ? "key" : undefined;
		}
		switch (this.#state) {
			case "text":
				return "key";
			case "escape":
				return this.#afterEscape(char);
			case "ss3":
				return this.#end("key");
			case "csi":
				return this.#inCsi(char);
			case "x10-mouse":
				this.#mouseBytesLeft -= 1;
				return this.#mouseBytesLeft === 0 ? this.#end(undefined) : undefined;
			case "string":
				return char === BEL ? this.#end(undefined) : undefined;
			case "string-escape":
				return char === "\\" ? this.#end(undefined) : this.#afterEscape(char);
		}
	}

	#afterEscape(char: string): TerminalEvent | undefined {
		if (char === "[") {
			this.#csi = "";
			this.#state = "csi";
		} else if (char === "O") this.#state = "ss3";
		else if (STRING_INTRODUCERS.includes(char)) this.#state = "string";
		else return this.#end("key");
		return undefined;
	}

	#inCsi(char: string): TerminalEvent | undefined {
		this.#csi += char;
		if (char >= " " && char < "@") return undefined;
		const sequence = this.#csi;
		if (sequence === "M") {
			this.#mouseBytesLeft = 3;
			this.#state = "x10-mouse";
			return undefined;
		}
		if (this.#pasting) {
			this.#pasting = sequence !== "201~";
			return this.#end("key");
		}
		this.#pasting = sequence === "200~";
		if (sequence === "I") return this.#end("focus-in");
		if (sequence === "O") return this.#end("focus-out");
		return this.#end(isReply(sequence) ? undefined : "key");
	}

	#end(event: TerminalEvent | undefined): TerminalEvent | undefined {
		this.#state = "text";
		return event;
	}
}

/** @param sequence what follows `ESC [`. Ctrl+F3 in the old encoding looks like a cursor position and counts as one. */
function isReply(sequence: string): boolean {
	const [first = "", final = ""] = [sequence.at(0), sequence.at(-1)];
	if ("<=>?".includes(first)) return true;
	const hasNumbers = sequence.length > 1;
	return hasNumbers && (final === "M" || REPLY_FINALS.includes(final) || /[ -/]/.test(sequence));
}
