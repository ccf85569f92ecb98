/**
 * The `.anim` file of a pattern: made by the CLI on first use, checked once per pi process, renamed into place.
 * Touches the cache folder, and reads the frames in `patterns/`.
 */

import { createHash } from "node:crypto";
import { chmod, mkdir, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
	badAsset,
	type Command,
	type CommandLine,
	DISPLAY_SIZE,
	type Display,
	type Failure,
	failureOf,
	inspectedSize,
} from "./busybar.ts";
import type { ExecFn } from "./exec.ts";
import type { Pattern } from "./settings.ts";

export type AssetResult =
	| { readonly ok: true; readonly anim: string }
	| { readonly ok: false; readonly failure: Failure };

const FRAMES_PER_SECOND = 12;
/** Of the patterns that the CLI draws. */
const FRAME_COUNT = 12;
const DRAWN_BY_CLI: ReadonlySet<Pattern> = new Set(["spinner", "pulse"]);
/** Offline commands take neither an address nor a token. */
const NO_TARGET = { addr: "", token: "" };

/** Frames of a pattern that the CLI does not have: `patterns/<pattern>/<display>/frame_N.png`. */
const framesFolder = (pattern: Pattern, display: Display) =>
	fileURLToPath(new URL(`./patterns/${pattern}/${display}/`, import.meta.url));

export class Assets {
	readonly #exec: ExecFn;
	readonly #folder: string;
	readonly #checked = new Set<string>();
	readonly #names = new Map<string, Promise<string>>();
	readonly #inProgress = new Map<string, Promise<AssetResult>>();
	#temporaryCount = 0;

	constructor(exec: ExecFn, cacheFolder: string) {
		this.#exec = exec;
		this.#folder = cacheFolder;
	}

	/** A file that is there and fits the display; made if it is absent or unusable. Never rejects. */
	async ensure(pattern: Pattern, display: Display, cli: CommandLine): Promise<AssetResult> {
		try {
			const anim = join(this.#folder, await this.#name(pattern, display));
			const running = this.#inProgress.get(anim);
			if (running) return await running;
			const result = this.#ensure(pattern, display, anim, cli);
			this.#inProgress.set(anim, result);
			return await result.finally(() => this.#inProgress.delete(anim));
		} catch (error) {
			const message = error instanceof Error ? error.message : String(error);
			return { ok: false, failure: { kind: "unknown", message: `The animation could not be prepared: ${message}` } };
		}
	}

	/** Checks a file that is already there, off any alert's path; makes none. Never rejects. */
	async check(pattern: Pattern, display: Display, cli: CommandLine): Promise<void> {
		const name = await this.#name(pattern, display).catch(() => undefined);
		if (name !== undefined && (await isFile(join(this.#folder, name)))) await this.ensure(pattern, display, cli);
	}

	/** The CLI would not play this file: the next `ensure` makes it anew. */
	async discard(anim: string): Promise<void> {
		this.#checked.delete(anim);
		await rm(anim, { force: true });
	}

	async #ensure(pattern: Pattern, display: Display, anim: string, cli: CommandLine): Promise<AssetResult> {
		if (await isFile(anim)) {
			if (this.#checked.has(anim)) return { ok: true, anim };
			if ((await this.#flaw(anim, display, cli)) === undefined) {
				this.#checked.add(anim);
				return { ok: true, anim };
			}
		}
		const failure = await this.#make(pattern, display, anim, cli);
		if (failure) return { ok: false, failure };
		this.#checked.add(anim);
		return { ok: true, anim };
	}

	/** Makes the file under temporary names: a process that dies half way leaves no file that looks whole. */
	async #make(pattern: Pattern, display: Display, anim: string, cli: CommandLine): Promise<Failure | undefined> {
		await mkdir(this.#folder, { recursive: true, mode: 0o700 });
		this.#temporaryCount += 1;
		const stem = join(this.#folder, `tmp-${process.pid}-${this.#temporaryCount}-${Date.now().toString(36)}`);
		const made = { zip: `${stem}.zip`, anim: `${stem}.anim` };
		try {
			const create = cli.create(await pictureOf(pattern, display), display, FRAMES_PER_SECOND, made);
			const failure = failureOf("create", create, await this.#run(create), NO_TARGET);
			if (failure) return failure;
			const flaw = await this.#flaw(made.anim, display, cli);
			if (flaw) return flaw;
			await chmod(made.anim, 0o600);
			await rename(made.anim, anim);
			return undefined;
		} finally {
			await Promise.all(Object.values(made).map((path) => rm(path, { force: true })));
		}
	}

	/** Why the bar would not play the file: it answers 200 even to one that it cannot show, so nothing else would tell. */
	async #flaw(anim: string, display: Display, cli: CommandLine): Promise<Failure | undefined> {
		const inspect = cli.inspect(anim);
		const result = await this.#run(inspect);
		const failure = failureOf("inspect", inspect, result, NO_TARGET);
		if (failure?.kind === "not_found") return failure;
		if (failure) return badAsset(failure.message);
		const found = inspectedSize(result.stdout);
		const wanted = DISPLAY_SIZE[display];
		if (found?.width === wanted.width && found.height === wanted.height) return undefined;
		const size = found ? `${found.width}x${found.height}` : "of unknown size";
		return badAsset(`${anim} is ${size}, the ${display} display is ${wanted.width}x${wanted.height}`);
	}

	#run(command: Command) {
		return this.#exec(command.file, command.args, command);
	}

	/** The bar takes names of at most 31 characters. */
	#name(pattern: Pattern, display: Display): Promise<string> {
		if (DRAWN_BY_CLI.has(pattern)) return Promise.resolve(`alert_${display}_${pattern}.anim`);
		const folder = framesFolder(pattern, display);
		const known = this.#names.get(folder);
		if (known) return known;
		const name = contentHash(folder).then((hash) => `${pattern}_${display}_${hash}.anim`);
		this.#names.set(folder, name);
		name.catch(() => this.#names.delete(folder));
		return name;
	}
}

async function pictureOf(pattern: Pattern, display: Display) {
	if (DRAWN_BY_CLI.has(pattern)) return { pattern, frameCount: FRAME_COUNT };
	const folder = framesFolder(pattern, display);
	return { framesFolder: folder, frameCount: (await readdir(folder)).length };
}

/** 8 hex characters that change when any frame does. */
async function contentHash(folder: string): Promise<string> {
	const hash = createHash("sha256");
	for (const name of (await readdir(folder)).sort()) hash.update(name).update(await readFile(join(folder, name)));
	return hash.digest("hex").slice(0, 8);
}

async function isFile(path: string): Promise<boolean> {
	return (await stat(path).catch(() => undefined))?.isFile() === true;
}
