/** The pages that an extension has beside its actions, by the names that they have in commands. Pure. */

import type { PiExtension } from "../_shared/registry.ts";

const PAGES = [
	{ id: "settings", label: "Settings", description: "See and change them." },
	{ id: "docs", label: "Documentation", description: "Read what it does and how." },
] as const;

export type ExtensionPage = (typeof PAGES)[number];

export function pagesOf(extension: PiExtension): readonly ExtensionPage[] {
	return PAGES.filter(({ id }) => extension[id] !== undefined);
}
