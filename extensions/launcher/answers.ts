/** What /px says without a terminal, and about names that it does not know. Pure. */

import type { TObject } from "typebox";
import type { PiAction, PiExtension, RegisteredExtensions, SettingsInForce } from "../_shared/registry.ts";
import { pagesOf } from "./extension-pages.ts";
import { fieldsOf, shownValue } from "./fields.ts";
import { orList } from "./plain-text.ts";

export function extensionsText({ extensions, duplicates }: RegisteredExtensions): string {
	const lines = table(extensions.map(({ id, description }) => [id, description]));
	const clash = duplicates.length > 0 ? [duplicatesSentence(duplicates)] : [];
	return ["Extensions:", ...lines, "/px EXTENSION shows what an extension offers.", ...clash].join("\n");
}

/** @param inForce undefined if the extension has no settings */
export function extensionText(extension: PiExtension, inForce: SettingsInForce | undefined): string {
	const { id, name, description, actions, settings, docs } = extension;
	const lines = [`${name}: ${description}`];
	if (actions.length > 0) {
		lines.push(`Actions (/px ${id} ACTION):`);
		lines.push(...table(actions.map((action) => [action.id, actionText(action)])));
	}
	if (settings && inForce) lines.push(settingsText(settings.schema, inForce));
	if (docs !== undefined) lines.push(`Documentation (/px ${id} docs): ${docs}`);
	return lines.join("\n");
}

function actionText({ description, choices = [], dangerous }: PiAction): string {
	const given = choices.filter(({ args }) => args !== "").map(({ args, label }) => `${args} (${label})`);
	const end = /[.!?]$/.test(description) ? "" : ".";
	const takes = given.length > 0 ? `${end} Arguments: ${given.join(", ")}.` : "";
	return description + takes + (dangerous ? " Asks for confirmation." : "");
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
	return `Unknown extension "${id}". Use ${orList(extensions.map((extension) => extension.id))}.`;
}

export function unknownActionSentence(id: string, extension: PiExtension): string {
	const known = [...extension.actions, ...pagesOf(extension)].map((found) => found.id);
	return `${extension.name} has no action "${id}".${known.length > 0 ? ` Use ${orList(known)}.` : ""}`;
}

export function duplicatesSentence(ids: readonly string[]): string {
	const named = orList(ids.map((id) => `"${id}"`));
	return `More than one extension has the id ${named}. /px shows the one loaded first. Remove the other from pi's settings.`;
}

function table(rows: readonly (readonly [string, string])[]): string[] {
	const width = Math.max(...rows.map(([name]) => name.length));
	return rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`);
}
