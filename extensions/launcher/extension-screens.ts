/** The list of extensions and the screen of one extension. Draws in pi, runs actions, reads documentation. */

import { readFile } from "node:fs/promises";
import { type ExtensionCommandContext, getMarkdownTheme } from "@earendil-works/pi-coding-agent";
import { Markdown, Text } from "@earendil-works/pi-tui";
import type { PiAction, PiExtension, PiExtensionSettings, RegisteredExtensions } from "../_shared/registry.ts";
import { duplicatesSentence } from "./answers.ts";
import { confirmation } from "./confirmation.ts";
import { type ExtensionPage, pagesOf } from "./extension-pages.ts";
import { type Frame, MESSAGE_ROWS_AT_MOST } from "./frame.ts";
import { type Choice, Picker } from "./picker.ts";
import { messageOf, plainText } from "./plain-text.ts";
import { SettingsScreen } from "./settings-screen.ts";

export function openExtensions(
	frame: Frame,
	{ extensions, duplicates }: RegisteredExtensions,
	ctx: ExtensionCommandContext,
): void {
	const choices = extensions.map(
		(extension): Choice => ({
			id: extension.id,
			label: extension.name,
			description: extension.description,
			choose: () => openExtension(frame, extension, ctx),
		}),
	);
	frame.open(new Picker(frame, "Extensions", choices, "open"));
	if (duplicates.length > 0) frame.report(duplicatesSentence(duplicates), "warning");
}

/** @param onTop a page to open on top of it */
export function openExtension(
	frame: Frame,
	extension: PiExtension,
	ctx: ExtensionCommandContext,
	onTop?: ExtensionPage,
): void {
	const actions = extension.actions.map(
		(action): Choice => ({
			...action,
			choose() {
				if (frame.running === undefined) openAction(frame, extension, action, ctx);
				else frame.report(`${frame.running} is still running. Wait until it has finished.`, "info");
			},
		}),
	);
	const pages = pagesOf(extension).map((page): Choice => ({ ...page, choose: () => openPage(frame, page) }));
	frame.open(new Picker(frame, extension.name, [...actions, ...pages], "open"));
	if (onTop) openPage(frame, onTop);
}

function openPage(frame: Frame, page: ExtensionPage): void {
	if (page.id === "settings") void openSettings(frame, page.settings);
	else void openDocument(frame, page.docs);
}

/** First the user picks the arguments, if there are any; then a dangerous action asks for confirmation. */
function openAction(frame: Frame, extension: PiExtension, action: PiAction, ctx: ExtensionCommandContext): void {
	const ask = (does: string, go: () => void) => {
		if (action.dangerous) frame.open(confirmation(frame, does, action.description, go));
		else go();
	};
	if (!action.choices?.length) {
		ask(action.label, () => void run(frame, action, "", ctx));
		return;
	}
	const choices = action.choices.map(
		({ args, label }): Choice => ({
			id: args,
			label,
			description: `Same as /px ${extension.id} ${action.id} ${args}`.trimEnd(),
			choose: () =>
				ask(`${action.label}: ${label}`, () => {
					frame.back();
					void run(frame, action, args, ctx);
				}),
		}),
	);
	frame.open(new Picker(frame, action.label, choices, "choose"));
}

/** Never rejects. */
async function run(frame: Frame, action: PiAction, args: string, ctx: ExtensionCommandContext): Promise<void> {
	frame.running = action.label;
	frame.report(`${action.label} is running…`, "info");
	try {
		const said = await action.run(args, ctx);
		frame.running = undefined;
		frame.comeBack();
		tell(frame, action.label, said === undefined || said === "" ? `${action.label} has finished.` : plainText(said));
	} catch (error) {
		frame.running = undefined;
		frame.comeBack();
		frame.report(`${action.label} failed: ${messageOf(error)}`, "warning");
	}
}

/** A long answer gets its own screen if the user is still here. */
function tell(frame: Frame, title: string, text: string): void {
	if (text.split("\n").length > MESSAGE_ROWS_AT_MOST && frame.isInUse) {
		frame.openText(title, new Text(text, 0, 0));
	} else frame.report(text, "info");
}

async function openSettings(frame: Frame, settings: PiExtensionSettings): Promise<void> {
	try {
		const inForce = await settings.load();
		if (frame.isInUse) frame.open(new SettingsScreen(frame, settings, inForce));
	} catch (error) {
		frame.report(`Could not read the settings: ${messageOf(error)}`, "warning");
	}
}

async function openDocument(frame: Frame, path: string): Promise<void> {
	try {
		const text = await documentText(path);
		if (frame.isInUse) frame.openText("Documentation", new Markdown(text, 0, 0, getMarkdownTheme()));
	} catch (error) {
		frame.report(messageOf(error), "warning");
	}
}

/** Rejects with a sentence for the user. */
export async function documentText(path: string): Promise<string> {
	try {
		return plainText(await readFile(path, "utf8"));
	} catch (error) {
		throw new Error(`Could not read the documentation: ${messageOf(error)}`);
	}
}
