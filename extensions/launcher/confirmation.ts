/** The screen that asks before something that cannot be undone. Draws in pi only. */

import type { Frame } from "./frame.ts";
import { type Choice, Picker } from "./picker.ts";

/**
 * @param does what would happen, such as `Remove the key`
 * @param description what that means for the user
 */
export function confirmation(frame: Frame, does: string, description: string, go: () => unknown): Picker {
	const no: Choice = {
		id: "no",
		label: "No",
		description: "Go back without doing anything.",
		choose: () => frame.back(),
	};
	const yes: Choice = {
		id: "yes",
		label: "Yes",
		description,
		choose: () => {
			frame.back();
			go();
		},
	};
	return new Picker(frame, `${does}?`, [no, yes], "choose");
}
