/** The screen that asks before something that cannot be undone. Draws in pi only. */

import type { Frame } from "./frame.ts";
import { Picker } from "./picker.ts";

/** @param does what would happen, beginning with a verb, such as `Remove the key` */
export function confirmation(frame: Frame, does: string, description: string, go: () => unknown): Picker {
	const answers = [
		{ id: "no", label: "No", description: "Go back, nothing happens.", choose: () => frame.back() },
		{
			id: "yes",
			label: "Yes",
			description: `${does}. ${description}`,
			choose: () => {
				frame.back();
				go();
			},
		},
	];
	return new Picker(
		frame,
		`${does}?`,
		answers.map((answer) => ({ ...answer, keywords: "" })),
		"answer",
	);
}
