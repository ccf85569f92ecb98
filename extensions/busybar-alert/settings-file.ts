/**
 * The settings in force: a saved value beats the environment, and the environment beats the default. Reads and writes the
 * user's settings file and nothing else.
 */

import { constants } from "node:fs";
import { copyFile, readFile, stat } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { Value } from "typebox/value";
import { writeJson } from "./files/json-file.ts";
import { withLock } from "./files/lock.ts";
import { SETTING_NAMES, type SettingName, type Settings, settingField } from "./settings.ts";

export interface LoadedSettings {
	readonly values: Settings;
	/** Where each value comes from. */
	readonly sources: Readonly<Record<SettingName, "saved" | "environment" | "default">>;
	/** Set in the environment, but overruled by a saved value. */
	readonly overruled: readonly SettingName[];
	/** One sentence for each value that was not used. */
	readonly warnings: readonly string[];
	/** Alerts are muted for all pis until this time, in milliseconds since the Unix epoch; Infinity means until unmuted. */
	readonly mutedUntilMs: number | undefined;
}

/** What a save can change: settings, and the mute, which is not a setting but has to outlive pi as well. */
export type Changes = Partial<Record<SettingName, unknown>> & { readonly mutedUntilMs?: number | undefined };

/** Resolves each setting on its own, so that a bad value affects no other setting. */
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
				? ["which it is not", used.from]
				: [`not ${quoted(bad.value)}`, `${used.from}, ${quoted(used.value)},`];
			warnings.push(capitalized(`${bad.from} must be ${field.rule}, ${found}; ${instead} is used instead.`));
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

/** In the file: an ISO 8601 time, or `lifted` for a mute that lasts until the user lifts it. */
const MUTED_UNTIL = "mutedUntil";
const UNTIL_LIFTED = "lifted";

function mutedUntil(saved: unknown): number | undefined {
	if (saved === UNTIL_LIFTED) return Number.POSITIVE_INFINITY;
	const timeMs = typeof saved === "string" ? Date.parse(saved) : Number.NaN;
	return Number.isNaN(timeMs) ? undefined : timeMs;
}

/** Longer than a killed holder keeps the lock. */
const LOCK_WAIT_MS = 5_000;
const MOST_KEPT_ASIDE = 100;
const FILE_LIMIT_BYTES = 1024 * 1024;

/** `busybar-alert.json` in pi's agent folder, read again whenever it has changed. */
export class SettingsFile {
	readonly path: string;
	readonly #env: NodeJS.ProcessEnv;
	#known: { readonly version: string; readonly loaded: LoadedSettings } | undefined;
	/** Loads run one at a time, so that a slow load cannot bring back settings that a later one has replaced. */
	#loading: Promise<unknown> = Promise.resolve();

	constructor(path: string, env: NodeJS.ProcessEnv = process.env) {
		this.path = path;
		this.#env = env;
	}

	/**
	 * The settings in force now: the same object until something in it changes, even if the file was touched or rewritten.
	 * Never rejects: a file that cannot be used counts as empty, with a warning.
	 */
	load(): Promise<LoadedSettings> {
		return this.#load([]);
	}

	#load(notes: readonly string[]): Promise<LoadedSettings> {
		const loading = this.#loading.then(async () => {
			// Looked at before the file is read, so that a file that changes in between is read again next time.
			const version = await fileVersion(this.path);
			const known = this.#known;
			if (known?.version === version && notes.length === 0) return known.loaded;
			const { saved, warning } = await readSaved(this.path);
			const resolved = resolveSettings(saved, this.#env);
			const found = { ...resolved, warnings: [...notes, ...(warning ? [warning] : []), ...resolved.warnings] };
			const loaded = known && isDeepStrictEqual(found, known.loaded) ? known.loaded : found;
			this.#known = { version, loaded };
			return loaded;
		});
		this.#loading = loading.catch(() => undefined);
		return loading;
	}

	/**
	 * Saves what the user set, even if it equals the default; undefined goes back to the default. Keys that this version
	 * does not know are kept, and so are those of another pi that saves at the same moment. Rejects with a sentence for the
	 * user when a value breaks its rule or the file cannot be written; the old values then stay in force.
	 */
	async save(changes: Changes): Promise<LoadedSettings> {
		for (const name of SETTING_NAMES) {
			const field = settingField(name);
			const value = changes[name];
			if (value !== undefined && !Value.Check(field, value)) throw new Error(`${field.title} must be ${field.rule}.`);
		}
		const notes: string[] = [];
		try {
			await withLock(this.path, LOCK_WAIT_MS, async () => {
				const { saved, damaged, unreadable } = await readSaved(this.path);
				// A file that cannot be read cannot be kept either.
				if (unreadable) throw unreadable;
				const kept = damaged ? await keepAside(this.path) : undefined;
				await writeJson(this.path, withChanges(saved, changes, "mutedUntilMs" in changes));
				if (kept) notes.push(`The old settings file could not be used; a copy of it is kept as ${kept}.`);
			});
		} catch (error) {
			throw new Error(`Settings not saved: ${this.path} ${notSaved(error)}. The old settings still apply.`);
		}
		return this.#load(notes);
	}
}

/** Copies the file to a name that is not taken, and returns that name. */
async function keepAside(path: string): Promise<string> {
	for (let count = 1; ; count += 1) {
		const aside = count === 1 ? `${path}.bad` : `${path}.${count}.bad`;
		try {
			await copyFile(path, aside, constants.COPYFILE_EXCL);
			return aside;
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== "EEXIST" || count === MOST_KEPT_ASIDE) throw error;
		}
	}
}

/** The rest of a sentence that starts with the path: what is wrong, and what to do. */
function notSaved(error: unknown): string {
	const { code, message } = error as NodeJS.ErrnoException;
	switch (code) {
		case "EISDIR":
			return "is a folder; move it away or delete it";
		// From mkdir, where a file is in the place of a folder.
		case "EEXIST":
		case "ENOTDIR":
			return "is inside a path that is not a folder; move that file away";
		case "EROFS":
			return "is on a read-only disk";
		case "ENOSPC":
		case "EDQUOT":
			return "is on a full disk; free some space";
		case "EACCES":
		case "EPERM":
			return "or its folder is not writable; fix the permissions";
		case "ELOCKED":
			return "is locked, probably by another pi that is saving; try again in ten seconds";
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
	/** The file exists but does not hold settings: a save keeps a copy of it, with `.bad` at the end of its name. */
	readonly damaged?: true;
	/** Why the file cannot be read although it exists. */
	readonly unreadable?: NodeJS.ErrnoException;
}

async function readSaved(path: string): Promise<SavedFile> {
	const unusable = (why: string): SavedFile => ({
		saved: {},
		damaged: true,
		warning: `The settings file ${path} ${why}, so it is ignored until you fix it. If you save a setting first, a copy of it is kept as .bad.`,
	});
	try {
		if ((await stat(path)).size > FILE_LIMIT_BYTES) return unusable("is larger than 1 MiB");
		const parsed: unknown = JSON.parse(await readFile(path, "utf8"));
		if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
			return unusable("does not contain a JSON object");
		}
		return { saved: parsed as Record<string, unknown> };
	} catch (error) {
		const code = (error as NodeJS.ErrnoException).code;
		if (code === "ENOENT") return { saved: {} };
		if (error instanceof SyntaxError) return unusable("is not valid JSON");
		const why = code === "EISDIR" ? "is a folder" : `cannot be read (${code ?? String(error)})`;
		const warning = `The settings file ${path} ${why}, so it is ignored until you fix it.`;
		return { saved: {}, warning, unreadable: error as NodeJS.ErrnoException };
	}
}

function quoted(value: unknown): string {
	// No setting is a list or an object, and these can be nested too deeply to be printed.
	if (Array.isArray(value)) return "a list";
	if (typeof value === "object" && value !== null) return "an object";
	const text = JSON.stringify(value) ?? String(value);
	return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

function capitalized(text: string): string {
	return text.charAt(0).toUpperCase() + text.slice(1);
}
