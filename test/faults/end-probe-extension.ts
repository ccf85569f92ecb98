// A pi extension that tells how long this pi, while it ended, was ready to run without a processor. Appends to the file named
// in PI_FAULTS_ENDS.

import { appendFileSync } from "node:fs";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { queuedMs } from "../demo/probe.ts";

export default function endProbe(pi: ExtensionAPI): void {
	pi.on("session_shutdown", () => {
		const startedMs = queuedMs();
		const { PI_FAULTS_ENDS: file } = process.env;
		process.once("exit", () => {
			if (file !== undefined) appendFileSync(file, `${queuedMs() - startedMs}\n`);
		});
	});
}
