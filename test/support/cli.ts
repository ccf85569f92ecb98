// Runs the bundled command inside this process: the same code path as the real one, without its start.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../busybar/cli.ts";

export interface CliResult {
	readonly code: number;
	readonly stdout: string;
	readonly stderr: string;
}

export async function runCli(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<CliResult> {
	let [stdout, stderr] = ["", ""];
	const code = await run(args, {
		env,
		stdout: (text) => {
			stdout += text;
		},
		stderr: (text) => {
			stderr += text;
		},
	});
	return { code, stdout, stderr };
}

/** The only row of a command that must succeed. */
export async function rowOf(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Record<string, unknown>> {
	const result = await runCli([...args, "--format", "json"], env);
	if (result.code !== 0) throw new Error(`${args.join(" ")}: ${result.stderr}`);
	const rows: unknown = JSON.parse(result.stdout);
	if (!Array.isArray(rows) || rows.length !== 1) throw new Error(`not one row: ${result.stdout}`);
	return rows[0];
}

/** An empty folder, and how to name files in it. `remove` deletes it with everything inside. */
export function temporaryFolder(): { readonly path: string; in: (name: string) => string; remove: () => void } {
	const path = mkdtempSync(join(tmpdir(), "busybar-cli-"));
	return { path, in: (name) => join(path, name), remove: () => rmSync(path, { recursive: true, force: true }) };
}
