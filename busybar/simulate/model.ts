/** What differs between the firmware releases that the simulated bar can be. */

export type ApiChoice = "25" | "27.5";

export interface Model {
	readonly apiSemver: string;
	readonly firmwareVersion: string;
	readonly buildDate: string;
	readonly commitHash: string;
	/** Firmware 1.1.1 said `Bad Request` to everything it did not like, and put the status into the body as `code`. */
	readonly terseErrors: boolean;
	/** Clearing for an application that is not on the screen: 400 since 27, before that a 200 that does nothing. */
	readonly refusesForeignClear: boolean;
}

export const MODELS: Readonly<Record<ApiChoice, Model>> = {
	"25": {
		apiSemver: "25.0.0",
		firmwareVersion: "1.1.1",
		buildDate: "2026-07-29",
		commitHash: "ac59f45c",
		terseErrors: true,
		refusesForeignClear: false,
	},
	"27.5": {
		apiSemver: "27.5.0",
		firmwareVersion: "1.2.4",
		buildDate: "2026-09-11",
		commitHash: "b315346d",
		terseErrors: false,
		refusesForeignClear: true,
	},
};
