/** The settings as one schema: types, defaults, ranges, texts, environment variables. Pure; /px and the READMEs use it. */

import { type Static, type TSchema, Type } from "typebox";

/** What describes a field beyond JSON Schema. */
interface FieldTexts {
	readonly title: string;
	readonly description: string;
	/** Completes "must be ...". */
	readonly rule: string;
	readonly group: "When" | "Bar" | "Patterns" | "Quiet" | "Advanced";
	/** The environment variable that is used when no value is saved. */
	readonly environment?: string;
	/** Never shown, quoted or logged. */
	readonly secret?: true;
}

export const ALERTS = ["turn", "done", "error", "question"] as const;
export type Alert = (typeof ALERTS)[number];

/** The CLI draws `spinner` and `pulse`; the others are frames in `patterns/`. */
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
			rule: `${[...PATTERNS, "off"].join(", ")}, or the absolute path of an .anim file or of a folder with frame_0.png, frame_1.png and so on`,
			group: "Patterns",
		} satisfies FieldTexts),
	});

const boolean = (preset: boolean, texts: Omit<FieldTexts, "rule">) =>
	Type.Boolean({ default: preset, ...texts, rule: "true or false" });

export const settingsSchema = Type.Object({
	enabled: boolean(true, {
		title: "Alerts",
		description: "Turns all alerts on or off. While they are off, nothing is logged either.",
		group: "When",
	}),
	alertOn: Type.Enum(["turn_end", "agent_settled"], {
		default: "turn_end",
		...({
			title: "Alert on",
			description: "`turn_end`: every turn, and the verdict of the run. `agent_settled`: only the verdict.",
			rule: "turn_end or agent_settled",
			group: "When",
		} satisfies FieldTexts),
	}),
	minIntervalMs: Type.Integer({
		minimum: 0,
		maximum: 60_000,
		default: 2_000,
		...({
			title: "Minimum gap between alerts (ms)",
			description: "A `turn` alert is skipped if it comes sooner than this after the last alert.",
			rule: "a whole number from 0 to 60000",
			group: "When",
		} satisfies FieldTexts),
	}),
	holdSeconds: Type.Number({
		minimum: 0.5,
		maximum: 3_600,
		default: 3,
		...({
			title: "Hold time (s)",
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
			title: "Question hold time (s)",
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
			description: "The address of the bar. Over USB it is 10.0.4.20.",
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
			description: "Needed only if the bar asks for one, usually over Wi-Fi.",
			rule: "at most 256 printable ASCII characters, without spaces",
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
			description: "The name that alerts are drawn under. No drawing under another name is ever cleared.",
			rule: "1 to 31 letters (A-Z, a-z), digits, dots, underscores and hyphens, and not only dots",
			group: "Bar",
		} satisfies FieldTexts),
	}),
	display: Type.Enum(["front", "back"], {
		default: "front",
		...({
			title: "Display",
			description: "`front`: 72x16, colour. `back`: 160x80, grey.",
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
			description:
				"An alert replaces another application's drawing that has a lower priority. Nothing overrides a BUSY timer.",
			rule: "a whole number from 1 to 100",
			group: "Bar",
		} satisfies FieldTexts),
	}),
	pattern: pattern("spinner", "Turn", "Shown when pi used a tool and carries on."),
	patternDone: pattern("check", "Done", "Shown when the run has finished."),
	patternError: pattern("cross", "Error", "Shown when the run ended in an error."),
	patternQuestion: pattern("question", "Question", "Shown while pi is waiting for your answer."),
	minRunSeconds: Type.Number({
		minimum: 0,
		maximum: 3_600,
		default: 0,
		...({
			title: "Minimum run time (s)",
			description: "Shorter runs show no alert. Questions are always shown.",
			rule: "a number from 0 to 3600",
			group: "Quiet",
		} satisfies FieldTexts),
	}),
	onlyWhenUnfocused: boolean(false, {
		title: "Only when unfocused",
		description: "Show no alerts while pi's terminal has the focus.",
		group: "Quiet",
	}),
	quietHours: Type.String({
		pattern: `^(?:|${TIME}-${TIME})$`,
		default: "",
		...({
			title: "Quiet hours",
			description:
				"Show no alerts between these local times, such as 22:00-08:00. Off if empty, or if both times are the same.",
			rule: "HH:MM-HH:MM, such as 22:00-08:00, or empty",
			group: "Quiet",
		} satisfies FieldTexts),
	}),
	headless: boolean(false, {
		title: "Alerts from pi -p",
		description:
			"Also show the verdict of runs in print mode (pi -p) and JSON mode. A pi that another pi started never shows alerts.",
		group: "Quiet",
	}),
	statusLine: Type.Enum(["always", "problems", "never"], {
		default: "always",
		...({
			title: "Status line",
			description: "When pi's footer shows the state of alerts.",
			rule: "always, problems or never",
			group: "Advanced",
		} satisfies FieldTexts),
	}),
	clearOnShutdown: boolean(true, {
		title: "Clear on quit",
		description:
			"If off, an alert stays on the bar after pi quits, until its time is up. Forced on if your CLI lacks `--expires-after`.",
		group: "Advanced",
	}),
	command: Type.String({
		pattern: `^(?:|bundled|${ABSOLUTE_PATH})$`,
		maxLength: 4_096,
		default: "",
		...({
			title: "busybar command",
			description: "Which CLI to use. If empty: a compatible `busybar` from PATH, otherwise the bundled one.",
			rule: 'an absolute path, "bundled", or empty',
			group: "Advanced",
			environment: "BUSYBAR_COMMAND",
		} satisfies FieldTexts),
	}),
});

export type Settings = Static<typeof settingsSchema>;
export type SettingName = keyof Settings;

/** The setting that names the pattern of each alert. */
export const PATTERN_SETTING = {
	turn: "pattern",
	done: "patternDone",
	error: "patternError",
	question: "patternQuestion",
} as const satisfies Record<Alert, SettingName>;

export const PATTERN_SETTINGS = Object.values(PATTERN_SETTING);

/** Whether the pattern is a file or folder of the user's, not one of ours. */
export function isOwnPicture(pattern: string): boolean {
	return pattern !== "off" && !PATTERNS.some((name) => name === pattern);
}

/** Every pattern that at least one alert uses, without duplicates. */
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
