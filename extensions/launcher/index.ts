/** The command /px: one screen for what the registered extensions offer. Touches pi's UI and, without one, the standard streams. */

import { writeSync } from "node:fs";
import type { EventBus, ExtensionAPI, ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import type { AutocompleteItem } from "@earendil-works/pi-tui";
import {
	announcePxScreen,
	claimPlace,
	type PiAction,
	type PiExtension,
	registeredExtensions,
} from "../_shared/registry.ts";
import { extensionsText, extensionText, unknownActionSentence, unknownExtensionSentence } from "./answers.ts";
import { openExtension, openExtensions } from "./extension-screen.ts";
import { Frame, type Level } from "./frame.ts";
import { messageOf, plainText } from "./plain-text.ts";

export default function launcher(pi: ExtensionAPI): void {
	if (!claimPlace(pi, "launcher")) return;
	let openScreens = 0;
	announcePxScreen(pi, () => openScreens > 0);
	const show: Show = async (ctx, open) => {
		openScreens++;
		try {
			await showScreens(ctx, open);
		} finally {
			openScreens--;
		}
	};
	pi.registerCommand("px", {
		description: "Actions, settings and documentation of extensions",
		getArgumentCompletions: (prefix) => completions(pi.events, prefix),
		handler: async (args, ctx) => {
			try {
				await px(pi.events, args.trim(), ctx, show);
			} catch (error) {
				say(ctx, messageOf(error), "warning");
			}
		},
	});
}

type Show = (ctx: ExtensionCommandContext, open: (frame: Frame) => void) => Promise<void>;

async function px(events: EventBus, given: string, ctx: ExtensionCommandContext, show: Show): Promise<void> {
	const [, extensionId = "", actionId = "", args = ""] = /^(\S*)\s*(\S*)\s*(.*)$/s.exec(given) ?? [];
	const registered = registeredExtensions(events);
	const extension = registered.extensions.find(({ id }) => id === extensionId);
	const action = extension?.actions.find(({ id }) => id === actionId);
	if (extension && action) await runNow(extension, action, args, ctx);
	else if (extension && actionId !== "") say(ctx, unknownActionSentence(actionId, extension), "warning");
	else if (extension && ctx.mode === "tui") await show(ctx, (frame) => openExtension(frame, extension, ctx));
	else if (extension) say(ctx, extensionText(extension, await extension.settings?.load()), "info");
	else if (extensionId !== "") say(ctx, unknownExtensionSentence(extensionId, registered), "warning");
	else if (ctx.mode === "tui" && registered.extensions.length > 0) {
		await show(ctx, (frame) => openExtensions(frame, registered, ctx));
	} else say(ctx, extensionsText(registered), "info");
}

async function runNow(extension: PiExtension, action: PiAction, args: string, ctx: ExtensionCommandContext) {
	if (action.dangerous) {
		if (!ctx.hasUI)
			throw new Error(`${action.label} asks first, and nobody can be asked here. Start it in pi's terminal.`);
		if (!(await ctx.ui.confirm(`${action.label}?`, action.description))) return;
	}
	try {
		const said = await action.run(args, ctx);
		if (said) say(ctx, plainText(said), "info");
	} catch (error) {
		throw new Error(`${extension.name}: ${action.label} failed: ${messageOf(error)}`);
	}
}

/** Resolves once the user has left. */
async function showScreens(ctx: ExtensionCommandContext, open: (frame: Frame) => void): Promise<void> {
	const notify = (text: string, level: Level) => {
		try {
			say(ctx, text, level);
		} catch {
			// pi replaced the session, and with it whoever wanted to know.
		}
	};
	let frame: Frame | undefined;
	let isDisplaced: boolean;
	do {
		isDisplaced = false;
		await ctx.ui.custom<void>((tui, theme, keys, done) => {
			const isNew = frame === undefined;
			frame ??= new Frame({ tui, theme, keys, notify });
			frame.onClose = done;
			frame.onDisplaced = () => {
				isDisplaced = true;
				done();
			};
			if (isNew) open(frame);
			return frame;
		});
	} while (isDisplaced);
}

function say(ctx: ExtensionCommandContext, text: string, level: Level): void {
	if (ctx.hasUI) ctx.ui.notify(text, level);
	// pi redirects stdout in print mode, and in JSON mode stdout is the event stream.
	else writeSync(ctx.mode === "print" ? 1 : 2, `${text}\n`);
}

/** pi puts a completion in the place of all arguments. */
function completions(events: EventBus, prefix: string): AutocompleteItem[] | null {
	const { extensions } = registeredExtensions(events);
	const [extensionId = "", actionPrefix] = prefix.split(/\s+/);
	const items =
		actionPrefix === undefined
			? extensions.map(({ id, description }) => ({ value: id, label: id, description }))
			: (extensions.find(({ id }) => id === extensionId)?.actions ?? []).map(({ id, description }) => ({
					value: `${extensionId} ${id}`,
					label: id,
					description,
				}));
	const fitting = items.filter(({ label }) => label.startsWith(actionPrefix ?? extensionId));
	return fitting.length > 0 ? fitting : null;
}
