/**
 * Turns the result of a CLI command into a kind of failure and the message that the user reads. Pure; knows the CLI's
 * errors, not the bar's protocol.
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
	/** One line for the user: what happened and what to do. Never contains the access key. */
	readonly message: string;
	/** The request may have reached the bar, although no answer came back. */
	readonly late?: boolean;
	/** The status of the bar's answer, if there was one. */
	readonly httpStatus?: number;
}

/**
 * Why a command failed; undefined if it succeeded.
 * @param step the command; one that does not talk to the bar cannot fail to reach it
 */
export function failureOf(
	step: CommandName,
	command: Pick<Command, "file" | "deadlineMs">,
	result: ExecResult,
	target: Pick<Target, "addr" | "token">,
): Failure | undefined {
	const online = step !== "create" && step !== "inspect";
	// Before the line is cut: half an access key would not be recognized.
	const said = firstErrorLine(withoutToken(result.stderr, target.token));

	if (result.spawnError !== undefined) {
		return { kind: "not_found", message: notStarted(command.file, result.spawnError) };
	}
	if (result.overflowed) {
		const message = `busybar ${step} was stopped because it printed more than a megabyte. ${SET_COMMAND}`;
		return { kind: "unknown", message, late: online };
	}
	if (result.killed && online) {
		return { kind: "unreachable", message: unreachable(target.addr, "no answer in time"), late: true };
	}
	if (result.killed) {
		const limit = `${command.deadlineMs / 1_000} s`;
		const message = `busybar ${step} did not finish within ${limit}; the machine may be too busy. The next alert will try again.`;
		return { kind: "unknown", message };
	}
	if (result.code === 0) return undefined;
	if (result.signal !== null || said === "") {
		const how =
			result.signal === null
				? `failed without a message (exit code ${result.code})`
				: `was stopped by ${result.signal}`;
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
		message: `The animation cannot be used: ${why}. Fix it, or choose another pattern.`,
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
		`What answers at ${addr} is not a BUSY Bar. Check the address, and whether this network has a login page or a ` +
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
				`The bar at ${addr} refused access (HTTP 403). Either HTTP access over Wi-Fi is off (turn it on in the bar's ` +
				"settings), or the access key is missing or wrong (set it in /px or with BUSYBAR_TOKEN).",
		};
	}
	if (httpStatus === 409) {
		return {
			kind: "preempted",
			httpStatus,
			message:
				`The bar at ${addr} shows something of the same or a higher priority, or a BUSY timer is running (HTTP 409). A ` +
				"higher priority helps only in the first case; nothing overrides a BUSY timer.",
		};
	}
	return { kind: "device", httpStatus, message: `The bar at ${addr} refused the request: ${said}` };
}

function connectionTrouble(said: string): { why: string; late: boolean } | undefined {
	const rows: readonly [RegExp, string, boolean][] = [
		[/connection refused|ECONNREFUSED/i, "connection refused", false],
		[
			/no route to host|EHOSTUNREACH|network is (unreachable|down)|ENETUNREACH|host is down|EHOSTDOWN/i,
			"no route to this address",
			false,
		],
		[/no such host|host not found|ENOTFOUND|EAI_AGAIN|server misbehaving/i, "unknown host name", false],
		[/timed? ?out|deadline exceeded|no answer|ETIMEDOUT/i, "no answer in time", true],
		[
			/connection (was )?(reset|lost|closed|aborted)|ECONNRESET|EPIPE|broken pipe|socket hang up|\bEOF\b/i,
			"connection lost",
			true,
		],
		[/cannot reach|\bdial tcp\b/i, "cannot be reached", true],
	];
	const row = rows.find(([pattern]) => pattern.test(said));
	return row && { why: row[1], late: row[2] };
}

function unreachable(addr: string, why: string): string {
	return (
		`No BUSY Bar at ${addr}: ${why}. Check the cable or Wi-Fi, and the address in /px. ` +
		"If that does not help, power-cycle the bar."
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

/** cobra prints `Error: ...` and then the usage; log lines may come first. */
function firstErrorLine(stderr: string): string {
	const lines = printable(stderr)
		.split("\n")
		.map((line) => line.trim())
		.filter((line) => line !== "");
	const line = lines.find((candidate) => candidate.startsWith("Error:")) ?? lines[0] ?? "";
	return line.replace(/^Error:\s*/, "").slice(0, MESSAGE_LIMIT_CHARACTERS);
}

/** Removes terminal escape sequences and all control characters except line breaks. */
function printable(text: string): string {
	return text
		.replace(/\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)/g, "")
		.replace(/\r\n?/g, "\n")
		.replace(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g, " ");
}

function withoutToken(text: string, token: string): string {
	return token === "" ? text : text.replaceAll(token, "[token]");
}
