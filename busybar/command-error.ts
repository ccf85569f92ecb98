/** The one error class whose message a user of the command reads as it is. Pure. */

/** What went wrong and what to do, in one sentence; printed after `Error: `, exit code 1. */
export class CommandError extends Error {
	override readonly name = "CommandError";
}
