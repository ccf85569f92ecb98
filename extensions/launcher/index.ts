/** The command /px. Uses pi's UI or, without one, the standard streams. */

import { fileURLToPath } from "node:url";
import type { EventBus, ExtensionAPI, ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import {
	announcePxScreen,
	claimPlace,
	type PiAction,
	type PiExtension,
	type RegisteredExtensions,
	registeredExtensions,
} from "../_shared/registry.ts";
import { type Level, say } from "../_shared/say.ts";
import {
	extensionsText,
	extensionText,
	settingsText,
	unknownActionSentence,
	unknownExtensionSentence,
} from "./answers.ts";
import { completions } from "./completions.ts";
import { type ExtensionPage, pagesOf } from "./extension-pages.ts";
import { documentText, openExtension, openExtensions } from "./extension-screens.ts";
import { Frame } from "./frame.ts";
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
		description: "Actions, settings and documentation of your extensions",
		getArgumentCompletions: (prefix) => completions(listedExtensions(pi.events).extensions, prefix),
		handler: async (args, ctx) => {
			try {
				await px(pi.events, args.trim(), ctx, show);
			} catch (error) {
				say(ctx, messageOf(error), "warning");
			}
		},
	});
}

const ITSELF: PiExtension = {
	id: "px",
	name: "/px",
	description: "How to use /px, and how to add an extension to it.",
	actions: [],
	docs: fileURLToPath(new URL("./README.md", import.meta.url)),
};

/** /px itself comes last. */
function listedExtensions(events: EventBus): RegisteredExtensions {
	const { extensions, duplicates } = registeredExtensions(events);
	return { extensions: [...extensions, ITSELF], duplicates };
}

type Show = (ctx: ExtensionCommandContext, open: (frame: Frame) => void) => Promise<void>;

async function px(events: EventBus, given: string, ctx: ExtensionCommandContext, show: Show): Promise<void> {
	const [, extensionId = "", actionId = "", args = ""] = /^(\S*)\s*(\S*)\s*(.*)$/s.exec(given) ?? [];
	const registered = listedExtensions(events);
	const extension = registered.extensions.find(({ id }) => id === extensionId);
	if (extensionId === "") {
		if (ctx.mode === "tui") await show(ctx, (frame) => openExtensions(frame, registered, ctx));
		else say(ctx, extensionsText(registered), "info");
		return;
	}
	if (!extension) return say(ctx, unknownExtensionSentence(extensionId, registered), "warning");
	const action = extension.actions.find(({ id }) => id === actionId);
	if (action) return runNow(extension, action, args, ctx);
	const page = pagesOf(extension).find(({ id }) => id === actionId);
	if (actionId !== "" && !page) return say(ctx, unknownActionSentence(actionId, extension), "warning");
	if (ctx.mode === "tui") await show(ctx, (frame) => openExtension(frame, extension, ctx, page));
	else say(ctx, page ? await pageText(page) : extensionText(extension, await extension.settings?.load()), "info");
}

async function pageText(page: ExtensionPage): Promise<string> {
	if (page.id === "docs") return documentText(page.docs);
	return settingsText(page.settings.schema, await page.settings.load());
}

async function runNow(extension: PiExtension, action: PiAction, args: string, ctx: ExtensionCommandContext) {
	if (action.dangerous) {
		if (!ctx.hasUI)
			throw new Error(`${action.label} asks for confirmation, which is not possible here. Run it in pi's terminal.`);
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
	const notify = (text: string, level: Level) => say(ctx, text, level);
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
