/** `pi-busybar simulate`: a BUSY Bar on a loopback port until it is interrupted. */

import { once } from "node:events";
import { CommandError } from "../command-error.ts";
import { formatRows } from "../output.ts";
import type { Access, Faults } from "./bar.ts";
import type { ApiChoice } from "./model.ts";
import { startBarServer } from "./server.ts";

/** As the command line gives them. */
export interface SimulateOptions extends Faults {
	/** 0: any free one. */
	readonly port: number;
	readonly token?: string | undefined;
	readonly api: ApiChoice;
	/** `key` by default with a token, `usb` without. */
	readonly access?: Access;
	readonly format: "table" | "json" | "jsonl";
}

/**
 * Prints where the bar is, then serves until SIGINT or SIGTERM.
 * @throws CommandError for an access that needs a key without one, or a port that is taken
 */
export async function simulate(
	{ port, token, api, access = token === undefined ? "usb" : "key", format, ...faults }: SimulateOptions,
	print: (text: string) => void,
): Promise<void> {
	if (access === "key" && token === undefined) {
		throw new CommandError("--access key needs a key, since without one nobody gets in; give it with --token.");
	}
	const server = await startBarServer(port, { api, access, token, faults });
	// Before the first line is out: a script may end us as soon as it has read it.
	const interrupted = Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
	const row = { addr: `127.0.0.1:${server.port}`, url: `http://127.0.0.1:${server.port}/` };
	const { firmwareVersion, apiSemver } = server.bar.model;
	print(
		format === "table"
			? `Simulated BUSY Bar at ${row.url} (firmware ${firmwareVersion}, API ${apiSemver})\n` +
					`Open that address to see it; talk to it with --addr ${row.addr}; Ctrl-C ends it.\n`
			: await formatRows([row], { format, maxOutputRows: 0, outputFields: [] }),
	);
	await interrupted;
	await server.close();
}
