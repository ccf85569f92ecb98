// A pi extension that writes down, for a test, what the terminal's presence says. Writes the file named in PRESENCE.

import { appendFileSync, writeSync } from "node:fs";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { systemClock } from "../../extensions/busybar-alert/clock.ts";
import { focusReportsOfPi } from "../../extensions/busybar-alert/terminal/pi-screen.ts";
import { TerminalPresence } from "../../extensions/busybar-alert/terminal/presence.ts";

const POLL_MS = 10;

export default function presence(pi: ExtensionAPI): void {
	const file = process.env.PRESENCE;
	if (file === undefined) return;
	let terminal: TerminalPresence | undefined;
	pi.on("session_start", (_event, ctx) => {
		appendFileSync(file, `pid ${process.pid}\n`);
		const started = new TerminalPresence({
			stdin: process.stdin,
			write: (text) => void writeSync(process.stdout.fd, text),
			clock: systemClock,
			piReportsFocus: focusReportsOfPi(ctx.ui),
			onPresence: () => appendFileSync(file, "presence\n"),
		});
		started.wantReports(true);
		terminal = started;
		let written: string | undefined;
		setInterval(() => {
			const state = `focused: ${started.known.focused}`;
			if (state !== written) appendFileSync(file, `${state}\n`);
			written = state;
		}, POLL_MS).unref();
	});
	pi.on("session_shutdown", () => terminal?.stop());
	pi.registerCommand("leave", { description: "Exit at once", handler: async () => process.exit(0) });
	pi.registerCommand("crash", {
		description: "Throw where nobody catches",
		handler: async () => {
			setImmediate(() => {
				throw new Error("crash");
			});
		},
	});
}
