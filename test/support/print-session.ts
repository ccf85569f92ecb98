// A session of the alert extension as in print mode: it shares nothing with the rest of the process, and its bar is absent.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, vi } from "vitest";
import { Session } from "../../extensions/busybar-alert/session.ts";
import { DEAD_ADDRESS } from "./pi-desk.ts";
import { scratchFolder } from "./scratch.ts";

export function printSession(saved: Readonly<Record<string, unknown>> = {}) {
	// What the session puts there is not for the tests that follow.
	vi.stubEnv("PI_BUSYBAR_ALERT_PID", "");
	onTestFinished(() => void vi.unstubAllEnvs());
	const folder = scratchFolder();
	const [agentFolder, cacheFolder] = [join(folder, "agent"), join(folder, "cache")];
	const settings = join(agentFolder, "busybar-alert.json");
	mkdirSync(agentFolder);
	writeFileSync(settings, JSON.stringify({ addr: DEAD_ADDRESS, command: "bundled", ...saved }));
	const session = new Session({
		mode: "print",
		sessionId: "s",
		agentFolder,
		cacheFolder,
		setStatus: () => undefined,
		notify: () => undefined,
	});
	onTestFinished(() => session.end(true));
	return { session, settings, cacheFolder };
}
