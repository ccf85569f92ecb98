// A pi extension that tells when this pi ended, and how long it had to wait for a processor. Appends to the file named in
// PI_FAULTS_ENDS.

import { appendFileSync } from "node:fs";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { queuedMs } from "../demo/probe.ts";

/** One line of the file. */
export interface ProbedEnd {
	readonly pid: number;
	/** Milliseconds since the Unix epoch, whatever happens to the clock meanwhile. */
	readonly atMs: number;
	/** Since the session began to end, ready to run without a processor. */
	readonly queuedMs: number;
}

export default function endProbe(pi: ExtensionAPI): void {
	pi.on("session_shutdown", () => {
		const startedMs = queuedMs();
		const { PI_FAULTS_ENDS: file } = process.env;
		process.once("exit", () => {
			const end: ProbedEnd = {
				pid: process.pid,
				atMs: performance.timeOrigin + performance.now(),
				queuedMs: queuedMs() - startedMs,
			};
			if (file !== undefined) appendFileSync(file, `${JSON.stringify(end)}\n`);
		});
	});
}
