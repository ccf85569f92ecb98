/**
 * What the end of a CLI command means: a kind of failure, and the sentence that a person reads about it. Pure; knows the
 * CLI's errors, not the bar's protocol.
 */

import type { Command, CommandName, Target } from "../busybar.ts";
import type { ExecResult } from "./exec.ts";

export type FailureKind =
	| "not_found"
	| "no_node"
	| "wrong_cli"
	| "not_a_bar"
	| "unreachable"
	| "forbidden"
	| "preempted"
	| "bad_asset"
	| "device"
	| "crashed"
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

/**
 * Why a command did not succeed; undefined when it did.
 * @param step what was run: an offline command cannot fail to reach the bar
 */
export function failureOf(
	step: CommandName,
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
	if (result.overflowed) {
		const message = `busybar ${step} was ended because it printed more than a megabyte. ${SET_COMMAND}`;
		return { kind: "unknown", message, late: online };
	}
	if (result.killed && online) {
		return { kind: "unreachable", message: unreachable(target.addr, "it did not answer in time"), late: true };
	}
	if (result.killed) {
		const limit = `${command.deadlineMs / 1_000} s`;
		const message = `busybar ${step} did not finish within ${limit}; the machine may be too busy. The next alert tries again.`;
		return { kind: "unknown", message };
	}
	if (result.code === 0) return undefined;
	if (result.signal !== null || said === "") {
		const how =
			result.signal === null ? `failed without a word (exit code ${result.code})` : `was ended by ${result.signal}`;
		return { kind: "crashed", message: crashed(step, command.file, how), late: online };
	}

	if (online && isStranger(said)) return { kind: "not_a_bar", message: stranger(target.addr) };
	const status = /\bHTTP (\d{3})\b/.exec(said)?.[1];
	if (online && status !== undefined) return refused(status, said, target.addr);
	if (online) {
		const trouble = connectionTrouble(said);
		if (trouble) return { kind: "unreachable", message: unreachable(target.addr, trouble.why), late: trouble.late };
		if (/\.anim\b|\banimation\b/i.test(said)) return badAsset(said);
	}
	return { kind: "unknown", message: said };
}

export function badAsset(why: string): Failure {
	return {
		kind: "bad_asset",
		message: `The animation cannot be used: ${why}. Mend it, or choose another pattern.`,
	};
}

function crashed(step: CommandName, file: string, how: string): string {
	return `busybar ${step} (${file}) ${how}. If this keeps happening, set \`command\` to another busybar CLI, or to "bundled".`;
}

/** The bundled CLI's own words; or what another has from a web server, while a bar answers in JSON. */
function isStranger(said: string): boolean {
	return /\bis not a BUSY Bar\b|\bHTTP 3\d\d\b|<(?:!doctype|html|head|body|h1)\b/i.test(said);
}

function stranger(addr: string): string {
	return (
		`What answers at ${addr} is not a BUSY Bar. Check the \`addr\` setting, and whether this network has a login page or a ` +
		"proxy."
	);
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
