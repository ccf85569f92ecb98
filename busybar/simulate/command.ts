/** `simulate`: runs a simulated bar on a loopback port until it is interrupted. */

import { once } from "node:events";
import { CommandError } from "../command-error.ts";
import { formatRows } from "../output.ts";
import type { Access, Faults } from "./bar.ts";
import type { ApiChoice } from "./model.ts";
import { startBarServer } from "./server.ts";

/** As commander gives them. */
export interface SimulateOptions extends Faults {
	/** 0: any free port. */
	readonly port: number;
	readonly token?: string | undefined;
	readonly api: ApiChoice;
	/** By default `key` with a token, `usb` without. */
	readonly access?: Access;
	readonly format: "table" | "json" | "jsonl";
}

/**
 * Prints the address, then serves until SIGINT or SIGTERM.
 * @throws CommandError if `access` needs a key and there is none, or if the port is in use
 */
export async function simulate(
	{ port, token, api, access = token === undefined ? "usb" : "key", format, ...faults }: SimulateOptions,
	print: (text: string) => void,
): Promise<void> {
	if (access === "key" && token === undefined) {
		throw new CommandError("--access key needs an access key; give one with --token.");
	}
	const server = await startBarServer(port, { api, access, token, faults });
	// Before the address is printed: a script may stop us as soon as it has read it.
	const interrupted = Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
	const row = { addr: `127.0.0.1:${server.port}`, url: `http://127.0.0.1:${server.port}/` };
	const { firmwareVersion, apiSemver } = server.bar.model;
	print(
		format === "table"
			? `Simulated BUSY Bar at ${row.url} (firmware ${firmwareVersion}, API ${apiSemver})\n` +
					`Open that address in a browser to see it, and use it with --addr ${row.addr}. Press Ctrl-C to stop it.\n`
			: await formatRows([row], { format, maxOutputRows: 0, outputFields: [] }),
	);
	await interrupted;
	await server.close();
}
