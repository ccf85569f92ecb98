// A pi extension that asks its user, in every way pi has: from a tool of the model, and from commands of the user.
// Touches nothing; its tool `wait` reads whether a file exists.

import { existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { Text } from "@earendil-works/pi-tui";
import { Type } from "typebox";

export const ASKING_KINDS = ["select", "confirm", "input", "editor", "custom"] as const;

export type AskingKind = (typeof ASKING_KINDS)[number];

export default function asking(pi: ExtensionAPI): void {
	pi.registerTool({
		name: "ask",
		label: "Ask",
		description: "Ask the user",
		parameters: Type.Object({ kind: Type.Enum([...ASKING_KINDS]) }),
		execute: async (_id, { kind }, signal, _onUpdate, ctx) => answer(`${await ask(kind as AskingKind, ctx, signal)}`),
	});
	pi.registerTool({
		name: "wait",
		label: "Wait",
		description: "Wait until a file exists",
		parameters: Type.Object({ path: Type.String() }),
		async execute(_id, { path }, signal) {
			while (!existsSync(path) && !signal?.aborted) await delay(20);
			return answer("It is there.");
		},
	});
	pi.registerCommand("ask", {
		description: "Ask, although no tool wants to know",
		handler: async (_args, ctx) => ctx.ui.notify(`answer: ${await ask("select", ctx)}`, "info"),
	});
	pi.registerCommand("screen", {
		description: "Open a screen of this extension",
		handler: async (_args, ctx) => void (await ask("custom", ctx)),
	});
}

function answer(text: string) {
	return { content: [{ type: "text" as const, text }], details: undefined };
}

/** A custom screen closes with any key. */
async function ask(kind: AskingKind, { ui }: ExtensionContext, signal?: AbortSignal): Promise<unknown> {
	const cut = signal ? { signal } : {};
	switch (kind) {
		case "select":
			return ui.select("Which one?", ["left", "right"], cut);
		case "confirm":
			return ui.confirm("Sure?", "It cannot be undone.", cut);
		case "input":
			return ui.input("What name?", "a name", cut);
		case "editor":
			return ui.editor("What text?", "some text");
		case "custom":
			return ui.custom<string>((_tui, _theme, _keys, done) => {
				const text = new Text("A screen of its own");
				return Object.assign(text, { handleInput: () => done("closed") });
			});
	}
}
