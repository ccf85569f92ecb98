/** The differences between the firmware versions that can be simulated. */

export type ApiChoice = "25" | "27.5";

export interface Model {
	readonly apiSemver: string;
	readonly firmwareVersion: string;
	readonly buildDate: string;
	readonly commitHash: string;
	/** Firmware 1.1.1 answers every 400 with `Bad Request`, and repeats the status in the body as `code`. */
	readonly terseErrors: boolean;
	/** If another application has drawn, a clear is answered with 400 since API 27; before, with 200 and without effect. */
	readonly refusesForeignClear: boolean;
	/** A clear can name single elements. */
	readonly hasElementIds: boolean;
}

export const MODELS: Readonly<Record<ApiChoice, Model>> = {
	"25": {
		apiSemver: "25.0.0",
		firmwareVersion: "1.1.1",
		buildDate: "2026-07-29",
		commitHash: "ac59f45c",
		terseErrors: true,
		refusesForeignClear: false,
		hasElementIds: false,
	},
	"27.5": {
		apiSemver: "27.5.0",
		firmwareVersion: "1.2.4",
		buildDate: "2026-09-11",
		commitHash: "b315346d",
		terseErrors: false,
		refusesForeignClear: true,
		hasElementIds: true,
	},
};
