// A pi extension that gives pi an offline model which says what a script tells it to.
// Reads the JSON file named in PI_SCRIPTED_MODEL, and writes one beside it once pi has started; no key, no network.

import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import {
	type FauxContentBlock,
	fauxAssistantMessage,
	fauxProvider,
	fauxText,
	fauxToolCall,
	type ToolCall,
} from "@earendil-works/pi-ai";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

/** One answer of the model. Without `toolCalls` and `error` the run ends with it. */
export interface ScriptedStep {
	readonly text?: string;
	readonly toolCalls?: readonly { readonly name: string; readonly args: ToolCall["arguments"] }[];
	/** The request fails with this message. pi retries what reads like `529 overloaded`, not `invalid request`. */
	readonly error?: string;
	/** How long the model thinks before it answers; Esc cuts it short. */
	readonly delayMs?: number;
	/** How fast text and tool calls stream in; without it, at once. */
	readonly tokensPerSecond?: number;
}

const PROVIDER = { provider: "faux", api: "faux" };

// An interactive user may go on typing after the script.
const SCRIPT_IS_OVER: ScriptedStep = { text: "That was the end of my script." };

export default function scriptedModel(pi: ExtensionAPI): void {
	const { provider } = fauxProvider(PROVIDER);
	const streamSimple: typeof provider.streamSimple = (model, context, options) => {
		const step = takeStep();
		const faux = fauxProvider({ ...PROVIDER, ...(step.tokensPerSecond && { tokensPerSecond: step.tokensPerSecond }) });
		faux.setResponses([
			async () => {
				const cut = options?.signal ? { signal: options.signal } : {};
				// An aborted wait needs no answer of its own: the provider looks at the signal before it streams.
				await delay(step.delayMs ?? 0, undefined, cut).catch(() => undefined);
				return answerOf(step);
			},
		]);
		return faux.provider.streamSimple(model, context, options);
	};
	pi.registerProvider({ ...provider, streamSimple });
	// The first event after the last handler of session_start.
	pi.on("resources_discover", () => {
		const file = process.env.PI_SCRIPTED_MODEL;
		if (file !== undefined) writeFileSync(`${file}.started`, "");
	});
}

// The position outlives /reload and /new, which import this module or run its factory again.
function takeStep(): ScriptedStep {
	const process = globalThis as { [POSITION]?: number };
	const position = process[POSITION] ?? 0;
	process[POSITION] = position + 1;
	return readScript()[position] ?? SCRIPT_IS_OVER;
}

const POSITION = Symbol.for("pi-busybar-alert.test.scripted-model.position");

function readScript(): ScriptedStep[] {
	const file = process.env.PI_SCRIPTED_MODEL;
	return file === undefined ? [] : JSON.parse(readFileSync(file, "utf8"));
}

function answerOf(step: ScriptedStep) {
	const content: FauxContentBlock[] = [];
	if (step.text !== undefined) content.push(fauxText(step.text));
	for (const call of step.toolCalls ?? []) content.push(fauxToolCall(call.name, call.args));
	if (step.error !== undefined) return fauxAssistantMessage(content, { stopReason: "error", errorMessage: step.error });
	return fauxAssistantMessage(content, { stopReason: step.toolCalls?.length ? "toolUse" : "stop" });
}
