/** The screen that asks before something that cannot be undone. Draws in pi only. */

import type { Frame } from "./frame.ts";
import { type Choice, Picker } from "./picker.ts";

/** @param does what would happen, beginning with a verb, such as `Remove the key` */
export function confirmation(frame: Frame, does: string, description: string, go: () => unknown): Picker {
	const no: Choice = {
		id: "no",
		label: "No",
		description: "Go back, nothing happens.",
		choose: () => frame.back(),
	};
	const yes: Choice = {
		id: "yes",
		label: "Yes",
		description: `${does}. ${description}`,
		choose: () => {
			frame.back();
			go();
		},
	};
	return new Picker(frame, `${does}?`, [no, yes], "answer");
}
