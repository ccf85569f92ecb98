/** The pages that an extension has besides its actions: its settings and its documentation. Pure. */

import type { PiExtension, PiExtensionSettings } from "../_shared/registry.ts";

/** `id` is its name in commands, as in `/px EXTENSION docs`. */
export type ExtensionPage = { readonly label: string; readonly description: string } & (
	| { readonly id: "settings"; readonly settings: PiExtensionSettings }
	| { readonly id: "docs"; readonly docs: string }
);

export function pagesOf({ settings, docs }: PiExtension): readonly ExtensionPage[] {
	const pages: ExtensionPage[] = [];
	if (settings)
		pages.push({ id: "settings", label: "Settings", description: "View and change the settings.", settings });
	if (docs)
		pages.push({ id: "docs", label: "Documentation", description: "Read what it does and how to use it.", docs });
	return pages;
}
