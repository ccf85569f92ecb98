/**
 * The settings: one schema for types, defaults, ranges and texts; the environment; reading the saved file.
 * A saved value beats the environment, which beats the default. Touches the settings file only.
 */

import { mkdir, readFile, rename, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { type Static, type TSchema, Type } from "typebox";
import { Value } from "typebox/value";
import { writeJson } from "./json-file.ts";

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

export const PATTERN_SETTINGS = ["pattern", "patternDone", "patternError", "patternQuestion"] as const;

/** A pattern that is not one of ours but names a file or folder of the user's. */
export function isOwnPicture(pattern: string): boolean {
	return pattern !== "off" && !PATTERNS.some((name) => name === pattern);
}

/** Each pattern that some alert shows, once. */
export function chosenPatterns(values: Settings): readonly string[] {
	return [...new Set(PATTERN_SETTINGS.map((name) => values[name]))].filter((pattern) => pattern !== "off");
}

export interface LoadedSettings {
	readonly values: Settings;
	/** Where each value comes from. */
	readonly sources: Readonly<Record<SettingName, "saved" | "environment" | "default">>;
	/** Set in the environment, and overruled by a saved value. */
	readonly overruled: readonly SettingName[];
	/** One sentence for each value that was not used. */
	readonly warnings: readonly string[];
	/** Alerts are muted for all pis until then, in milliseconds since the Unix epoch; Infinity until it is lifted. */
	readonly mutedUntilMs: number | undefined;
}

/** What a save may change: settings, and the mute, which is no setting but must outlast pi as one does. */
export type Changes = Partial<Record<SettingName, unknown>> & { readonly mutedUntilMs?: number | undefined };

export const SETTING_NAMES = Object.keys(settingsSchema.properties) as SettingName[];

/** A field's schema with its texts. */
export function settingField(
	name: SettingName,
): TSchema & FieldTexts & { readonly default: string | number | boolean } {
	return settingsSchema.properties[name] as unknown as ReturnType<typeof settingField>;
}

/** Resolves each setting by itself, so that a bad value takes no other with it. */
export function resolveSettings(saved: Readonly<Record<string, unknown>>, env: NodeJS.ProcessEnv): LoadedSettings {
	const values: Partial<Record<SettingName, unknown>> = {};
	const sources: Partial<Record<SettingName, "saved" | "environment" | "default">> = {};
	const overruled: SettingName[] = [];
	const warnings: string[] = [];
	for (const name of SETTING_NAMES) {
		const field = settingField(name);
		const variable = field.environment;
		const given = [
			{ source: "saved" as const, from: `the setting \`${name}\``, value: saved[name] },
			...(variable
				? [{ source: "environment" as const, from: `the environment variable ${variable}`, value: env[variable] }]
				: []),
		].filter(({ value }) => value !== undefined);
		const good = given.findIndex(({ value }) => Value.Check(field, value));
		const used = given[good] ?? { source: "default" as const, from: "the default", value: field.default };
		values[name] = used.value;
		sources[name] = used.source;
		if (used.source === "saved" && given.some(({ source }) => source === "environment")) overruled.push(name);
		for (const bad of good === -1 ? given : given.slice(0, good)) {
			const [found, instead] = field.secret
				? ["what it is", used.from]
				: [quoted(bad.value), `${used.from}, ${quoted(used.value)},`];
			warnings.push(capitalized(`${bad.from} must be ${field.rule}, not ${found}; ${instead} is used instead.`));
		}
	}
	return {
		values: values as Settings,
		sources: sources as LoadedSettings["sources"],
		overruled,
		warnings,
		mutedUntilMs: mutedUntil(saved[MUTED_UNTIL]),
	};
}

/** In the file an ISO 8601 time, or `lifted` for a mute without end. */
const MUTED_UNTIL = "mutedUntil";
const UNTIL_LIFTED = "lifted";

function mutedUntil(saved: unknown): number | undefined {
	if (saved === UNTIL_LIFTED) return Number.POSITIVE_INFINITY;
	const timeMs = typeof saved === "string" ? Date.parse(saved) : Number.NaN;
	return Number.isNaN(timeMs) ? undefined : timeMs;
}

const FILE_LIMIT_BYTES = 1024 * 1024;

/** `busybar-alert.json` in pi's agent folder, read again whenever it changed. */
export class SettingsFile {
	readonly path: string;
	readonly #env: NodeJS.ProcessEnv;
	#known: { readonly version: string; readonly loaded: LoadedSettings } | undefined;

	constructor(path: string, env: NodeJS.ProcessEnv = process.env) {
		this.path = path;
		this.#env = env;
	}

	/** The settings in force now. Never rejects: a file that cannot be used counts as empty, with a warning. */
	async load(): Promise<LoadedSettings> {
		const version = await fileVersion(this.path);
		if (this.#known?.version === version) return this.#known.loaded;
		const { saved, warning } = await readSaved(this.path);
		const resolved = resolveSettings(saved, this.#env);
		const loaded = { ...resolved, warnings: [...(warning ? [warning] : []), ...resolved.warnings] };
		this.#known = { version, loaded };
		return loaded;
	}

	/**
	 * Saves what the user set, even if it equals the default; undefined goes back to the default. Keys that this version
	 * does not know stay. Two pis that save at the same moment lose neither's key. Rejects, with a sentence for the user,
	 * when a value breaks its rule or the file cannot be written; the old values then stay in force.
	 */
	async save(changes: Changes): Promise<LoadedSettings> {
		for (const name of SETTING_NAMES) {
			const field = settingField(name);
			const value = changes[name];
			if (value !== undefined && !Value.Check(field, value)) throw new Error(`${field.title} must be ${field.rule}.`);
		}
		let note: string | undefined;
		try {
			await mkdir(dirname(this.path), { recursive: true });
			const { lock } = await import("proper-lockfile");
			const unlock = await lock(this.path, {
				realpath: false,
				retries: { retries: 20, minTimeout: 25, maxTimeout: 100 },
				// Its default throws from a timer, which would end pi.
				onCompromised: () => undefined,
			});
			try {
				const { saved, damaged, unreadable } = await readSaved(this.path);
				// What cannot be read cannot be kept either.
				if (unreadable) throw unreadable;
				if (damaged) await rename(this.path, `${this.path}.bad`);
				await writeJson(this.path, withChanges(saved, changes, "mutedUntilMs" in changes));
				if (damaged) note = `The settings file held something else; that is kept as ${this.path}.bad.`;
			} finally {
				await unlock();
			}
		} catch (error) {
			throw new Error(`Settings not saved, nothing was changed: ${this.path} ${notSaved(error)}.`);
		}
		const loaded = await this.load();
		if (note === undefined) return loaded;
		const noted = { ...loaded, warnings: [note, ...loaded.warnings] };
		this.#known = { version: await fileVersion(this.path), loaded: noted };
		return noted;
	}
}

/** Completes a sentence about the file: what is wrong, and what to do. */
function notSaved(error: unknown): string {
	const { code, message } = error as NodeJS.ErrnoException;
	switch (code) {
		case "EISDIR":
			return "is a folder; move it away";
		// mkdir says so of a file where the folder belongs.
		case "EEXIST":
		case "ENOTDIR":
			return "is to lie in something that is no folder; move that away";
		case "EROFS":
			return "is on a read-only disk";
		case "ENOSPC":
		case "EDQUOT":
			return "is on a full disk; free some space";
		case "EACCES":
		case "EPERM":
			return "or its folder is not yours to write; mend the permissions";
		case "ELOCKED":
			return "is being saved by another pi; try again";
		default:
			return `cannot be written (${code ?? message})`;
	}
}

function withChanges(saved: Record<string, unknown>, { mutedUntilMs, ...settings }: Changes, isMuteChange: boolean) {
	const merged: Record<string, unknown> = { ...saved, ...settings };
	if (isMuteChange) {
		merged[MUTED_UNTIL] =
			mutedUntilMs === Number.POSITIVE_INFINITY ? UNTIL_LIFTED : mutedUntilMs && new Date(mutedUntilMs).toISOString();
	}
	return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== undefined));
}

async function fileVersion(path: string): Promise<string> {
	try {
		const { mtimeMs, size, ino } = await stat(path);
		return `${mtimeMs} ${size} ${ino}`;
	} catch {
		return "absent";
	}
}

interface SavedFile {
	readonly saved: Record<string, unknown>;
	readonly warning?: string;
	/** It is there and is a file, but not one of ours: a save keeps it aside as `.bad`. */
	readonly damaged?: true;
	/** Why it cannot be read although it is there. */
	readonly unreadable?: NodeJS.ErrnoException;
}

async function readSaved(path: string): Promise<SavedFile> {
	const unusable = (why: string): SavedFile => ({
		saved: {},
		damaged: true,
		warning: `The settings file ${path} ${why}; it is ignored until you mend it. The next saved change keeps it as ${path}.bad.`,
	});
	try {
		if ((await stat(path)).size > FILE_LIMIT_BYTES) return unusable("is larger than 1 MiB");
		const parsed: unknown = JSON.parse(await readFile(path, "utf8"));
		if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
			return unusable("does not hold a JSON object");
		}
		return { saved: parsed as Record<string, unknown> };
	} catch (error) {
		const code = (error as NodeJS.ErrnoException).code;
		if (code === "ENOENT") return { saved: {} };
		if (error instanceof SyntaxError) return unusable("is not JSON");
		const why = code === "EISDIR" ? "is a folder" : `cannot be read (${code ?? String(error)})`;
		const warning = `The settings file ${path} ${why}; it is ignored until you mend it.`;
		return { saved: {}, warning, unreadable: error as NodeJS.ErrnoException };
	}
}

function quoted(value: unknown): string {
	const text = JSON.stringify(value) ?? String(value);
	return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

function capitalized(text: string): string {
	return text.charAt(0).toUpperCase() + text.slice(1);
}
