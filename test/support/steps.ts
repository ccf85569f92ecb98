// Steps for the scripted model that make a run wait for something, so that a test knows what comes first.

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AskingKind } from "./asking-extension.ts";
import type { PiDesk } from "./pi-desk.ts";
import type { ScriptedStep } from "./scripted-model.ts";

export const ASKING = fileURLToPath(new URL("./asking-extension.ts", import.meta.url));

export const say = (text: string): ScriptedStep => ({ text });

export const bash = (command: string): ScriptedStep => ({ toolCalls: [{ name: "bash", args: { command } }] });

/** A turn whose tool is over at once. */
export const WORK = bash("true");

/** Needs the asking extension. */
export const ask = (kind: AskingKind): ScriptedStep => ({ toolCalls: [{ name: "ask", args: { kind } }] });

/** A turn that lasts until the log has `count` rows of this outcome and reason. */
export function untilLogged(desk: PiDesk, outcome: string, reason: string, count = 1): ScriptedStep {
	const log = join(desk.home.cacheDir, "pi-busybar-alert", "alerts.jsonl");
	const rows = `$(grep '"reason":"${reason}"' '${log}' 2>/dev/null | grep -c '"outcome":"${outcome}"')`;
	return bash(`until [ "${rows}" -ge ${count} ]; do sleep 0.05; done`);
}

/** A turn that lasts until the file is there. */
export const untilFile = (path: string): ScriptedStep => bash(`until [ -e '${path}' ]; do sleep 0.05; done`);
