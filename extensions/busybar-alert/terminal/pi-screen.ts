/** Finds out which of its two screens pi uses, with a widget that is removed before anything is drawn. */

import type { ExtensionUIContext } from "@earendil-works/pi-coding-agent";

const WIDGET_KEY = "busybar-alert-screen";

/**
 * Whether pi itself turns the terminal's focus reports on and off. Its full screen does; its regular screen does not, nor
 * does a pi with only one screen. The answer follows when the user changes screens, and is yes if it is not known.
 * Looks when it is first called, not in the handler that prepares it.
 */
export function focusReportsOfPi(ui: Pick<ExtensionUIContext, "setWidget">): () => boolean {
	let screen: { readonly mode?: string } | undefined;
	return () => {
		if (!screen) {
			ui.setWidget(WIDGET_KEY, (tui) => {
				screen = tui;
				return { render: () => [], invalidate: () => undefined };
			});
			ui.setWidget(WIDGET_KEY, undefined);
		}
		return screen === undefined || screen.mode === "fullscreen";
	};
}
