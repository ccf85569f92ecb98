/**
 * The settings in force: a saved value beats the environment, which beats the default. Reads and saves the user's file.
 * Touches that file only.
 */

import { constants } from "node:fs";
import { copyFile, mkdir, readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { Value } from "typebox/value";
import { writeJson } from "./files/json-file.ts";
import { SETTING_NAMES, type SettingName, type Settings, settingField } from "./settings.ts";

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

const MOST_KEPT_ASIDE = 100;
const FILE_LIMIT_BYTES = 1024 * 1024;

/** `busybar-alert.json` in pi's agent folder, read again whenever it changed. */
export class SettingsFile {
	readonly path: string;
	readonly #env: NodeJS.ProcessEnv;
	#known: { readonly version: string; readonly loaded: LoadedSettings } | undefined;
	/** One load at a time: none brings back what a later one has found changed. */
	#loading: Promise<unknown> = Promise.resolve();

	constructor(path: string, env: NodeJS.ProcessEnv = process.env) {
		this.path = path;
		this.#env = env;
	}

	/**
	 * The settings in force now; the same object for as long as nothing in it changes, whatever happens to the file. Never
	 * rejects: a file that cannot be used counts as empty, with a warning.
	 */
	load(): Promise<LoadedSettings> {
		return this.#load([]);
	}

	#load(notes: readonly string[]): Promise<LoadedSettings> {
		const loading = this.#loading.then(async () => {
			// Before the file is read: one that changes in between is read again.
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
	 * does not know stay. Two pis that save at the same moment lose neither's key. Rejects, with a sentence for the user,
	 * when a value breaks its rule or the file cannot be written; the old values then stay in force.
	 */
	async save(changes: Changes): Promise<LoadedSettings> {
		for (const name of SETTING_NAMES) {
			const field = settingField(name);
			const value = changes[name];
			if (value !== undefined && !Value.Check(field, value)) throw new Error(`${field.title} must be ${field.rule}.`);
		}
		const notes: string[] = [];
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
				const kept = damaged ? await keepAside(this.path) : undefined;
				await writeJson(this.path, withChanges(saved, changes, "mutedUntilMs" in changes));
				if (kept) notes.push(`The settings file held something else; that is kept as ${kept}.`);
			} finally {
				await unlock();
			}
		} catch (error) {
			throw new Error(`Settings not saved, nothing was changed: ${this.path} ${notSaved(error)}.`);
		}
		return this.#load(notes);
	}
}

/** Copies the file to a name that is still free, and returns that. */
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
		warning: `The settings file ${path} ${why}; it is ignored until you mend it. The next saved change keeps it aside as .bad.`,
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
	// No setting is one of these, and they can be nested too deeply to be written out.
	if (Array.isArray(value)) return "a list";
	if (typeof value === "object" && value !== null) return "an object";
	const text = JSON.stringify(value) ?? String(value);
	return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

function capitalized(text: string): string {
	return text.charAt(0).toUpperCase() + text.slice(1);
}
