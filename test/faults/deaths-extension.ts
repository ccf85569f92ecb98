// A pi extension that notes when a session starts and ends, and that brings pi down by a mistake when asked for it.
// Appends to the file named in PI_DEATHS_EVENTS; throws where nobody catches it on SIGUSR2.

import { appendFileSync } from "node:fs";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export interface SessionEvent {
	readonly type: "session_start" | "session_shutdown";
	readonly reason: string;
	/** Milliseconds since the Unix epoch. */
	readonly atMs: number;
}

export default function deaths(pi: ExtensionAPI): void {
	const file = process.env.PI_DEATHS_EVENTS;
	if (file === undefined) return;
	const note = ({ type, reason }: Omit<SessionEvent, "atMs">) =>
		appendFileSync(file, `${JSON.stringify({ type, reason, atMs: Date.now() })}\n`);
	pi.on("session_start", note);
	pi.on("session_shutdown", note);
	process.once("SIGUSR2", () => {
		throw new Error("a mistake in another extension");
	});
}
