// A pi extension whose commands do to this pi what a machine does now and then: its event loop stands still, its clock jumps.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function unruly(pi: ExtensionAPI): void {
	pi.registerCommand("block", {
		description: "Block the event loop for so many milliseconds",
		handler: async (args) => {
			const end = performance.now() + Number(args);
			while (performance.now() < end);
		},
	});
	pi.registerCommand("clock", {
		description: "Set the clock on the wall by so many milliseconds",
		handler: async (args) => {
			const shiftMs = Number(args);
			const System = Date;
			// All of pi's code asks the global for the time.
			globalThis.Date = class extends System {
				constructor(...given: [] | [number | string | Date]) {
					super(...((given.length === 0 ? [System.now() + shiftMs] : given) as [number]));
				}
				static override now(): number {
					return System.now() + shiftMs;
				}
			} as DateConstructor;
		},
	});
}
