/**
 * Run as a process of its own when pi ends with an alert on the bar: waits, then clears, three tries.
 * Plain JavaScript, because Node refuses TypeScript under node_modules. Starts the given command, touches nothing else.
 * Arguments: DELAY_MS FILE [ARGUMENT ...]
 */

import { spawnSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";

const TRIES = 3;
const PAUSE_MS = 1_000;
const DEADLINE_MS = 6_000;

const [delayMs, file, ...args] = process.argv.slice(2);
if (file !== undefined) {
	await sleep(Number(delayMs));
	for (let tries = 1; ; tries += 1) {
		const result = spawnSync(file, args, {
			stdio: ["ignore", "ignore", "pipe"],
			timeout: DEADLINE_MS,
			killSignal: "SIGKILL",
			windowsHide: true,
		});
		// HTTP 400: nothing of ours is lit.
		if (result.status === 0 || /\bHTTP 400\b/.test(String(result.stderr)) || tries === TRIES) break;
		await sleep(PAUSE_MS);
	}
}
