/** The settings as one schema: types, defaults, ranges, texts, environment variables. Pure; /px and the README come from it. */

import { type Static, type TSchema, Type } from "typebox";

/** What a field says about itself beyond JSON Schema. */
interface FieldTexts {
	readonly title: string;
	readonly description: string;
	/** Completes "must be ...". */
	readonly rule: string;
	readonly group: "When" | "Bar" | "Patterns" | "Quiet" | "Advanced";
	/** The environment variable that stands in for a value that is not saved. */
	readonly environment?: string;
	/** Never shown, quoted or logged. */
	readonly secret?: true;
}

export const ALERTS = ["turn", "done", "error", "question"] as const;
export type Alert = (typeof ALERTS)[number];

/** `spinner` and `pulse` are drawn by the CLI, the others are frames in `patterns/`. */
export const PATTERNS = ["spinner", "pulse", "check", "cross", "question"] as const;
export type Pattern = (typeof PATTERNS)[number];

const HOST = "(?:[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?|\\[[0-9A-Fa-f:.]+\\])";
const PORT = "(?::(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?";
const ABSOLUTE_PATH = "(?:/|[A-Za-z]:[\\\\/]|\\\\\\\\)[^\\x00-\\x1f\\x7f]*";
const TIME = "(?:[01][0-9]|2[0-3]):[0-5][0-9]";

const pattern = (preset: Pattern, title: string, description: string) =>
	Type.String({
		pattern: `^(?:${[...PATTERNS, "off"].join("|")}|${ABSOLUTE_PATH})$`,
		maxLength: 4_096,
		default: preset,
		...({
			title,
			description,
			rule: `one of ${[...PATTERNS, "off"].join(", ")}, or the absolute path of a folder with frame_0.png ... or of an .anim file`,
			group: "Patterns",
		} satisfies FieldTexts),
	});

const boolean = (preset: boolean, texts: Omit<FieldTexts, "rule">) =>
	Type.Boolean({ default: preset, ...texts, rule: "true or false" });

export const settingsSchema = Type.Object({
	enabled: boolean(true, {
		title: "Alerts",
		description: "If off, nothing happens at all, not even a log row.",
		group: "When",
	}),
	alertOn: Type.Enum(["turn_end", "agent_settled"], {
		default: "turn_end",
		...({
			title: "Alert on",
			description: "`turn_end`: after every turn, and the verdict at the end. `agent_settled`: only the verdict.",
			rule: "turn_end or agent_settled",
			group: "When",
		} satisfies FieldTexts),
	}),
	minIntervalMs: Type.Integer({
		minimum: 0,
		maximum: 60_000,
		default: 2_000,
		...({
			title: "Least interval (ms)",
			description: "A `turn` alert within this time after the last alert is not shown.",
			rule: "a whole number from 0 to 60000",
			group: "When",
		} satisfies FieldTexts),
	}),
	holdSeconds: Type.Number({
		minimum: 0.5,
		maximum: 3_600,
		default: 3,
		...({
			title: "Hold (s)",
			description: "How long an alert stays on the bar.",
			rule: "a number from 0.5 to 3600",
			group: "When",
		} satisfies FieldTexts),
	}),
	questionHoldSeconds: Type.Number({
		minimum: 5,
		maximum: 3_600,
		default: 1_800,
		...({
			title: "Hold a question (s)",
			description: "How long a question stays on the bar if nobody answers it.",
			rule: "a number from 5 to 3600",
			group: "When",
		} satisfies FieldTexts),
	}),
	addr: Type.String({
		pattern: `^${HOST}${PORT}$`,
		maxLength: 255,
		default: "10.0.4.20",
		...({
			title: "Address",
			description: "Where the bar answers; 10.0.4.20 is its address over USB.",
			rule: "a host or host:port, such as 10.0.4.20 or busybar.local:80",
			group: "Bar",
			environment: "BUSYBAR_ADDR",
		} satisfies FieldTexts),
	}),
	token: Type.String({
		pattern: "^[\\x21-\\x7e]*$",
		maxLength: 256,
		default: "",
		...({
			title: "Access key",
			description: "Only if the bar asks for one over Wi-Fi.",
			rule: "printable text without spaces, at most 256 characters",
			group: "Bar",
			environment: "BUSYBAR_TOKEN",
			secret: true,
		} satisfies FieldTexts),
	}),
	applicationName: Type.String({
		// It names a folder on the bar: `..` would be its parent.
		pattern: "^(?!\\.+$)[A-Za-z0-9._-]{1,31}$",
		default: "pi-turn-alert",
		...({
			title: "Application name",
			description: "The owner of what we draw; only our own drawing is ever cleared.",
			rule: "1 to 31 characters of A-Z a-z 0-9 . _ - and not only dots",
			group: "Bar",
		} satisfies FieldTexts),
	}),
	display: Type.Enum(["front", "back"], {
		default: "front",
		...({
			title: "Display",
			description: "Front 72x16 colour, back 160x80 grey.",
			rule: "front or back",
			group: "Bar",
		} satisfies FieldTexts),
	}),
	priority: Type.Integer({
		minimum: 1,
		maximum: 100,
		default: 60,
		...({
			title: "Priority",
			description: "An alert replaces what was drawn with a lower one. Nothing overrides a BUSY timer.",
			rule: "a whole number from 1 to 100",
			group: "Bar",
		} satisfies FieldTexts),
	}),
	pattern: pattern("spinner", "Turn", "A working turn ended."),
	patternDone: pattern("check", "Done", "The run is over."),
	patternError: pattern("cross", "Error", "The run ended in an error."),
	patternQuestion: pattern("question", "Question", "pi waits for an answer."),
	minRunSeconds: Type.Number({
		minimum: 0,
		maximum: 3_600,
		default: 0,
		...({
			title: "Shortest run (s)",
			description: "A run that took less gives no alert; questions always do.",
			rule: "a number from 0 to 3600",
			group: "Quiet",
		} satisfies FieldTexts),
	}),
	onlyWhenUnfocused: boolean(false, {
		title: "Only when I look away",
		description: "If on, no alert while the terminal that pi runs in has the focus.",
		group: "Quiet",
	}),
	quietHours: Type.String({
		pattern: `^(?:|${TIME}-${TIME})$`,
		default: "",
		...({
			title: "Quiet hours",
			description: "No alerts between these local times, such as 22:00-08:00. Empty, or equal times: off.",
			rule: "HH:MM-HH:MM, such as 22:00-08:00, or empty",
			group: "Quiet",
		} satisfies FieldTexts),
	}),
	headless: boolean(false, {
		title: "Alerts from pi -p",
		description: "If on, print and JSON mode show the verdict of a run too. pis started by another pi never do.",
		group: "Quiet",
	}),
	statusLine: Type.Enum(["always", "problems", "never"], {
		default: "always",
		...({
			title: "Status line",
			description: "What pi's footer says about the bar.",
			rule: "always, problems or never",
			group: "Advanced",
		} satisfies FieldTexts),
	}),
	clearOnShutdown: boolean(true, {
		title: "Clear on quit",
		description: "If off, an alert outlasts pi until its time is up. Always on with a CLI that cannot let it expire.",
		group: "Advanced",
	}),
	command: Type.String({
		pattern: `^(?:|bundled|${ABSOLUTE_PATH})$`,
		maxLength: 4_096,
		default: "",
		...({
			title: "busybar command",
			description: "Empty: a compatible `busybar` on PATH, else the bundled one.",
			rule: 'an absolute path, "bundled", or empty',
			group: "Advanced",
			environment: "BUSYBAR_COMMAND",
		} satisfies FieldTexts),
	}),
});

export type Settings = Static<typeof settingsSchema>;
export type SettingName = keyof Settings;

/** Which setting names the picture of which alert. */
export const PATTERN_SETTING = {
	turn: "pattern",
	done: "patternDone",
	error: "patternError",
	question: "patternQuestion",
} as const satisfies Record<Alert, SettingName>;

export const PATTERN_SETTINGS = Object.values(PATTERN_SETTING);

/** A pattern that is not one of ours but names a file or folder of the user's. */
export function isOwnPicture(pattern: string): boolean {
	return pattern !== "off" && !PATTERNS.some((name) => name === pattern);
}

/** Each pattern that some alert shows, once. */
export function chosenPatterns(values: Settings): readonly string[] {
	return [...new Set(PATTERN_SETTINGS.map((name) => values[name]))].filter((pattern) => pattern !== "off");
}

export const SETTING_NAMES = Object.keys(settingsSchema.properties) as SettingName[];

/** A field's schema with its texts. */
export function settingField(
	name: SettingName,
): TSchema & FieldTexts & { readonly default: string | number | boolean } {
	return settingsSchema.properties[name] as unknown as ReturnType<typeof settingField>;
}
