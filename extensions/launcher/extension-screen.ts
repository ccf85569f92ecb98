/** The screens that lead to an extension, and the screen of one. Draws in pi, runs actions, reads the document. */

import { readFile } from "node:fs/promises";
import { type ExtensionCommandContext, getMarkdownTheme } from "@earendil-works/pi-coding-agent";
import { Markdown, Text } from "@earendil-works/pi-tui";
import type { PiAction, PiExtension, PiExtensionSettings, RegisteredExtensions } from "../_shared/registry.ts";
import { duplicatesSentence } from "./answers.ts";
import { confirmation } from "./confirmation.ts";
import { type Frame, MESSAGE_ROWS_AT_MOST } from "./frame.ts";
import { Page } from "./page.ts";
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
			keywords: `${extension.id} ${extension.description}`,
			choose: () => openExtension(frame, extension, ctx),
		}),
	);
	frame.open(new Picker(frame, "Extensions", choices, "open"));
	if (duplicates.length > 0) frame.report(duplicatesSentence(duplicates), "warning");
}

export function openExtension(frame: Frame, extension: PiExtension, ctx: ExtensionCommandContext): void {
	const { actions, settings, docs } = extension;
	const running = new Set<PiAction>();
	const start = async (action: PiAction) => {
		running.add(action);
		await run(frame, action, ctx);
		running.delete(action);
	};
	const choices = actions.map((action) =>
		choice(`action ${action.id}`, action.label, action.description, () => {
			if (running.has(action)) frame.report(`${action.label} is still running.`, "info");
			else if (!action.dangerous) void start(action);
			else frame.open(confirmation(frame, action.label, action.description, () => void start(action)));
		}),
	);
	if (settings) {
		choices.push(choice("settings", "Settings", "See and change them.", () => void openSettings(frame, settings)));
	}
	if (docs !== undefined) {
		choices.push(choice("docs", "Documentation", "Read what it does and how.", () => void openDocument(frame, docs)));
	}
	frame.open(new Picker(frame, extension.name, choices, "open"));
}

function choice(id: string, label: string, description: string, choose: () => void): Choice {
	return { id, label, description, keywords: `${id} ${description}`, choose };
}

/** Never rejects. */
async function run(frame: Frame, action: PiAction, ctx: ExtensionCommandContext): Promise<void> {
	frame.report(`${action.label} …`, "info");
	try {
		const said = await action.run("", ctx);
		frame.comeBack();
		tell(frame, action.label, said === undefined || said === "" ? `${action.label}: done.` : plainText(said));
	} catch (error) {
		frame.comeBack();
		frame.report(`${action.label} failed: ${messageOf(error)}`, "warning");
	}
}

/** A long answer gets a screen of its own, if the user is still there. */
function tell(frame: Frame, title: string, text: string): void {
	if (text.split("\n").length > MESSAGE_ROWS_AT_MOST && frame.isInUse) {
		frame.open(new Page(frame, title, new Text(text, 0, 0)));
	} else frame.report(text, "info");
}

async function openSettings(frame: Frame, settings: PiExtensionSettings): Promise<void> {
	try {
		const inForce = await settings.load();
		if (frame.isInUse) frame.open(new SettingsScreen(frame, settings, inForce));
	} catch (error) {
		frame.report(`The settings cannot be read: ${messageOf(error)}`, "warning");
	}
}

async function openDocument(frame: Frame, path: string): Promise<void> {
	try {
		const text = plainText(await readFile(path, "utf8"));
		if (frame.isInUse) frame.open(new Page(frame, "Documentation", new Markdown(text, 0, 0, getMarkdownTheme())));
	} catch (error) {
		frame.report(`The document cannot be read: ${messageOf(error)}`, "warning");
	}
}
