/** What /px says in words: without a terminal, and about names it does not know. Pure. */

import type { TObject } from "typebox";
import type { PiAction, PiExtension, RegisteredExtensions, SettingsInForce } from "../_shared/registry.ts";
import { pagesOf } from "./extension-pages.ts";
import { fieldsOf, shownValue } from "./fields.ts";

export function extensionsText({ extensions, duplicates }: RegisteredExtensions): string {
	const lines = table(extensions.map(({ id, description }) => [id, description]));
	const clash = duplicates.length > 0 ? [duplicatesSentence(duplicates)] : [];
	return ["Extensions:", ...lines, "/px EXTENSION shows what it can do.", ...clash].join("\n");
}

/** @param inForce undefined if it has no settings */
export function extensionText(extension: PiExtension, inForce: SettingsInForce | undefined): string {
	const { id, name, description, actions, settings, docs } = extension;
	const lines = [`${name}: ${description}`];
	if (actions.length > 0) {
		lines.push(`Actions, as in /px ${id} ACTION:`);
		lines.push(...table(actions.map((action) => [action.id, actionText(action)])));
	}
	if (settings && inForce) lines.push(settingsText(settings.schema, inForce));
	if (docs !== undefined) lines.push(`Documentation, as in /px ${id} docs: ${docs}`);
	return lines.join("\n");
}

function actionText({ description, choices = [], dangerous }: PiAction): string {
	const given = choices.filter(({ args }) => args !== "").map(({ args, label }) => `${args} (${label})`);
	const end = /[.!?]$/.test(description) ? "" : ".";
	const takes = given.length > 0 ? `${end} Takes ${given.join(", ")}.` : "";
	return description + takes + (dangerous ? " Asks first." : "");
}

export function settingsText(schema: TObject, inForce: SettingsInForce): string {
	const rows = fieldsOf(schema).map((field) => {
		const note = inForce.notes[field.name];
		const value = shownValue(field, inForce.values[field.name]);
		return [field.name, note === undefined ? value : `${value}  (${note})`] as const;
	});
	return ["Settings:", ...table(rows)].join("\n");
}

export function unknownExtensionSentence(id: string, { extensions }: RegisteredExtensions): string {
	return `/px knows no extension "${id}". ${thereAre(extensions.map((extension) => extension.id))}`;
}

export function unknownActionSentence(id: string, extension: PiExtension): string {
	const { name, actions } = extension;
	return `${name} has no action "${id}". ${thereAre([...actions, ...pagesOf(extension)].map((found) => found.id))}`;
}

export function duplicatesSentence(ids: readonly string[]): string {
	const named = ids.map((id) => `"${id}"`).join(", ");
	return `More than one extension calls itself ${named}; the one loaded first is shown. Remove the other from pi's settings.`;
}

function thereAre(ids: readonly string[]): string {
	return ids.length === 0 ? "There is none." : `Use ${ids.join(", ")}.`;
}

function table(rows: readonly (readonly [string, string])[]): string[] {
	const width = Math.max(...rows.map(([name]) => name.length));
	return rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`);
}
