/** How a command answers in every mode of pi. Uses pi's UI or, without one, the standard streams. */

import { writeSync } from "node:fs";
import type { ExtensionCommandContext } from "@earendil-works/pi-coding-agent";

export type Level = "info" | "warning";

/** Never throws: if pi has replaced the session meanwhile, there is nobody left to tell. */
export function say(ctx: ExtensionCommandContext, text: string, level: Level): void {
	try {
		if (ctx.hasUI) ctx.ui.notify(text, level);
		// pi redirects stdout in print mode; in JSON mode stdout is the event stream.
		else writeSync(ctx.mode === "print" ? 1 : 2, `${text}\n`);
	} catch {
		// The objects of a replaced session throw.
	}
}
