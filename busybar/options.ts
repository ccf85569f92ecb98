/** Checks the values of flags and environment variables. Pure. */

import { CommandError } from "./command-error.ts";

const defaultHost = "10.0.4.20";

/** A parser for a whole number from `lowest` to `highest`. Its CommandError names `flag`. */
export function integer(flag: string, lowest: number, highest: number): (text: string) => number {
	return (text) => {
		const value = /^-?\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
		if (!(value >= lowest && value <= highest)) {
			throw new CommandError(`${flag} must be a whole number from ${lowest} to ${highest}, not ${quote(text)}.`);
		}
		return value;
	};
}

/** A parser for one of `words`. */
export function oneOf<Word extends string>(flag: string, words: readonly Word[]): (text: string) => Word {
	return (text) => {
		const word = words.find((candidate) => candidate === text);
		const choice = [words.slice(0, -1).join(", "), words.at(-1)].join(" or ");
		if (word === undefined) throw new CommandError(`${flag} must be ${choice}, not ${quote(text)}.`);
		return word;
	};
}

/**
 * The bar's rule for uploads. With an empty or a longer name, a clear would remove the drawings of all applications; a
 * name of dots only is a path, and the upload would end up outside its folder.
 */
export function applicationName(text: string): string {
	if (!/^(?!\.+$)[A-Za-z0-9._-]{1,31}$/.test(text)) {
		throw new CommandError(
			`--application-name ${quote(text)} is not allowed; ` +
				"use 1 to 31 letters, digits, dots, underscores or hyphens, and not only dots.",
		);
	}
	return text;
}

export interface Address {
	/** Without the brackets of an IPv6 address. */
	readonly host: string;
	readonly port: number;
	/** As the user wrote it, for messages. */
	readonly text: string;
}

/** `--addr`, else BUSYBAR_ADDR, else the address of a bar on USB. */
export function address(flag: string | undefined, env: NodeJS.ProcessEnv): Address {
	const [source, text] = flag === undefined ? ["BUSYBAR_ADDR", env.BUSYBAR_ADDR || defaultHost] : ["--addr", flag];
	const match = /^(?:\[([0-9A-Fa-f:.]+(?:%[\w.-]+)?)\]|([A-Za-z0-9_][A-Za-z0-9._-]*))(?::(\d{1,5}))?$/.exec(text);
	const host = match?.[1] ?? match?.[2];
	const port = Number(match?.[3] ?? 80);
	if (host === undefined || port < 1 || port > 65_535) {
		throw new CommandError(
			`${source} must be a host or host:port (IPv6 in brackets), without http:// and without a path, not ${quote(text)}.`,
		);
	}
	return { host, port, text };
}

/** The access key: `--token`, else BUSYBAR_TOKEN, else undefined. No message contains it. */
export function token(flag: string | undefined, env: NodeJS.ProcessEnv): string | undefined {
	const [source, value] = flag === undefined ? ["BUSYBAR_TOKEN", env.BUSYBAR_TOKEN] : ["--token", flag];
	if (value && !/^[\x20-\x7e]+$/.test(value)) {
		throw new CommandError(
			`${source} contains a character that is not allowed in an HTTP header; set the access key again.`,
		);
	}
	return value || undefined;
}

/** For messages: shortened, and without characters that could move the cursor of a terminal. */
export function quote(text: string): string {
	return JSON.stringify(clean(text, 80));
}

/** One line of printable text, at most `maxLength` characters. */
export function clean(text: string, maxLength: number): string {
	const line = text.replace(/[\p{C}\s]+/gu, " ").trim();
	return line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line;
}
