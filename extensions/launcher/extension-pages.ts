/** The pages that an extension has beside its actions, by the names that they have in commands. Pure. */

import type { PiExtension, PiExtensionSettings } from "../_shared/registry.ts";

export type ExtensionPage = { readonly label: string; readonly description: string } & (
	| { readonly id: "settings"; readonly settings: PiExtensionSettings }
	| { readonly id: "docs"; readonly docs: string }
);

export function pagesOf({ settings, docs }: PiExtension): readonly ExtensionPage[] {
	const pages: ExtensionPage[] = [];
	if (settings) pages.push({ id: "settings", label: "Settings", description: "See and change them.", settings });
	if (docs) pages.push({ id: "docs", label: "Documentation", description: "Read what it does and how.", docs });
	return pages;
}
