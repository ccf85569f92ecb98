import { describe, expect, test } from "vitest";
import { type Cli, CommandLine, inspectedSize, type Target } from "../../extensions/busybar-alert/busybar.ts";
import type { ExecResult } from "../../extensions/busybar-alert/cli/exec.ts";
import { failureOf } from "../../extensions/busybar-alert/cli/failures.ts";
import { ALL_ABILITIES } from "../support/abilities.ts";

const OK: ExecResult = { code: 0, signal: null, killed: false, stdout: "", stderr: "" };
const failed = (stderr: string, more: Partial<ExecResult> = {}): ExecResult => ({ ...OK, code: 1, stderr, ...more });
const show = (result: ExecResult, token = "") =>
	failureOf("show", { file: "/opt/busybar", deadlineMs: 8_000 }, result, { addr: "10.0.4.20", token });

describe("the kind of failure", () => {
	test.each([
		["HTTP 403 anywhere in the error", failed("Error: HTTP 403 Forbidden"), "forbidden"],
		["HTTP 409", failed("Error: draw failed: HTTP 409: Not drawn due to low priority"), "preempted"],
		["HTTP 400", failed("Error: HTTP 400 Bad Request"), "device"],
		["HTTP 408", failed("Error: HTTP 408 Upload timeout"), "device"],
		["HTTP 413", failed("Error: HTTP 413"), "device"],
		["HTTP 503", failed("Error: HTTP 503 File delete failed"), "device"],
		["HTTP 508", failed("Error: HTTP 508 Failed to open file for writing"), "device"],
		["a Go refusal", failed("Error: dial tcp 10.0.4.20:80: connect: connection refused"), "unreachable"],
		["a Go timeout", failed("Error: dial tcp 10.0.4.20:80: i/o timeout"), "unreachable"],
		["a Go deadline", failed("Error: context deadline exceeded"), "unreachable"],
		["a lost route", failed("Error: connect: no route to host"), "unreachable"],
		["an unknown name", failed("Error: lookup busybar.local: no such host"), "unreachable"],
		["a reset", failed("Error: read: connection reset by peer"), "unreachable"],
		["an end at its deadline, whatever the exit code", { ...OK, killed: true }, "unreachable"],
		["a death by signal", { ...OK, code: null, signal: "SIGSEGV" as const }, "crashed"],
		[
			"a web server's answer",
			failed("Error: 10.0.4.20 answers, but is not a BUSY Bar; check the address."),
			"not_a_bar",
		],
		["a login page that a Go CLI met", failed("Error: draw failed: HTTP 302: Found"), "not_a_bar"],
		["HTML that a Go CLI met", failed("Error: HTTP 403: <html><body>Forbidden</body></html>"), "not_a_bar"],
		["a zip where an .anim belongs", failed("Error: show requires a compiled .anim"), "bad_asset"],
		["a program that is not there", { ...OK, code: null, spawnError: "ENOENT" }, "not_found"],
		["a port that contains 403", failed("Error: weird thing at 10.0.4.20:4030"), "unknown"],
		["a size that contains 409", failed("Error: short write: 4096 of 4093 bytes, HTTP 4096"), "unknown"],
		["an unknown flag", failed("Error: unknown flag: --loop"), "unknown"],
		["no words at all", failed(""), "crashed"],
	] as const)("%s", (_, result, kind) => {
		expect(show(result)?.kind).toBe(kind);
	});

	test("exit code 0 is success", () => {
		expect(show(OK)).toBeUndefined();
	});

	test("a failure is late only if the bar may have received the request", () => {
		expect(show({ ...OK, killed: true })?.late).toBe(true);
		expect(show(failed("Error: read: connection reset by peer"))?.late).toBe(true);
		expect(show(failed("Error: connect: connection refused"))?.late).toBe(false);
		expect(show(failed("Error: HTTP 409 Not drawn due to low priority"))?.late).toBeUndefined();
	});

	test("a CLI that died by itself is named, nothing is said against the bar, and the bar may have got the request", () => {
		const failure = show({ ...OK, code: null, signal: "SIGSEGV" });
		expect(failure?.message).toMatch(/^busybar show \(\/opt\/busybar\) was stopped by SIGSEGV\. /);
		expect(failure?.message).not.toContain("BUSY Bar");
		expect(failure?.late).toBe(true);
		expect(show(failed("", { code: 3 }))?.message).toContain("failed without a message (exit code 3)");
	});

	test("what answers in a bar's place is not said to be one", () => {
		const failure = show(failed("Error: 10.0.4.20 answers, but is not a BUSY Bar; check the address."));
		expect(failure?.message).toMatch(/^What answers at 10\.0\.4\.20 is not a BUSY Bar\. Check the address,/);
	});

	test("if the CLI never stops printing, the message says so, and the bar may have received the request", () => {
		expect(show({ ...OK, killed: true, overflowed: true })).toMatchObject({
			kind: "unknown",
			message: expect.stringMatching(
				/^busybar show was stopped because it printed more than a megabyte\. Set `command`/,
			),
			late: true,
		});
	});

	test("a timeout of a command that does not talk to the bar does not mean that the bar is unreachable", () => {
		const failure = failureOf(
			"create",
			{ file: "x", deadlineMs: 15_000 },
			{ ...OK, killed: true },
			{ addr: "", token: "" },
		);
		expect(failure).toMatchObject({
			kind: "unknown",
			message: expect.stringMatching(/^busybar create did not finish within 15 s; /),
		});
	});

	test("the message is the line that starts with Error:, between log lines and the usage", () => {
		const stderr = "3:04PM INF upload anim=x.anim\nError: something odd\nUsage:\n  busybar show [flags]\n";
		expect(show(failed(stderr))?.message).toBe("something odd");
	});

	test("the message has no control characters and no access key, and is not too long", () => {
		const stderr = `Error: \x1b[31mkey 123456 refused\x1b[0m \x07\u202e${"x".repeat(10_000)}`;
		const message = show(failed(stderr), "123456")?.message ?? "";
		expect(message).toMatch(/^key \[token\] refused +x/);
		expect(message).not.toMatch(/[\x00-\x1f\u202e]/);
		expect(message.length).toBeLessThanOrEqual(400);
	});

	test.each([
		["an array", '[\n{"width":72,"height":16}\n]\n'],
		["one object", '{"width":72,"height":16,"bytes":3990}'],
		["an object per line", '{"width":72,"height":16}\n{"width":1,"height":1}\n'],
	])("inspect may print %s", (_, stdout) => {
		expect(inspectedSize(stdout)).toEqual({ width: 72, height: 16 });
	});

	test.each(["", "[]", "null", "table\n", '{"width":"72"}'])("if inspect prints %j, the size is unknown", (stdout) => {
		expect(inspectedSize(stdout)).toBeUndefined();
	});
});

describe("the access key", () => {
	const target: Target = { addr: "10.0.4.20", token: "s3cret", applicationName: "a", display: "front", priority: 60 };
	const cli = (tokenFromEnvironment: boolean): Cli => ({
		source: "path",
		file: "/opt/busybar",
		leadingArgs: [],
		abilities: { ...ALL_ABILITIES, tokenFromEnvironment },
	});

	test("stays out of the process list with a CLI that reads the environment", () => {
		const commands = new CommandLine(cli(true), { PATH: "/bin" });
		for (const { args, env } of [commands.show("x.anim", target, { expiresAfterSeconds: 8 }), commands.clear(target)]) {
			expect(args.join(" ")).not.toContain("s3cret");
			expect(env).toEqual({ PATH: "/bin", BUSYBAR_TOKEN: "s3cret" });
		}
	});

	test("is an argument with a CLI that does not", () => {
		const { args, env } = new CommandLine(cli(false), { BUSYBAR_TOKEN: "other" }).show("x.anim", target, {
			expiresAfterSeconds: 8,
		});
		expect(args.slice(0, 5)).toEqual(["show", "--addr", "10.0.4.20", "--token", "s3cret"]);
		expect(env).not.toHaveProperty("BUSYBAR_TOKEN");
	});

	test("in the environment is not used if the setting is another one", () => {
		const { env } = new CommandLine(cli(true), { BUSYBAR_TOKEN: "other" }).clear({ ...target, token: "" });
		expect(env.BUSYBAR_TOKEN).toBe("");
	});

	test("is not passed to a command that does not talk to the bar", () => {
		expect(new CommandLine(cli(true), { BUSYBAR_TOKEN: "other" }).inspect("x.anim").env).toEqual({});
	});
});

test("options for pi's own Node are not passed to the CLI", () => {
	const cli: Cli = {
		source: "bundled",
		file: "node",
		leadingArgs: ["bin.js"],
		abilities: ALL_ABILITIES,
	};
	const { env, args } = new CommandLine(cli, { NODE_OPTIONS: "--inspect-brk" }).inspect("x.anim");
	expect(env.NODE_OPTIONS).toBeUndefined();
	expect(args).toEqual(["bin.js", "inspect", "--input", "x.anim", "--format", "json"]);
});
