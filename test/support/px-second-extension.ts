// A second, small pi extension for /px. PX_SECOND_ID sets its id.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { registerPiExtension } from "../../extensions/_shared/registry.ts";

export default function second(pi: ExtensionAPI): void {
	registerPiExtension(pi, {
		id: process.env.PX_SECOND_ID ?? "second",
		name: "Second",
		description: "The other one.",
		actions: [{ id: "tick", label: "Tick", description: "Tick once.", run: async () => "Tock." }],
	});
}
