/**
 * Run as a process of its own by a pi that ends and does not wait: commands one after the other. Plain JavaScript, because
 * Node refuses TypeScript under node_modules. Starts the given commands, touches nothing else.
 * Argument: JSON, a list of `{ delayMs, file, args, tries, always }`; after a failure only those with `always` are run.
 */

import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";

const PAUSE_MS = 1_000;
const DEADLINE_MS = 15_000;
const OWN_GROUP = process.platform !== "win32";

let hasFailed = false;
for (const { delayMs, file, args, tries, always } of JSON.parse(process.argv[2] ?? "[]")) {
	if (hasFailed && !always) continue;
	await sleep(delayMs);
	let isDone = false;
	for (let left = tries; !isDone && left > 0; left -= 1) {
		if (left < tries) await sleep(PAUSE_MS);
		isDone = await succeeds(file, args);
	}
	if (!isDone) hasFailed = true;
}

function succeeds(file, args) {
	return new Promise((resolve) => {
		const child = spawn(file, args, { stdio: ["ignore", "ignore", "pipe"], detached: OWN_GROUP, windowsHide: true });
		let stderr = "";
		child.stderr.on("data", (chunk) => {
			stderr = (stderr + chunk).slice(0, 4_096);
		});
		// The whole group: the command may be a script that started another program.
		const deadline = setTimeout(
			() => (OWN_GROUP ? process.kill(-child.pid, "SIGKILL") : child.kill("SIGKILL")),
			DEADLINE_MS,
		);
		const end = (code) => {
			clearTimeout(deadline);
			// HTTP 400 to a clear: nothing of ours is lit.
			resolve(code === 0 || /\bHTTP 400\b/.test(stderr));
		};
		child.once("error", () => end(1));
		child.once("exit", (code) => setTimeout(end, 100, code));
	});
}
