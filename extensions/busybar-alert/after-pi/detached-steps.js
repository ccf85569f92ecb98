/**
 * Runs commands one after the other, as a separate process that a pi starts when it ends without waiting. Plain JavaScript,
 * because Node refuses TypeScript under node_modules. Starts the given commands and touches nothing else.
 * PI_BUSYBAR_STEPS is a JSON list of `{ file, args, deadlineMs, delayMs, tries, pauseMs, always, unlessShownByOther }`.
 * After a failure, only the steps with `always` are run. A step is skipped when `unlessShownByOther` applies.
 */

import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

const OWN_GROUP = process.platform !== "win32";
/** The last output of a command can arrive after its end. */
const OUTPUT_GRACE_MS = 100;
const STDERR_LIMIT_CHARACTERS = 4_096;

// The plan is not passed on to the commands.
const { PI_BUSYBAR_STEPS = "[]", ...env } = process.env;

let hasFailed = false;
for (const step of JSON.parse(PI_BUSYBAR_STEPS)) {
	if (hasFailed && !step.always) continue;
	await sleep(step.delayMs);
	if (step.unlessShownByOther && (await isShownByOther(step.unlessShownByOther))) continue;
	if (!(await succeeds(step))) hasFailed = true;
}

async function succeeds({ tries, pauseMs, ...command }) {
	for (let left = tries; left > 0; left -= 1) {
		if (left < tries) await sleep(pauseMs);
		// Whatever goes wrong with one command, the clear after it must still be run.
		if (await run(command).catch(() => false)) return true;
	}
	return false;
}

/** Another pi has drawn meanwhile: a clear would take that away. A record that is not there forbids nothing. */
async function isShownByOther({ path, self }) {
	try {
		const { shown } = JSON.parse(await readFile(path, "utf8"));
		return shown !== undefined && (shown.owner.pid !== self.pid || shown.owner.started !== self.started);
	} catch {
		return false;
	}
}

function run({ file, args, deadlineMs }) {
	return new Promise((resolve) => {
		const child = spawn(file, args, {
			env,
			stdio: ["ignore", "ignore", "pipe"],
			detached: OWN_GROUP,
			windowsHide: true,
		});
		let stderr = "";
		// If the timer is overdue, events that are waiting are handled first.
		const deadline = setTimeout(() => setImmediate(end, child), deadlineMs);
		child.once("error", () => {
			clearTimeout(deadline);
			resolve(false);
		});
		child.once("exit", (code) => {
			clearTimeout(deadline);
			setTimeout(() => {
				// A program that the command started can keep this pipe open.
				child.stderr.destroy();
				// A clear that is answered with HTTP 400 is done: nothing of ours is lit.
				resolve(code === 0 || /\bHTTP 400\b/.test(stderr));
			}, OUTPUT_GRACE_MS);
		});
		child.stderr?.on("data", (chunk) => {
			stderr = (stderr + chunk).slice(0, STDERR_LIMIT_CHARACTERS);
		});
	});
}

/** Ends the whole group: the command may be a script that starts another program. */
function end(child) {
	if (child.exitCode !== null || child.signalCode !== null) return;
	try {
		if (OWN_GROUP) process.kill(-child.pid, "SIGKILL");
		else child.kill("SIGKILL");
	} catch {
		// It has already ended.
	}
}
