/**
 * The `.anim` file of a pattern: built by the CLI on first use, checked once per pi process, renamed into place.
 * Touches the cache folder, and reads the frames in `patterns/`.
 */

import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { chmod, copyFile, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Command, type CommandLine, DISPLAY_SIZE, type Display, inspectedSize } from "../busybar.ts";
import type { ExecFn, ExecResult } from "../cli/exec.ts";
import { badAsset, type Failure, failureOf } from "../cli/failures.ts";
import { isFolder, makeFolder } from "../files/folder.ts";
import { isOwnPicture } from "../settings.ts";

export type AssetResult =
	| { readonly ok: true; readonly anim: string }
	| { readonly ok: false; readonly failure: Failure };

const FRAMES_PER_SECOND = 12;
/** For the patterns that the CLI draws. */
const FRAME_COUNT = 12;
const DRAWN_BY_CLI: ReadonlySet<string> = new Set(["spinner", "pulse"]);
const FRAME_NAME = /^frame_\d+\.png$/;
const LARGEST_SOURCE_BYTES = 16 * 1024 * 1024;
/** More than a build leaves behind, zip and all. */
const ROOM_BYTES = 512 * 1024;
const TEMPORARY = "tmp-";
const ABANDONED_AFTER_MS = 3_600_000;
/** Commands that do not talk to the bar take neither an address nor an access key. */
const NO_TARGET = { addr: "", token: "" };

/** Where the picture of a pattern comes from. */
type Source =
	| { readonly from: "cli"; readonly pattern: string }
	/** `frame_0.png`, `frame_1.png` and so on, from `patterns/<pattern>/<display>/` or from the user. */
	| { readonly from: "frames"; readonly folder: string; readonly label: string }
	| { readonly from: "anim"; readonly path: string };

/** @param pattern a name, or an absolute path from the user */
function sourceOf(pattern: string, display: Display): Source {
	if (DRAWN_BY_CLI.has(pattern)) return { from: "cli", pattern };
	if (isOwnPicture(pattern)) {
		return /\.anim$/i.test(pattern)
			? { from: "anim", path: pattern }
			: { from: "frames", folder: pattern, label: "frames" };
	}
	const folder = fileURLToPath(new URL(`../patterns/${pattern}/${display}/`, import.meta.url));
	return { from: "frames", folder, label: pattern };
}

export class Assets {
	readonly #exec: ExecFn;
	readonly #cacheFolder: string;
	/** Used instead if the cache folder cannot be written; gone with this process. */
	#refuge: string | undefined;
	readonly #checked = new Set<string>();
	readonly #paths = new Map<string, string>();
	readonly #inProgress = new Map<string, Promise<AssetResult>>();
	readonly #temporaries = new Set<string>();
	#temporaryCount = 0;

	constructor(exec: ExecFn, cacheFolder: string) {
		this.#exec = exec;
		this.#cacheFolder = cacheFolder;
	}

	get #folder(): string {
		return this.#refuge ?? this.#cacheFolder;
	}

	/**
	 * A file that fits the display; built if it is missing or unusable. Never rejects.
	 * @param pattern a name, or the absolute path of the user's own folder of frames or `.anim` file
	 */
	async ensure(pattern: string, display: Display, cli: CommandLine): Promise<AssetResult> {
		const source = sourceOf(pattern, display);
		try {
			const anim = await this.#path(pattern, display);
			const running = this.#inProgress.get(anim);
			if (running) return await running;
			const result = this.#ensure(source, display, anim, cli);
			this.#inProgress.set(anim, result);
			return await result.finally(() => this.#inProgress.delete(anim));
		} catch (error) {
			const message = error instanceof Error ? error.message : String(error);
			const isAbsent = (error as NodeJS.ErrnoException).code === "ENOENT";
			if (isOwnPicture(pattern)) {
				return {
					ok: false,
					failure: badAsset(`${pattern} ${isAbsent ? "does not exist" : `cannot be read (${message})`}`),
				};
			}
			return { ok: false, failure: { kind: "unknown", message: notPrepared(message) } };
		}
	}

	/** Checks a file that already exists, while no alert waits for it; builds none. Never rejects. */
	async check(pattern: string, display: Display, cli: CommandLine): Promise<void> {
		if (await this.#isThere(pattern, display)) await this.ensure(pattern, display, cli);
	}

	/** Whether the file exists and fits, has yet to be built, or what is wrong with it. Never rejects. */
	async state(pattern: string, display: Display, cli: CommandLine): Promise<"ready" | "absent" | Failure> {
		if (!isOwnPicture(pattern) && !(await this.#isThere(pattern, display))) return "absent";
		const result = await this.ensure(pattern, display, cli);
		return result.ok ? "ready" : result.failure;
	}

	/** Rebuilds the file even if it exists. Never rejects. */
	async remake(pattern: string, display: Display, cli: CommandLine): Promise<AssetResult> {
		const anim = await this.#path(pattern, display).catch(() => undefined);
		if (anim !== undefined) await this.discard(anim).catch(() => undefined);
		return this.ensure(pattern, display, cli);
	}

	/** The CLI could not use this file: the next `ensure` rebuilds it. */
	async discard(anim: string): Promise<void> {
		this.#checked.delete(anim);
		await rm(anim, { force: true });
	}

	/** Where the file of a pattern is or will be. Rejects if the picture that it is built from cannot be read. */
	async #path(pattern: string, display: Display): Promise<string> {
		const key = `${display} ${pattern}`;
		const known = this.#paths.get(key);
		if (known !== undefined) return known;
		const path = join(this.#folder, await nameOf(sourceOf(pattern, display), display));
		// The user's own pictures may change at any time. Ours do not, and reading their frames would delay every alert.
		if (!isOwnPicture(pattern)) this.#paths.set(key, path);
		return path;
	}

	async #isThere(pattern: string, display: Display): Promise<boolean> {
		const path = await this.#path(pattern, display).catch(() => undefined);
		return path !== undefined && (await isFile(path));
	}

	async #ensure(source: Source, display: Display, anim: string, cli: CommandLine): Promise<AssetResult> {
		if (await isFile(anim)) {
			if (this.#checked.has(anim)) return { ok: true, anim };
			const flaw = await this.#flaw(anim, display, cli);
			// If the CLI did not answer, the file may still be good.
			if (flaw && flaw.kind !== "bad_asset") return { ok: false, failure: flaw };
			if (!flaw) {
				this.#checked.add(anim);
				return { ok: true, anim };
			}
		}
		await this.#findRoom();
		const place = join(this.#folder, basename(anim));
		const failure = await this.#make(source, display, place, cli);
		if (failure) return { ok: false, failure };
		this.#checked.add(place);
		return { ok: true, anim: place };
	}

	/** A read-only or full disk must not cost an alert: from then on, files are built in a temporary folder. */
	async #findRoom(): Promise<void> {
		if (this.#refuge !== undefined) return;
		const trial = this.#temporaryStem();
		try {
			await makeFolder(this.#folder);
			await writeFile(trial, Buffer.alloc(ROOM_BYTES), { mode: 0o600 });
		} catch {
			const refuge = await mkdtemp(join(tmpdir(), "pi-busybar-alert-"));
			// Another build may have been faster.
			if (this.#refuge === undefined) this.#refuge = refuge;
			else await rm(refuge, { recursive: true });
			this.#paths.clear();
		} finally {
			await rm(trial, { force: true }).catch(() => undefined);
		}
	}

	/** Builds the file under temporary names, so that a process that dies halfway leaves no file that looks complete. */
	async #make(source: Source, display: Display, anim: string, cli: CommandLine): Promise<Failure | undefined> {
		await this.#sweep();
		const stem = this.#temporaryStem();
		const made = { zip: `${stem}.zip`, anim: `${stem}.anim` };
		for (const path of Object.values(made)) this.#temporaries.add(path);
		try {
			if (source.from === "anim") await copyFile(source.path, made.anim);
			else {
				const create = cli.create(await pictureOf(source), display, FRAMES_PER_SECOND, made);
				const result = await this.#run(create);
				const failure = failureOf("create", create, result, NO_TARGET);
				if (failure && source.from === "frames" && hasJudged(result)) {
					return badAsset(`${source.folder}: ${failure.message}`);
				}
				if (failure) return failure;
			}
			const flaw = await this.#flaw(made.anim, display, cli, source);
			if (flaw) return flaw;
			await chmod(made.anim, 0o600);
			// Not a file, or we would not be here.
			if (await isFolder(anim)) await rm(anim, { recursive: true });
			await rename(made.anim, anim);
			return undefined;
		} finally {
			await Promise.all(Object.values(made).map((path) => rm(path, { force: true })));
			for (const path of Object.values(made)) this.#temporaries.delete(path);
		}
	}

	#temporaryStem(): string {
		this.#temporaryCount += 1;
		return join(this.#folder, `${TEMPORARY}${process.pid}-${this.#temporaryCount}-${Date.now().toString(36)}`);
	}

	/** Removes unfinished files, and what this process alone uses, when pi exits. Synchronous; never throws. */
	abandon(): void {
		for (const path of [...this.#temporaries, ...(this.#refuge === undefined ? [] : [this.#refuge])]) {
			try {
				rmSync(path, { recursive: true, force: true });
			} catch {
				// The next build removes it, or the system does.
			}
		}
	}

	/** Removes what a killed pi has left behind. */
	async #sweep(): Promise<void> {
		for (const name of await readdir(this.#folder)) {
			if (!name.startsWith(TEMPORARY)) continue;
			const path = join(this.#folder, name);
			const file = await stat(path).catch(() => undefined);
			if (file && Date.now() - file.mtimeMs > ABANDONED_AFTER_MS) await rm(path, { force: true });
		}
	}

	/** Why the bar could not play the file. The bar itself does not tell: it answers 200 even if it cannot show a file. */
	async #flaw(anim: string, display: Display, cli: CommandLine, source?: Source): Promise<Failure | undefined> {
		const label = source?.from === "anim" ? source.path : source?.from === "frames" ? source.folder : anim;
		const inspect = cli.inspect(anim);
		const result = await this.#run(inspect);
		const failure = failureOf("inspect", inspect, result, NO_TARGET);
		if (failure) return hasJudged(result) ? badAsset(`${label}: ${failure.message}`) : failure;
		const found = inspectedSize(result.stdout);
		const wanted = DISPLAY_SIZE[display];
		if (found?.width === wanted.width && found.height === wanted.height) return undefined;
		const size = found ? `${found.width}x${found.height}` : "of unknown size";
		return badAsset(`${label} is ${size}, but the ${display} display is ${wanted.width}x${wanted.height}`);
	}

	#run(command: Command) {
		return this.#exec(command.file, command.args, command);
	}
}

function notPrepared(why: string): string {
	return `The animation could not be built: ${why}. Run /busybar-alert-doctor to see what to fix.`;
}

/** Whether the CLI ran to its end, so that its error is about the picture and not about the CLI. */
function hasJudged(result: ExecResult): boolean {
	return result.code !== null && !result.killed;
}

async function pictureOf(source: Exclude<Source, { from: "anim" }>) {
	return source.from === "cli"
		? { pattern: source.pattern, frameCount: FRAME_COUNT }
		: { framesFolder: source.folder, frameCount: (await framesIn(source.folder)).length };
}

/** At most 31 characters, because the bar accepts no more. */
async function nameOf(source: Source, display: Display): Promise<string> {
	if (source.from === "cli") return `alert_${display}_${source.pattern}.anim`;
	if (source.from === "anim") return `anim_${display}_${await contentHash([source.path])}.anim`;
	const frames = await framesIn(source.folder);
	return `${source.label}_${display}_${await contentHash(frames)}.anim`;
}

async function framesIn(folder: string): Promise<string[]> {
	const names = (await readdir(folder)).filter((name) => FRAME_NAME.test(name));
	if (names.length === 0) throw new Error("it contains no frame_0.png");
	return names.sort().map((name) => join(folder, name));
}

/** 8 hex digits that change if any of the files changes. */
async function contentHash(paths: readonly string[]): Promise<string> {
	const hash = createHash("sha256");
	for (const path of paths) {
		const file = await stat(path);
		// Reading a pipe might never end, and no usable picture is that large.
		if (!file.isFile()) throw new Error(`${basename(path)} is not a regular file`);
		if (file.size > LARGEST_SOURCE_BYTES) throw new Error(`${basename(path)} is larger than 16 MiB`);
		hash.update(basename(path)).update(await readFile(path));
	}
	return hash.digest("hex").slice(0, 8);
}

async function isFile(path: string): Promise<boolean> {
	return (await stat(path).catch(() => undefined))?.isFile() === true;
}
