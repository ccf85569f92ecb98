/** Runs one command line. Everything but `main` touches only the `Io` it is given. */

import { CommanderError } from "commander";
import { CommandError } from "./command-error.ts";
import { clean } from "./options.ts";
import { buildProgram, type Io } from "./program.ts";

/**
 * Returns the exit code: 0, or 1 after one `Error: ...` line on stderr. Never rejects.
 * @param args the arguments after the interpreter and the script
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

/** Runs the command line of this process and exits once the output is flushed. */
export async function main(): Promise<void> {
	// The callback of each write gets the error, and earlier.
	for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
	const code = await run(process.argv.slice(2), {
		env: process.env,
		stdout: (text) => process.stdout.write(text, reportWriteError),
		stderr: (text) => process.stderr.write(text),
	});
	process.exitCode ||= code;
	// A pending DNS lookup would keep the process alive past --request-timeout.
	process.stdout.write("", () => process.stderr.write("", () => process.exit()));
}

function reportWriteError(error?: NodeJS.ErrnoException | null): void {
	// A reader that closes early (`| head -1`) is not an error.
	if (!error || error.code === "EPIPE") return;
	const why = error.code === "ENOSPC" ? "the disk is full" : clean(error.message, 200);
	process.exitCode = 1;
	process.stderr.write(`Error: cannot write the result: ${why}; write it somewhere else.\n`, () => process.exit());
}

function sentence(error: unknown): string {
	if (error instanceof CommandError) return error.message;
	return `unexpected error (${clean(String(error), 200)}); please report it.`;
}
