// A pi without pi: a process with the real session of the extension, which gets pi's events as lines of its input.
// `run`, `turn INDEX OUTCOME [tools]`, `settled [aborted]`, `asked KIND`, `answered`, `back`; at the end of the input it quits.

import { createInterface } from "node:readline";
import { cacheFolder } from "../../extensions/busybar-alert/files/cache-folder.ts";
import { Session } from "../../extensions/busybar-alert/session.ts";
import type { Outcome } from "../../extensions/busybar-alert/when/run.ts";

const { CROWD_PI = "", PI_CODING_AGENT_DIR = "" } = process.env;
const session = new Session({
	mode: "rpc",
	sessionId: CROWD_PI,
	agentFolder: PI_CODING_AGENT_DIR,
	cacheFolder: cacheFolder(),
	setStatus: () => undefined,
	notify: () => undefined,
});
const { policy } = session;
console.log("ready");

for await (const line of createInterface(process.stdin)) {
	const [event, word = "", outcome, tools] = line.split(" ");
	if (event === "run") policy.runStarted();
	else if (event === "turn") {
		const turn = { index: Number(word), outcome: outcome as Outcome, calledTools: tools === "tools" };
		policy.turnEnded(turn, outcome === "aborted");
	} else if (event === "settled") policy.settled(word === "aborted");
	else if (event === "asked") policy.questionAsked(word);
	else if (event === "answered") policy.questionAnswered();
	else if (event === "back") policy.userIsBack();
}
await session.end(true);
process.exit();
