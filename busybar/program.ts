/** Defines the commands and flags. The module of a command is loaded only when it runs. Touches only its `Io`. */

import { Command, type CommanderError, Option } from "commander";
import manifest from "../package.json" with { type: "json" };
import type { BarOptions } from "./bar.ts";
import { CommandError } from "./command-error.ts";
import type { CreateOptions } from "./commands/create.ts";
import type { ShowOptions } from "./commands/show.ts";
import type { Display } from "./displays.ts";
import { address, applicationName, clean, integer, oneOf, quote, token } from "./options.ts";
import { formatRows, type OutputOptions, outputFormat, type Row } from "./output.ts";
import type { Access } from "./simulate/bar.ts";
import type { SimulateOptions } from "./simulate/command.ts";
import type { ApiChoice } from "./simulate/model.ts";

export interface Io {
	readonly env: NodeJS.ProcessEnv;
	readonly stdout: (text: string) => void;
	readonly stderr: (text: string) => void;
}

const ownGroup = "Not in the Go CLI:";
/** The bar multiplies the seconds by 1000 in a 32-bit integer. */
const maxExpirySeconds = 2_147_482;

export function buildProgram(io: Io): Command {
	const program = new Command("pi-busybar")
		.description("Create and display animations on a BUSY Bar")
		.version(manifest.version, "--version")
		.configureOutput({ writeOut: io.stdout, writeErr: () => undefined });
	addFileCommands(program, io);
	addBarCommands(program, io);
	addSimulate(program, io);
	for (const command of [program, ...program.commands]) command.exitOverride(asSentence(command));
	return program;
}

function addFileCommands(program: Command, io: Io): void {
	printsRows<CreateOptions>(
		program
			.command("create")
			.description("Create an animation from a pattern or from PNG frames: its source zip and its compiled .anim")
			.addOption(
				flag("--pattern <name>", "spinner or pulse", oneOf("--pattern", ["spinner", "pulse"])).default("spinner"),
			)
			.addOption(displayFlag())
			.addOption(flag("--frames <n>", "number of frames (default: 12)", integer("--frames", 2, 4096)))
			.addOption(flag("--fps <n>", "frames per second", integer("--fps", 1, 255)).default(12))
			.option("--frames-dir <folder>", "use frame_0.png, frame_1.png ... in this folder instead of a pattern")
			.addOption(sizeFlag("width"))
			.addOption(sizeFlag("height"))
			.option("--name <text>", "name of the animation inside the source zip")
			.option("--output <zip>", "where to write the source zip", "animation.zip")
			.option("--compile-output <anim>", "where to write the compiled .anim (default: nowhere)"),
		io,
		async (flags) => (await import("./commands/create.ts")).create(flags),
	);
	printsRows<{ input: string; output: string }>(
		program
			.command("compile")
			.description("Compile a source zip into an .anim, which the bar can play")
			.requiredOption("--input <zip>", "the source zip")
			.requiredOption("--output <anim>", "where to write the compiled .anim"),
		io,
		async (flags) => (await import("./commands/compile.ts")).compile(flags),
	);
	printsRows<{ input: string }>(
		program
			.command("inspect")
			.description("Validate and summarize a source zip or a compiled .anim")
			.requiredOption("--input <file>", "the source zip or compiled .anim"),
		io,
		async (flags) => (await import("./commands/inspect.ts")).inspect(flags),
	);
}

interface BarFlags {
	readonly addr?: string;
	readonly token?: string;
	readonly requestTimeout: number;
}

function addBarCommands(program: Command, io: Io): void {
	const bar = (flags: BarFlags): BarOptions => ({
		address: address(flags.addr, io.env),
		token: token(flags.token, io.env),
		requestTimeoutMs: flags.requestTimeout,
	});
	printsRows<ShowOptions & BarFlags>(
		talksToBar(program.command("show"))
			.description("Upload and display a compiled Busy Bar animation (uploads it only if the bar does not have it)")
			.requiredOption("--input <anim>", "the compiled .anim")
			.addOption(applicationNameFlag("owner of the uploaded file and of the drawing"))
			.addOption(displayFlag())
			.addOption(flag("--priority <n>", "1 to 100", integer("--priority", 1, 100)).default(50))
			.option("--loop", "repeat the animation", false)
			.option("--section <name>", "section of the animation to play", "default")
			.option("--await-previous-end", "first let this application's current animation finish", false)
			.addOption(
				flag(
					"--expires-after <seconds>",
					"the bar itself removes the drawing after this time",
					integer("--expires-after", 1, maxExpirySeconds),
				).helpGroup(ownGroup),
			)
			.addOption(
				new Option("--no-upload", "draw a file that is on the bar already, without looking").helpGroup(ownGroup),
			)
			.addOption(
				flag(
					"--while-pid <pid>",
					"draw only while this process is alive",
					integer("--while-pid", 1, 2 ** 31 - 1),
				).helpGroup(ownGroup),
			),
		io,
		async (flags) => (await import("./commands/show.ts")).show(flags, bar(flags)),
	);
	printsRows<{ applicationName: string } & BarFlags>(
		talksToBar(program.command("clear"))
			.description("Remove one application's drawing from the bar")
			.addOption(applicationNameFlag("owner of the drawing")),
		io,
		async (flags) => (await import("./commands/clear.ts")).clear(flags, bar(flags)),
	);
	printsRows<BarFlags>(
		talksToBar(program.command("status"))
			.description("Show what answers at the address: name, firmware, API version and whether a BUSY timer is running")
			.helpGroup(ownGroup),
		io,
		async (flags) => (await import("./commands/status.ts")).status(bar(flags)),
	);
}

function addSimulate(program: Command, io: Io): void {
	program
		.command("simulate")
		.description("Run a simulated BUSY Bar on this machine, with a web page that shows it")
		.helpGroup(ownGroup)
		.addOption(flag("--port <n>", "0 means any free port", integer("--port", 0, 65_535)).default(0))
		.option("--token <key>", "access key that requests must have")
		.addOption(flag("--api <version>", "25 or 27.5", oneOf<ApiChoice>("--api", ["25", "27.5"])).default("27.5"))
		.addOption(
			flag(
				"--access <mode>",
				"usb, disabled, enabled or key (default: key with --token, else usb)",
				oneOf<Access>("--access", ["usb", "disabled", "enabled", "key"]),
			),
		)
		.addOption(flag("--slow-ms <ms>", "fault: delay every answer by this time", integer("--slow-ms", 0, 600_000)))
		.option("--hang", "fault: never answer a request")
		.option("--reset", "fault: reset every connection")
		.option("--lose-replies", "fault: do what a request asks, then drop the connection")
		.addOption(
			flag(
				"--wedge-after-writes <n>",
				"fault: stop answering after n uploads",
				integer("--wedge-after-writes", 0, 1e9),
			),
		)
		.addOption(formatFlag())
		.action(async (flags: SimulateOptions) => {
			const { simulate } = await import("./simulate/command.ts");
			await simulate({ ...flags, token: token(flags.token, {}) }, io.stdout);
		});
}

/** Adds the output flags, and prints the rows that `rows` returns. */
function printsRows<Flags>(command: Command, io: Io, rows: (flags: Flags) => Promise<Row[]>): void {
	outputFlags(command).action(async (flags: Flags & OutputOptions) => {
		io.stdout(await formatRows(await rows(flags), flags));
	});
}

function outputFlags(command: Command): Command {
	return command
		.addOption(formatFlag())
		.addOption(
			flag("--max-output-rows <n>", "print at most this many rows; 0 means all", integer("--max-output-rows", 0, 1e9))
				.default(0)
				.helpGroup("Output:"),
		)
		.addOption(
			new Option("--output-fields <names>", "print only these columns, separated by commas; can be repeated")
				.argParser((text, previous: readonly string[]) => [...previous, ...text.split(",").filter(Boolean)])
				.default([], "all")
				.helpGroup("Output:"),
		);
}

function formatFlag(): Option {
	return flag("--format <name>", "table, json or jsonl", outputFormat).default("table").helpGroup("Output:");
}

function talksToBar(command: Command): Command {
	return command
		.option("--addr <host>", "address of the bar: host or host:port (default: BUSYBAR_ADDR, else 10.0.4.20)")
		.option("--token <key>", "access key of the bar (default: BUSYBAR_TOKEN, which keeps it out of the process list)")
		.addOption(
			flag("--request-timeout <ms>", "time limit for the whole command", integer("--request-timeout", 1, 600_000))
				.default(10_000)
				.helpGroup(ownGroup),
		);
}

function flag(flags: string, description: string, parse: (text: string) => unknown): Option {
	return new Option(flags, description).argParser(parse);
}

function displayFlag(): Option {
	return flag("--display <name>", "front or back", oneOf<Display>("--display", ["front", "back"])).default("front");
}

function applicationNameFlag(description: string): Option {
	return flag("--application-name <name>", description, applicationName).default("busybar");
}

function sizeFlag(side: "width" | "height"): Option {
	const own = "in pixels; 0 means the size of the display or of the frames";
	return flag(`--${side} <n>`, own, integer(`--${side}`, 0, 255)).default(0);
}

/** Turns an error of commander into one sentence of ours. Its exit after `--help` stays as it is. */
function asSentence(command: Command): (error: CommanderError) => never {
	return (error) => {
		if (error.exitCode === 0) throw error;
		// For `help` with an unknown command commander has no message.
		if (error.code === "commander.help") {
			const name = quote(command.args[1] ?? "");
			throw new CommandError(`unknown command ${name}; see ${command.name()} --help.`);
		}
		const path = command.parent ? `${command.parent.name()} ${command.name()}` : command.name();
		const message = clean(error.message.replace(/^error: /, ""), 200).replace(/\.$/, "");
		throw new CommandError(`${message}; see ${path} --help.`);
	};
}
