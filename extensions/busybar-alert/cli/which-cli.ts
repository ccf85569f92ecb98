/**
 * Which `busybar` runs: the one that the `command` setting names, else one on PATH that proves to be compatible, else the
 * bundled one. Looks at files, runs `show --help` of the programs it finds, and remembers the answers.
 */

import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ABILITY_WORDS, type Cli, type CliAbilities, childEnvironment } from "../busybar.ts";
import { readJson, writeJson } from "../files/json-file.ts";
import type { ExecFn, ExecResult } from "./exec.ts";
import { type Failure, SET_COMMAND } from "./failures.ts";

export type CliChoice =
	| ({ readonly ok: true; readonly cli: Cli } & PassedOver)
	| ({ readonly ok: false; readonly failure: Failure } & PassedOver);

interface PassedOver {
	/** Programs called busybar that come earlier on PATH and are skipped. */
	readonly foreign: readonly string[];
}

/** What decides whether and how this process can run the bundled CLI. */
export interface Runtime {
	readonly execPath: string;
	readonly isNode: boolean;
	readonly platform: NodeJS.Platform;
	readonly env: NodeJS.ProcessEnv;
}

/** pi's standalone build is a Bun executable whose `execPath` is pi itself. */
export const thisRuntime = (): Runtime => ({
	execPath: process.execPath,
	isNode: process.versions.bun === undefined && process.release.name === "node",
	platform: process.platform,
	env: process.env,
});

export const BUNDLED_CLI = fileURLToPath(new URL("../../../busybar/bin.js", import.meta.url));
const BUNDLED_ABILITIES = abilitiesBy(() => true);
const PROOF_DEADLINE_MS = 3_000;
const OLDEST_NODE = [22, 19] as const;

/**
 * Remembers each answer by path, size and modification time: that a program is compatible in `cli.json` in the cache folder,
 * for every pi; that it is not, only in this process.
 */
export class WhichCli {
	readonly #exec: ExecFn;
	readonly #runtime: Runtime;
	readonly #memoryPath: string;
	readonly #choices = new Map<string, Promise<CliChoice>>();
	#proofs: Promise<Map<string, Proof>> | undefined;
	readonly #refusals = new Map<string, Refusal>();

	constructor(exec: ExecFn, cacheFolder: string, runtime: Runtime = thisRuntime()) {
		this.#exec = exec;
		this.#runtime = runtime;
		this.#memoryPath = join(cacheFolder, "cli.json");
	}

	/** Looks again next time, and asks every program again that has failed its proof. */
	forget(command: string): void {
		this.#choices.delete(command);
		this.#refusals.clear();
	}

	/** Every program called busybar on PATH, in the order in which a shell would find them. Never rejects. */
	async namesakes(): Promise<readonly string[]> {
		return this.#onPath(this.#programName);
	}

	get #programName(): string {
		return this.#runtime.platform === "win32" ? "busybar.exe" : "busybar";
	}

	/** @param command the setting: a path, `bundled`, or empty. Never rejects; after a failure it looks again next time. */
	async choose(command: string): Promise<CliChoice> {
		const known = this.#choices.get(command);
		if (known) return known;
		const choice = this.#choose(command).catch(
			(error: unknown): CliChoice => ({
				ok: false,
				failure: { kind: "unknown", message: `The search for a busybar command failed: ${String(error)}` },
				foreign: [],
			}),
		);
		this.#choices.set(command, choice);
		const chosen = await choice;
		if (!chosen.ok) this.#choices.delete(command);
		return choice;
	}

	async #choose(command: string): Promise<CliChoice> {
		if (command === "bundled") return this.#bundled([]);
		if (command !== "") return this.#configured(command);

		const foreign: string[] = [];
		for (const path of await this.#onPath(this.#programName)) {
			const proof = await this.#prove(path);
			if (proof.verdict === "speaks") {
				return { ok: true, cli: { source: "path", file: path, leadingArgs: [], abilities: proof.abilities }, foreign };
			}
			foreign.push(path);
		}
		return this.#bundled(foreign);
	}

	async #configured(path: string): Promise<CliChoice> {
		const failed = (kind: "not_found" | "wrong_cli", message: string): CliChoice => ({
			ok: false,
			failure: { kind, message },
			foreign: [],
		});
		if (!(await isExecutable(path))) {
			return failed(
				"not_found",
				`The busybar command ${path} does not exist or is not an executable file. ${SET_COMMAND}`,
			);
		}
		const proof = await this.#prove(path);
		if (proof.verdict === "speaks") {
			const { abilities } = proof;
			return { ok: true, cli: { source: "setting", file: path, leadingArgs: [], abilities }, foreign: [] };
		}
		if (proof.verdict === "silent") {
			return failed(
				"wrong_cli",
				`${path} ${proof.why}, so it is not used. Fix it and run /busybar-alert-test, or set \`command\` to "bundled".`,
			);
		}
		return failed(
			"wrong_cli",
			`${path} is another program: its "show --help" does not list --application-name, --priority and --loop. ${SET_COMMAND}`,
		);
	}

	async #bundled(foreign: readonly string[]): Promise<CliChoice> {
		const node = await this.#node();
		if (node === undefined) {
			return {
				ok: false,
				foreign,
				failure: {
					kind: "no_node",
					message:
						`The bundled busybar CLI needs Node ${OLDEST_NODE.join(".")} or newer, but there is none on PATH. ` +
						"Install Node, or set `command` to the path of a busybar CLI.",
				},
			};
		}
		const cli: Cli = { source: "bundled", file: node, leadingArgs: [BUNDLED_CLI], abilities: BUNDLED_ABILITIES };
		return { ok: true, cli, foreign };
	}

	async #node(): Promise<string | undefined> {
		if (this.#runtime.isNode) return this.#runtime.execPath;
		for (const path of await this.#onPath(this.#runtime.platform === "win32" ? "node.exe" : "node")) {
			const result = await this.#ask(path, ["--version"]);
			const version = /^v(\d+)\.(\d+)\./.exec(result.stdout);
			if (!version || result.killed || result.code !== 0) continue;
			const [major, minor] = [Number(version[1]), Number(version[2])];
			if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return path;
		}
		return undefined;
	}

	#ask(path: string, args: readonly string[]): Promise<ExecResult> {
		return this.#exec(path, args, { env: childEnvironment(this.#runtime.env), deadlineMs: PROOF_DEADLINE_MS });
	}

	/** Absolute entries only: with a relative one, the folder that pi was started in would decide what runs. */
	async #onPath(name: string): Promise<string[]> {
		const folders = (this.#runtime.env.PATH ?? "").split(delimiter).filter((folder) => isAbsolute(folder));
		const paths = [...new Set(folders.map((folder) => join(folder, name)))];
		const executable = await Promise.all(paths.map(isExecutable));
		return paths.filter((_, index) => executable[index]);
	}

	/** Whether the program at `path` is compatible, and what it can do beyond the contract. */
	async #prove(path: string): Promise<Verdict> {
		const { size, mtimeMs } = await stat(path);
		const isOfThis = (version: FileVersion | undefined) => version?.size === size && version.mtimeMs === mtimeMs;
		this.#proofs ??= readProofs(this.#memoryPath);
		const proofs = await this.#proofs;
		const proof = proofs.get(path);
		if (proof && isOfThis(proof)) return { verdict: "speaks", abilities: proof.abilities };
		const refusal = this.#refusals.get(path);
		if (refusal && isOfThis(refusal)) return refusal.verdict;

		const result = await this.#ask(path, ["show", "--help"]);
		if (result.spawnError !== undefined) return { verdict: "silent", why: `cannot be started (${result.spawnError})` };
		const abilities = abilitiesIn(`${result.stdout}\n${result.stderr}`);
		if (!abilities) {
			const verdict = result.killed && !result.overflowed ? NO_ANSWER : FOREIGN;
			this.#refusals.set(path, { size, mtimeMs, verdict });
			return verdict;
		}
		proofs.set(path, { size, mtimeMs, abilities });
		// If the folder is not writable, the next pi asks again.
		await writeJson(this.#memoryPath, Object.fromEntries(proofs)).catch(() => undefined);
		return { verdict: "speaks", abilities };
	}
}

type Verdict =
	| { readonly verdict: "speaks"; readonly abilities: CliAbilities }
	| { readonly verdict: "foreign" }
	| { readonly verdict: "silent"; readonly why: string };

const FOREIGN: Verdict = { verdict: "foreign" };
const NO_ANSWER: Verdict = {
	verdict: "silent",
	why: `did not answer "show --help" within ${PROOF_DEADLINE_MS / 1_000} s`,
};

interface FileVersion {
	readonly size: number;
	readonly mtimeMs: number;
}

interface Proof extends FileVersion {
	readonly abilities: CliAbilities;
}

interface Refusal extends FileVersion {
	readonly verdict: Verdict;
}

function abilitiesIn(help: string): CliAbilities | undefined {
	const names = (flag: string) => new RegExp(`(?<![\\w-])${flag}(?![\\w-])`).test(help);
	if (!["--application-name", "--priority", "--loop"].every(names)) return undefined;
	return abilitiesBy(names);
}

function abilitiesBy(names: (word: string) => boolean): CliAbilities {
	const entries = Object.entries(ABILITY_WORDS).map(([ability, word]) => [ability, names(word)]);
	return Object.fromEntries(entries) as CliAbilities;
}

async function isExecutable(path: string): Promise<boolean> {
	try {
		await access(path, constants.X_OK);
		return (await stat(path)).isFile();
	} catch {
		return false;
	}
}

/** If the file is absent or damaged, every program is asked again. */
async function readProofs(path: string): Promise<Map<string, Proof>> {
	return new Map(Object.entries(((await readJson(path)) ?? {}) as Record<string, unknown>).filter(isProofEntry));
}

function isProofEntry(entry: [string, unknown]): entry is [string, Proof] {
	const proof = entry[1] as Partial<Proof> | null;
	if (typeof proof?.size !== "number" || typeof proof.mtimeMs !== "number") return false;
	const abilities: Partial<Record<keyof CliAbilities, unknown>> | null | undefined = proof.abilities;
	return Object.keys(ABILITY_WORDS).every((ability) => typeof abilities?.[ability as keyof CliAbilities] === "boolean");
}
