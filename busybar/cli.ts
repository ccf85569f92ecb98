/** Runs one command line. Touches what its `Io` gives it; only `main` touches this process. */

import { CommanderError } from "commander";
import { CommandError } from "./command-error.ts";
import { clean } from "./options.ts";
import { buildProgram, type Io } from "./program.ts";

/**
 * Returns the exit code: 0, or 1 after one `Error: ...` line on stderr. Never rejects.
 * @param args without the interpreter and the script
 */
export async function run(args: readonly string[], io: Io): Promise<0 | 1> {
	try {
		await buildProgram(io).parseAsync(args.length === 0 ? ["--help"] : args, { from: "user" });
		return 0;
	} catch (error) {
		if (error instanceof CommanderError && error.exitCode === 0) return 0;
		io.stderr(`Error: ${sentence(error)}\n`);
		return 1;
	}
}

/** Runs this process's command line and ends the process, once its output is flushed. */
export async function main(): Promise<void> {
	// The callback of each write hears of it, and sooner.
	for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
	const code = await run(process.argv.slice(2), {
		env: process.env,
		stdout: (text) => process.stdout.write(text, complainUnlessWritten),
		stderr: (text) => process.stderr.write(text),
	});
	process.exitCode ||= code;
	// A host name that is still being looked up would keep the process alive past --request-timeout.
	process.stdout.write("", () => process.stderr.write("", () => process.exit()));
}

function complainUnlessWritten(error?: NodeJS.ErrnoException | null): void {
	// A reader that closed early (`| head -1`) is no failure of ours.
	if (!error || error.code === "EPIPE") return;
	const why = error.code === "ENOSPC" ? "the disk is full" : clean(error.message, 200);
	process.exitCode = 1;
	process.stderr.write(`Error: the result cannot be written: ${why}; send it elsewhere.\n`, () => process.exit());
}

function sentence(error: unknown): string {
	if (error instanceof CommandError) return error.message;
	return `something unexpected happened (${clean(String(error), 200)}); please report it.`;
}
