// A strict stand-in for the Go CLI: its flags and nothing more, its habits, its faults.
// Talks to the bar it is told to talk to, runs the bundled CLI for the offline commands, writes its journal.

import { execFileSync } from "node:child_process";
import { appendFileSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { COMMANDS, parseFlags, rootUsage, usageOf } from "./flags.ts";

/** One line of the file named in GO_BUSYBAR_JOURNAL. */
export interface Invocation {
	readonly argv: readonly string[];
	/** Milliseconds since 1970. */
	readonly at: number;
}

type Values = ReadonlyMap<string, string>;
type Row = Readonly<Record<string, unknown>>;

const BUNDLED_CLI = fileURLToPath(new URL("../../../busybar/bin.js", import.meta.url));

const RUN: Readonly<Record<string, (values: Values) => Row | Promise<Row>>> = { create, compile, inspect, show, clear };

await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<void> {
	const journal = process.env.GO_BUSYBAR_JOURNAL;
	if (journal) appendFileSync(journal, `${JSON.stringify({ argv, at: Date.now() } satisfies Invocation)}\n`);
	// The framework turns both signals into "cancelled", and takes that for success.
	for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(0));

	const [name = "--help", ...rest] = argv;
	if (name === "--help" || name === "-h" || name === "help") {
		process.stdout.write(rootUsage());
		return;
	}
	const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
	const run = RUN[name];
	if (!command || !run) {
		fail(`unknown command "${name}" for "busybar"`, "Run 'busybar --help' for usage.\n");
		return;
	}
	try {
		const values = parseFlags(command, rest);
		if (values.get("help") === "true" || values.get("long-help") === "true") {
			process.stdout.write(`${command.short}\n\n${usageOf(name, command)}`);
			return;
		}
		print([await run(values)], values);
	} catch (error) {
		fail(error instanceof Error ? error.message : String(error), usageOf(name, command));
	}
}

function fail(message: string, usage: string): void {
	process.stderr.write(`Error: ${message}\n${usage}\n`);
	process.exitCode = 1;
}

function create(values: Values): Row {
	const { pattern, display, frames, fps, output } = bundled("create", values);
	return { pattern, display, frames, fps, output };
}

function compile(values: Values): Row {
	bundled("compile", values);
	return { output: values.get("output") };
}

// Only the fields that are attested; in particular no `frames`.
function inspect(values: Values): Row {
	const { width, height, fps, color_mode, bytes } = bundled("inspect", values);
	return { width, height, fps, color_mode, bytes };
}

function bundled(command: string, values: Values): Row {
	const args = Object.keys(COMMANDS[command]?.flags ?? {}).flatMap((flag) => {
		const value = values.get(flag);
		return value === undefined ? [] : [`--${flag}`, value];
	});
	try {
		const rows = execFileSync(process.execPath, [BUNDLED_CLI, command, ...args, "--format", "json"], {
			encoding: "utf8",
			stdio: ["ignore", "pipe", "pipe"],
		});
		return JSON.parse(rows)[0];
	} catch (error) {
		const stderr = String((error as { stderr?: unknown }).stderr ?? error);
		throw new Error(/^Error: (.*)$/m.exec(stderr)?.[1] ?? stderr);
	}
}

async function show(values: Values): Promise<Row> {
	const input = values.get("input") ?? "";
	const animation = readFileSync(input);
	if (!animation.subarray(0, 7).equals(Buffer.from("bicycle"))) throw new Error("show requires a compiled .anim");
	const file = basename(input);
	const application = values.get("application-name") ?? "";
	log(values, "Uploading animation", { application, file, bytes: animation.length });
	await ask(values, "POST", "/api/assets/upload", { application_name: application, file }, animation);
	log(values, "Drawing animation", { application, file });
	const draw = {
		application_name: application,
		priority: Number(values.get("priority")),
		elements: [
			{
				id: "animation",
				type: "animation",
				path: file,
				display: values.get("display"),
				section: values.get("section"),
				loop: values.get("loop") === "true",
				await_previous_end: values.get("await-previous-end") === "true",
			},
		],
	};
	await ask(values, "POST", "/api/display/draw", {}, Buffer.from(JSON.stringify(draw)));
	return { status: "ok", application_name: application, file, bytes: animation.length };
}

async function clear(values: Values): Promise<Row> {
	const application = values.get("application-name") ?? "";
	log(values, "Clearing display", { application });
	await ask(values, "DELETE", "/api/display/draw", { application_name: application });
	return { status: "ok", application_name: application };
}

/** One request, without any time limit of its own: a bar that never answers is waited for. */
async function ask(
	values: Values,
	method: string,
	path: string,
	query: Record<string, string>,
	body?: Buffer,
): Promise<void> {
	const url = new URL(`http://${values.get("addr")}${path}?${new URLSearchParams(query)}`);
	const token = values.get("token");
	const headers = {
		...(token && { "X-API-Token": token }),
		...(body && { "Content-Length": body.length }),
	};
	const { status, text } = await new Promise<{ status: number; text: string }>((resolve, reject) => {
		const sent = request(url, { method, headers, agent: false }, (response) => {
			let text = "";
			response.setEncoding("utf8").on("data", (part) => {
				text += part;
			});
			response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
			response.on("error", reject);
		});
		sent.on("error", reject);
		sent.end(body);
	});
	if (status !== 200) throw new Error(`${method} ${path}: HTTP ${status}: ${text.trim()}`);
}

function log(values: Values, message: string, fields: Row): void {
	if (!["trace", "debug", "info"].includes(values.get("log-level") ?? "")) return;
	const words = Object.entries(fields).map(([key, value]) => `${key}=${value}`);
	const stream = values.get("log-to-stdout") === "true" ? process.stdout : process.stderr;
	stream.write(`${new Date().toISOString()} INF ${message} ${words.join(" ")}\n`);
}

function print(all: readonly Row[], values: Values): void {
	const fields = values.get("output-fields")?.split(",");
	const rows = all.map((row) =>
		fields ? Object.fromEntries(fields.filter((f) => f in row).map((f) => [f, row[f]])) : row,
	);
	const format = values.get("format");
	if (format === "json") {
		process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
	} else if (format === "jsonl") {
		for (const row of rows) process.stdout.write(`${JSON.stringify(row)}\n`);
	} else if (format === "table") {
		const cells = (values: readonly unknown[]) => `| ${values.map(String).join(" | ")} |\n`;
		for (const row of rows) process.stdout.write(cells(Object.keys(row)) + cells(Object.values(row)));
	} else {
		throw new Error(`the stand-in does not write ${format}`);
	}
}
