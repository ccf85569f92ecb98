// A `busybar` of its own behaviour: passes the proof, does what a row says, and is the bundled CLI for the rest.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ABILITY_WORDS } from "../../extensions/busybar-alert/busybar.ts";
import { BUNDLED_CLI } from "../../extensions/busybar-alert/cli/which-cli.ts";

/** What the shell runs instead of a command; what is not ended by it goes on as the bundled CLI. */
export interface FakeCli {
	readonly help?: string;
	readonly create?: string;
	readonly inspect?: string;
	readonly show?: string;
	readonly clear?: string;
	/** Of a CLI that has only what the contract asks for. */
	readonly isPlain?: true;
}

/** The rest of the command, as the bundled CLI does it; for what comes after it. */
export const AS_BUNDLED = `node '${BUNDLED_CLI}' "$@"`;

/** Writes it into `folder`; returns its path. */
export function fakeCli(folder: string, { help, isPlain, ...commands }: FakeCli): string {
	const words = ["--application-name", "--priority", "--loop", ...(isPlain ? [] : Object.values(ABILITY_WORDS))];
	const script = [
		"#!/bin/sh",
		`case "$*" in *--help*) ${help ?? `echo '${words.join(" ")}'; exit 0`};; esac`,
		'case "$1" in',
		...Object.entries(commands).map(([name, body]) => `${name}) ${body};;`),
		"esac",
		`exec ${AS_BUNDLED}`,
	];
	mkdirSync(folder, { recursive: true });
	const path = join(folder, "busybar");
	writeFileSync(path, `${script.join("\n")}\n`, { mode: 0o755 });
	return path;
}
