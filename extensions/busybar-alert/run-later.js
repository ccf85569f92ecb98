/**
 * Run as a process of its own by a pi that ends and does not wait: commands one after the other, until one fails for good.
 * Plain JavaScript, because Node refuses TypeScript under node_modules. Starts the given commands, touches nothing else.
 * Argument: JSON, a list of `{ delayMs, file, args, tries }`.
 */

import { spawnSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";

const PAUSE_MS = 1_000;
const DEADLINE_MS = 15_000;

for (const { delayMs, file, args, tries } of JSON.parse(process.argv[2] ?? "[]")) {
	await sleep(delayMs);
	let isDone = false;
	for (let left = tries; !isDone && left > 0; left -= 1) {
		if (left < tries) await sleep(PAUSE_MS);
		const result = spawnSync(file, args, {
			stdio: ["ignore", "ignore", "pipe"],
			timeout: DEADLINE_MS,
			killSignal: "SIGKILL",
			windowsHide: true,
		});
		// HTTP 400 to a clear: nothing of ours is lit.
		isDone = result.status === 0 || /\bHTTP 400\b/.test(String(result.stderr));
	}
	if (!isDone) break;
}
