/**
 * The `busybar` command line: its arguments, and what its results mean to the person who reads about them.
 * Pure; knows the CLI's contract and its errors, not the bar's protocol.
 */

import type { ExecResult } from "./cli/exec.ts";

export type Display = "front" | "back";

/** Panel sizes in pixels. */
export const DISPLAY_SIZE = {
	front: { width: 72, height: 16 },
	back: { width: 160, height: 80 },
} as const satisfies Record<Display, { width: number; height: number }>;

/** What a CLI can do beyond the contract, read from its `show --help`. */
export interface CliAbilities {
	/** `--expires-after`: the bar ends an alert by itself. */
	readonly expiresAfter: boolean;
	/** `--request-timeout`: the CLI gives up by itself. */
	readonly requestTimeout: boolean;
	/** Reads `BUSYBAR_TOKEN`, so that the token stays out of the process list. */
	readonly tokenFromEnvironment: boolean;
}

/** A CLI that was found and speaks the contract. */
export interface Cli {
	readonly source: "setting" | "path" | "bundled";
	/** The executable and what precedes a command on its command line. */
	readonly file: string;
	readonly leadingArgs: readonly string[];
	readonly abilities: CliAbilities;
}

/** Where an alert goes and under which name. */
export interface Target {
	readonly addr: string;
	readonly token: string;
	readonly applicationName: string;
	readonly display: Display;
	readonly priority: number;
}

export type FailureKind =
	| "not_found"
	| "no_node"
	| "wrong_cli"
	| "unreachable"
	| "forbidden"
	| "preempted"
	| "bad_asset"
	| "device"
	| "unknown";

export interface Failure {
	readonly kind: FailureKind;
	/** One line for a person: what happened and what to do. Never holds the token. */
	readonly message: string;
	/** The request may have reached the bar although no answer came back. */
	readonly late?: boolean;
	/** The status that the bar answered with, if it answered. */
	readonly httpStatus?: number;
}

export interface Command {
	readonly file: string;
	readonly args: readonly string[];
	readonly env: NodeJS.ProcessEnv;
	readonly deadlineMs: number;
}

/** Milliseconds after which a command is ended, by what it does. */
const DEADLINE_MS = { create: 15_000, inspect: 5_000, show: 8_000, clear: 5_000, status: 5_000 } as const;
/** The CLI gives up this much earlier than we end it, so that its own words arrive. */
const DEADLINE_MARGIN_MS = 750;

/** Builds the commands of one CLI. */
export class CommandLine {
	readonly #cli: Cli;
	readonly #env: NodeJS.ProcessEnv;

	constructor(cli: Cli, env: NodeJS.ProcessEnv = process.env) {
		this.#cli = cli;
		this.#env = env;
	}

	/** Writes `outputs.zip` and `outputs.anim` from a built-in pattern or from a folder of `frame_N.png`. */
	create(
		picture: { readonly frameCount: number } & ({ readonly pattern: string } | { readonly framesFolder: string }),
		display: Display,
		framesPerSecond: number,
		outputs: { readonly zip: string; readonly anim: string },
	): Command {
		const source = "pattern" in picture ? ["--pattern", picture.pattern] : ["--frames-dir", picture.framesFolder];
		return this.#offline("create", [
			...source,
			...["--display", display, "--frames", String(picture.frameCount), "--fps", String(framesPerSecond)],
			...["--output", outputs.zip, "--compile-output", outputs.anim],
		]);
	}

	inspect(anim: string): Command {
		return this.#offline("inspect", ["--input", anim, "--format", "json"]);
	}

	/** `expiresAfterSeconds` is left out where the CLI cannot let a drawing expire. */
	show(anim: string, target: Target, expiresAfterSeconds: number): Command {
		return this.#device("show", target, [
			...["--input", anim],
			...["--application-name", target.applicationName],
			...["--display", target.display, "--priority", String(target.priority), "--loop"],
			...(this.#cli.abilities.expiresAfter ? ["--expires-after", String(expiresAfterSeconds)] : []),
		]);
	}

	clear(target: Pick<Target, "addr" | "token" | "applicationName">): Command {
		return this.#device("clear", target, ["--application-name", target.applicationName]);
	}

	/** Only the bundled CLI has this command. */
	status(target: Pick<Target, "addr" | "token">): Command {
		return this.#device("status", target, ["--format", "json"]);
	}

	#offline(name: "create" | "inspect", args: readonly string[]): Command {
		return {
			file: this.#cli.file,
			args: [...this.#cli.leadingArgs, name, ...args],
			env: childEnvironment(this.#env),
			deadlineMs: DEADLINE_MS[name],
		};
	}

	#device(name: "show" | "clear" | "status", target: Pick<Target, "addr" | "token">, args: readonly string[]): Command {
		const { abilities, file, leadingArgs } = this.#cli;
		const hidden = abilities.tokenFromEnvironment;
		return {
			file,
			args: [
				...leadingArgs,
				...[name, "--addr", target.addr],
				...(target.token !== "" && !hidden ? ["--token", target.token] : []),
				...args,
				...(abilities.requestTimeout ? ["--request-timeout", String(DEADLINE_MS[name] - DEADLINE_MARGIN_MS)] : []),
			],
			// An inherited BUSYBAR_TOKEN must not reach the bar when the setting says that there is none.
			env: { ...childEnvironment(this.#env), BUSYBAR_TOKEN: hidden ? target.token : "" },
			deadlineMs: DEADLINE_MS[name],
		};
	}
}

/** What pi's user set for pi's own Node (an inspector, a preload) would slow or stop ours. */
function childEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
	const { NODE_OPTIONS: _, ...rest } = env;
	return rest;
}

/**
 * Why a command did not succeed; undefined when it did.
 * @param step what was run: an offline command cannot fail to reach the bar
 */
export function failureOf(
	step: keyof typeof DEADLINE_MS,
	command: Pick<Command, "file" | "deadlineMs">,
	result: ExecResult,
	target: Pick<Target, "addr" | "token">,
): Failure | undefined {
	const online = step !== "create" && step !== "inspect";
	// Before the line is cut: half a token would not be recognised any more.
	const said = firstErrorLine(withoutToken(result.stderr, target.token));

	if (result.spawnError !== undefined) {
		return { kind: "not_found", message: notStarted(command.file, result.spawnError) };
	}
	if (result.killed || result.signal !== null) {
		const what = result.killed
			? `did not finish within ${command.deadlineMs / 1_000} s`
			: `was ended by ${result.signal}`;
		if (!online) {
			return {
				kind: "unknown",
				message: `busybar ${step} ${what}; the machine may be too busy. The next alert tries again.`,
			};
		}
		const why = result.killed ? "it did not answer in time" : `busybar ${step} ${what}`;
		return { kind: "unreachable", message: unreachable(target.addr, why), late: true };
	}
	if (result.code === 0) return undefined;

	const status = /\bHTTP (\d{3})\b/.exec(said)?.[1];
	if (online && status !== undefined) return refused(status, said, target.addr);
	if (online) {
		const trouble = connectionTrouble(said);
		if (trouble) return { kind: "unreachable", message: unreachable(target.addr, trouble.why), late: trouble.late };
		if (/\.anim\b|\banimation\b/i.test(said)) return badAsset(said);
	}
	return { kind: "unknown", message: said || `busybar ${step} failed with exit code ${result.code}` };
}

export function badAsset(why: string): Failure {
	return {
		kind: "bad_asset",
		message: `The animation cannot be used: ${why}. Mend it, or choose another pattern.`,
	};
}

/** Reads `inspect --format json` or `jsonl`: an array, one object, or an object per line. */
export function inspectedSize(stdout: string): { width: number; height: number } | undefined {
	const parse = (text: string): unknown => {
		try {
			return JSON.parse(text);
		} catch {
			return undefined;
		}
	};
	const parsed = parse(stdout) ?? parse(stdout.split("\n", 1)[0] ?? "");
	const row: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
	if (typeof row !== "object" || row === null) return undefined;
	const { width, height } = row as Record<string, unknown>;
	return typeof width === "number" && typeof height === "number" ? { width, height } : undefined;
}

function refused(status: string, said: string, addr: string): Failure {
	const httpStatus = Number(status);
	if (httpStatus === 403) {
		return {
			kind: "forbidden",
			httpStatus,
			message:
				`The bar at ${addr} refused access (HTTP 403). Either access to its HTTP API over Wi-Fi is off, to be switched on ` +
				"in the bar's settings, or the key is missing or wrong: set `token` or BUSYBAR_TOKEN.",
		};
	}
	if (httpStatus === 409) {
		return {
			kind: "preempted",
			httpStatus,
			message:
				`The bar at ${addr} shows something of equal or higher priority, or a BUSY timer runs (HTTP 409). Nothing overrides ` +
				"a BUSY timer; a higher `priority` helps only against the former.",
		};
	}
	return { kind: "device", httpStatus, message: `The bar at ${addr} refused: ${said}` };
}

function connectionTrouble(said: string): { why: string; late: boolean } | undefined {
	const rows: readonly [RegExp, string, boolean][] = [
		[/connection refused|ECONNREFUSED/i, "it refused the connection", false],
		[
			/no route to host|EHOSTUNREACH|network is (unreachable|down)|ENETUNREACH|host is down|EHOSTDOWN/i,
			"there is no route to it",
			false,
		],
		[/no such host|host not found|ENOTFOUND|EAI_AGAIN|server misbehaving/i, "its name is not known", false],
		[/timed? ?out|deadline exceeded|no answer|ETIMEDOUT/i, "it did not answer in time", true],
		[
			/connection (was )?(reset|lost|closed|aborted)|ECONNRESET|EPIPE|broken pipe|socket hang up|\bEOF\b/i,
			"the connection was lost",
			true,
		],
		[/cannot reach|\bdial tcp\b/i, "it cannot be reached", true],
	];
	const row = rows.find(([pattern]) => pattern.test(said));
	return row && { why: row[1], late: row[2] };
}

function unreachable(addr: string, why: string): string {
	return (
		`No BUSY Bar at ${addr}: ${why}. Check its cable or Wi-Fi and the \`addr\` setting; ` +
		"if its HTTP API stays dead, power-cycle the bar."
	);
}

/** What to do about a `command` that does not work. */
export const SET_COMMAND = 'Set `command` to the path of a busybar CLI, or to "bundled".';

function notStarted(file: string, reason: string): string {
	const why =
		reason === "ENOENT"
			? "does not exist"
			: reason === "EACCES"
				? "is not executable"
				: `cannot be started (${reason})`;
	return `The busybar command ${file} ${why}. ${SET_COMMAND}`;
}

const MESSAGE_LIMIT_CHARACTERS = 400;

/** cobra prints `Error: ...` first and the usage after it; log lines may stand before. */
function firstErrorLine(stderr: string): string {
	const lines = printable(stderr)
		.split("\n")
		.map((line) => line.trim())
		.filter((line) => line !== "");
	const line = lines.find((candidate) => candidate.startsWith("Error:")) ?? lines[0] ?? "";
	return line.replace(/^Error:\s*/, "").slice(0, MESSAGE_LIMIT_CHARACTERS);
}

/** Drops terminal escape sequences and every other control character but the line end. */
function printable(text: string): string {
	return text
		.replace(/\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)/g, "")
		.replace(/\r\n?/g, "\n")
		.replace(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g, " ");
}

function withoutToken(text: string, token: string): string {
	return token === "" ? text : text.replaceAll(token, "[token]");
}
