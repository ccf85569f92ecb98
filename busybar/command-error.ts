/** The error class whose message the user reads as it is. Pure. */

/** One sentence: what went wrong and what to do. It is printed after `Error: `, and the exit code is 1. */
export class CommandError extends Error {
	override readonly name = "CommandError";
}
