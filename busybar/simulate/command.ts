/** `pi-busybar simulate`: a BUSY Bar on a loopback port until it is interrupted. */

import { once } from "node:events";
import { CommandError } from "../command-error.ts";
import type { Access } from "./bar.ts";
import type { ApiChoice } from "./model.ts";
import { startBarServer } from "./server.ts";

/** As the command line gives them. */
export interface SimulateOptions {
	/** 0: any free one. */
	readonly port: number;
	readonly token?: string | undefined;
	readonly api: ApiChoice;
	/** `key` by default with a token, `usb` without. */
	readonly access?: Access;
	readonly slowMs?: number;
	readonly hang?: boolean;
	readonly reset?: boolean;
	readonly loseReplies?: boolean;
	readonly wedgeAfterWrites?: number;
	readonly format: "table" | "json" | "jsonl";
}

/**
 * Prints where the bar is, then serves until SIGINT or SIGTERM.
 * @throws CommandError for an access that needs a key without one, or a port that is taken
 */
export async function simulate(
	{ port, token, api, access = token === undefined ? "usb" : "key", format, ...options }: SimulateOptions,
	stdout: { write(text: string): unknown },
): Promise<void> {
	if (access === "key" && token === undefined) {
		throw new CommandError("--access key needs a key, since without one nobody gets in; give it with --token.");
	}
	const { slowMs, hang, reset, loseReplies, wedgeAfterWrites } = options;
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
		stdout.write(
			`Simulated BUSY Bar at ${row.url} (firmware ${model.firmwareVersion}, API ${model.apiSemver})\n` +
				`Open that address to see it; talk to it with --addr ${row.addr}; Ctrl-C ends it.\n`,
		);
	}
	await interrupted;
	await server.close();
}
