/** What /px says in words: without a terminal, and about names it does not know. Pure. */

import type { PiExtension, RegisteredExtensions, SettingsInForce } from "../_shared/registry.ts";
import { fieldsOf, shownValue } from "./fields.ts";

export function extensionsText({ extensions, duplicates }: RegisteredExtensions): string {
	if (extensions.length === 0) return "No extension has anything in /px.";
	const lines = table(extensions.map(({ id, description }) => [id, description]));
	const clash = duplicates.length > 0 ? [duplicatesSentence(duplicates)] : [];
	return ["Extensions:", ...lines, "/px EXTENSION shows what it can do.", ...clash].join("\n");
}

/** @param inForce undefined if it has no settings */
export function extensionText(extension: PiExtension, inForce: SettingsInForce | undefined): string {
	const { id, name, description, actions, settings, docs } = extension;
	const lines = [`${name}: ${description}`];
	if (actions.length > 0) {
		const asks = (dangerous: boolean | undefined) => (dangerous ? " Asks first." : "");
		lines.push(`Actions, as in /px ${id} ACTION:`);
		lines.push(...table(actions.map((action) => [action.id, action.description + asks(action.dangerous)])));
	}
	if (settings && inForce) {
		const rows = fieldsOf(settings.schema).map((field) => {
			const note = inForce.notes[field.name];
			const value = shownValue(field, inForce.values[field.name]);
			return [field.name, note === undefined ? value : `${value}  (${note})`] as const;
		});
		lines.push("Settings:", ...table(rows));
	}
	if (docs !== undefined) lines.push(`Documentation: ${docs}`);
	return lines.join("\n");
}

export function unknownExtensionSentence(id: string, { extensions }: RegisteredExtensions): string {
	return `/px knows no extension "${id}". ${thereAre(extensions.map((extension) => extension.id))}`;
}

export function unknownActionSentence(id: string, extension: PiExtension): string {
	return `${extension.name} has no action "${id}". ${thereAre(extension.actions.map((action) => action.id))}`;
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
