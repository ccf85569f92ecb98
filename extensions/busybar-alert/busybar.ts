/** The arguments and the output of `busybar` commands. Pure; knows the CLI's contract, not the bar's protocol. */

export type Display = "front" | "back";

/** In pixels. */
export const DISPLAY_SIZE = {
	front: { width: 72, height: 16 },
	back: { width: 160, height: 80 },
} as const satisfies Record<Display, { width: number; height: number }>;

/** What a CLI can do beyond the contract, and the word in its `show --help` that shows it. */
export const ABILITY_WORDS = {
	expiresAfter: "--expires-after",
	requestTimeout: "--request-timeout",
	noUpload: "--no-upload",
	whilePid: "--while-pid",
	tokenFromEnvironment: "BUSYBAR_TOKEN",
} as const;

export interface CliAbilities extends Readonly<Record<keyof typeof ABILITY_WORDS, boolean>> {
	/** `--expires-after`: the bar itself ends an alert. */
	readonly expiresAfter: boolean;
	/** `--request-timeout`: the CLI itself gives up in time. */
	readonly requestTimeout: boolean;
	/** `--no-upload`: draws a file that is already on the bar, with a single request. */
	readonly noUpload: boolean;
	/** `--while-pid`: draws nothing after that process has ended. */
	readonly whilePid: boolean;
	/** Reads `BUSYBAR_TOKEN`, so that the access key stays out of the process list. */
	readonly tokenFromEnvironment: boolean;
}

/** A CLI that was found and is compatible. */
export interface Cli {
	readonly source: "setting" | "path" | "bundled";
	/** The executable, and the arguments that come before the name of a command. */
	readonly file: string;
	readonly leadingArgs: readonly string[];
	readonly abilities: CliAbilities;
}

/** Where an alert is drawn, and under which name. */
export interface Target {
	readonly addr: string;
	readonly token: string;
	readonly applicationName: string;
	readonly display: Display;
	readonly priority: number;
}

export interface Command {
	readonly file: string;
	readonly args: readonly string[];
	readonly env: NodeJS.ProcessEnv;
	readonly deadlineMs: number;
}

/** How long each command may run before we stop it. */
const DEADLINE_MS = { create: 15_000, inspect: 5_000, show: 8_000, clear: 5_000, status: 5_000 } as const;
export type CommandName = keyof typeof DEADLINE_MS;
/** The CLI gives up this much earlier than we stop it, so that its own error message arrives. */
const DEADLINE_MARGIN_MS = 750;

/** An option that the CLI does not know is left out. */
export interface ShowOptions {
	/** How long the bar keeps the drawing. */
	readonly expiresAfterSeconds: number;
	/** The file was drawn a moment ago, so there is no need to check whether the bar has it. */
	readonly isOnBar?: boolean;
	/** Nothing is drawn after this process has ended. */
	readonly whilePid?: number;
}

/** Builds the commands of one CLI. */
export class CommandLine {
	readonly #cli: Cli;
	readonly #env: NodeJS.ProcessEnv;

	constructor(cli: Cli, env: NodeJS.ProcessEnv = process.env) {
		this.#cli = cli;
		this.#env = env;
	}

	/** Writes `outputs.zip` and `outputs.anim` from a built-in pattern or from a folder of `frame_N.png`. */
	create(
		picture: { readonly frameCount: number } & ({ readonly pattern: string } | { readonly framesFolder: string }),
		display: Display,
		framesPerSecond: number,
		outputs: { readonly zip: string; readonly anim: string },
	): Command {
		const source = "pattern" in picture ? ["--pattern", picture.pattern] : ["--frames-dir", picture.framesFolder];
		return this.#offline("create", [
			...source,
			...["--display", display, "--frames", String(picture.frameCount), "--fps", String(framesPerSecond)],
			...["--output", outputs.zip, "--compile-output", outputs.anim],
		]);
	}

	inspect(anim: string): Command {
		return this.#offline("inspect", ["--input", anim, "--format", "json"]);
	}

	show(anim: string, target: Target, { expiresAfterSeconds, isOnBar, whilePid }: ShowOptions): Command {
		return this.#device("show", target, [
			...["--input", anim],
			...["--application-name", target.applicationName],
			...["--display", target.display, "--priority", String(target.priority), "--loop"],
			...(this.#cli.abilities.expiresAfter ? ["--expires-after", String(expiresAfterSeconds)] : []),
			...(isOnBar && this.#cli.abilities.noUpload ? ["--no-upload"] : []),
			...(whilePid !== undefined && this.#cli.abilities.whilePid ? ["--while-pid", String(whilePid)] : []),
		]);
	}

	clear(target: Pick<Target, "addr" | "token" | "applicationName">): Command {
		return this.#device("clear", target, ["--application-name", target.applicationName]);
	}

	/** Only the bundled CLI has this command. */
	status(target: Pick<Target, "addr" | "token">): Command {
		return this.#device("status", target, ["--format", "json"]);
	}

	#offline(name: "create" | "inspect", args: readonly string[]): Command {
		return {
			file: this.#cli.file,
			args: [...this.#cli.leadingArgs, name, ...args],
			env: childEnvironment(this.#env),
			deadlineMs: DEADLINE_MS[name],
		};
	}

	#device(name: "show" | "clear" | "status", target: Pick<Target, "addr" | "token">, args: readonly string[]): Command {
		const { abilities, file, leadingArgs } = this.#cli;
		const hidden = abilities.tokenFromEnvironment;
		return {
			file,
			args: [
				...leadingArgs,
				...[name, "--addr", target.addr],
				...(target.token !== "" && !hidden ? ["--token", target.token] : []),
				...args,
				...(abilities.requestTimeout ? ["--request-timeout", String(DEADLINE_MS[name] - DEADLINE_MARGIN_MS)] : []),
			],
			env: { ...childEnvironment(this.#env), ...(hidden && { BUSYBAR_TOKEN: target.token }) },
			deadlineMs: DEADLINE_MS[name],
		};
	}
}

/**
 * pi's environment as a child gets it: without the options for pi's own Node (an inspector, a preload), which would slow
 * down or stop another one, and without the access key. Only a command to the bar gets a key, the one in the settings.
 */
export function childEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
	const { NODE_OPTIONS: _, BUSYBAR_TOKEN: __, ...rest } = env;
	return rest;
}

/** Reads the output of `inspect --format json` or `jsonl`: an array, one object, or one object per line. */
export function inspectedSize(stdout: string): { width: number; height: number } | undefined {
	const parse = (text: string): unknown => {
		try {
			return JSON.parse(text);
		} catch {
			return undefined;
		}
	};
	const parsed = parse(stdout) ?? parse(stdout.split("\n", 1)[0] ?? "");
	const row: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
	if (typeof row !== "object" || row === null) return undefined;
	const { width, height } = row as Record<string, unknown>;
	return typeof width === "number" && typeof height === "number" ? { width, height } : undefined;
}
