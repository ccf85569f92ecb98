/** Finds out which of its two screens pi draws on, by a widget that is gone before anything is drawn. */

import type { ExtensionUIContext } from "@earendil-works/pi-coding-agent";

const WIDGET_KEY = "busybar-alert-screen";

/**
 * Whether pi switches the terminal's focus reports on and off itself: its full screen does; its regular screen, and pi
 * before it had two, does not. The answer follows the user's change of screen. Where it cannot be known, it is yes.
 * Looks when it is asked for the first time, not in the handler that prepares it.
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
