/** `pi-busybar simulate`: a BUSY Bar on a loopback port until it is interrupted. */

import { once } from "node:events";
import { CommandError } from "../command-error.ts";
import { ACCESS_MODES, type Access } from "./bar.ts";
import { API_CHOICES } from "./model.ts";
import { startBarServer } from "./server.ts";

/** As the command line gives them; everything may be left out. */
export interface SimulateOptions {
	/** 0, the default: any free one. */
	readonly port?: number | undefined;
	readonly token?: string | undefined;
	/** `25` or `27.5`, the default. */
	readonly api?: string | undefined;
	/** `usb`, `disabled`, `enabled` or `key`; `key` by default with a token, `usb` without. */
	readonly access?: string | undefined;
	readonly slowMs?: number | undefined;
	readonly hang?: boolean | undefined;
	readonly reset?: boolean | undefined;
	readonly loseReplies?: boolean | undefined;
	readonly wedgeAfterWrites?: number | undefined;
	readonly format?: "table" | "json" | "jsonl" | undefined;
}

/**
 * Prints where the bar is, then serves until SIGINT or SIGTERM.
 * @throws CommandError for an option that makes no sense, or a port that is taken.
 */
export async function simulate(
	options: SimulateOptions,
	stdout: { write(text: string): unknown } = process.stdout,
): Promise<void> {
	const { port = 0, token, slowMs, hang, reset, loseReplies, wedgeAfterWrites, format = "table" } = options;
	if (!Number.isInteger(port) || port < 0 || port > 65_535) {
		throw new CommandError(`--port must be a whole number from 0 to 65535, not ${port}`);
	}
	const api = API_CHOICES.find((choice) => choice === (options.api ?? "27.5"));
	if (api === undefined) throw new CommandError(`--api must be one of ${API_CHOICES.join(", ")}, not ${options.api}`);
	const access = accessMode(options.access ?? (token === undefined ? "usb" : "key"));
	const faults = Object.fromEntries(
		Object.entries({ slowMs, hang, reset, loseReplies, wedgeAfterWrites }).filter(([, value]) => value !== undefined),
	);
	const server = await startBarServer(port, { api, access, token, faults });
	// Before the first line is out: a script may end us as soon as it has read it.
	const interrupted = Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
	const row = { addr: `127.0.0.1:${server.port}`, url: `http://127.0.0.1:${server.port}/` };
	if (format === "json") stdout.write(`${JSON.stringify([row], undefined, 2)}\n`);
	else if (format === "jsonl") stdout.write(`${JSON.stringify(row)}\n`);
	else {
		const { model } = server.bar;
		stdout.write(`Simulated BUSY Bar at ${row.url} (firmware ${model.firmwareVersion}, API ${model.apiSemver})\n`);
		stdout.write(`Open that address to see it; talk to it with --addr ${row.addr}; Ctrl-C ends it.\n`);
	}
	await interrupted;
	await server.close();
}

function accessMode(text: string): Access {
	const mode = ACCESS_MODES.find((choice) => choice === text);
	if (mode === undefined) throw new CommandError(`--access must be one of ${ACCESS_MODES.join(", ")}, not ${text}`);
	return mode;
}
