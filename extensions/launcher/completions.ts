/** Completes what is typed after /px: an extension, then its action or page, then the arguments of the action. Pure. */

import type { AutocompleteItem } from "@earendil-works/pi-tui";
import type { PiExtension } from "../_shared/registry.ts";
import { pagesOf } from "./extension-pages.ts";

/** @returns values that replace everything typed so far; null, as pi expects, if there are none */
export function completions(extensions: readonly PiExtension[], typed: string): AutocompleteItem[] | null {
	const [, extensionId = "", actionId, args] = /^(\S*)(?:\s+(\S*))?(?:\s+(.*))?$/s.exec(typed) ?? [];
	const extension = extensions.find(({ id }) => id === extensionId);
	if (actionId === undefined) return fitting(extensions, extensionId, "");
	if (!extension) return null;
	if (args === undefined) return fitting([...extension.actions, ...pagesOf(extension)], actionId, `${extensionId} `);
	const choices = extension.actions.find(({ id }) => id === actionId)?.choices ?? [];
	const named = choices.map((choice) => ({ id: choice.args, description: choice.label }));
	return fitting(named, args, `${extensionId} ${actionId} `);
}

function fitting(
	rows: readonly { readonly id: string; readonly description: string }[],
	begun: string,
	before: string,
): AutocompleteItem[] | null {
	const fit = rows.filter(({ id }) => id !== "" && id.startsWith(begun));
	// Offering what is already typed would take the Enter that should send it.
	if (fit.every(({ id }) => id === begun)) return null;
	return fit.map(({ id, description }) => ({ value: before + id, label: id, description }));
}
