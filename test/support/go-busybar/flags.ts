// What the Go CLI accepts, flag by flag, and how its flag library reads, refuses and describes them. Pure.

interface Flag {
	readonly type: "string" | "int" | "bool" | "strings";
	readonly default?: string;
	readonly choices?: readonly string[];
	readonly usage: string;
}

type Flags = Readonly<Record<string, Flag>>;

interface Command {
	readonly short: string;
	readonly flags: Flags;
}

const display: Flag = { type: "string", default: "front", choices: ["front", "back"], usage: "Display" };
const addr: Flag = { type: "string", default: "10.0.4.20", usage: "BUSY Bar address" };
const token: Flag = { type: "string", usage: "Access key, sent as X-API-Token" };
const applicationName: Flag = {
	type: "string",
	default: "busybar",
	usage: "Application that owns the asset and the draw",
};

export const COMMANDS: Readonly<Record<string, Command>> = {
	create: {
		short: "Create a Busy Bar animation",
		flags: {
			pattern: { type: "string", default: "spinner", choices: ["spinner", "pulse"], usage: "Built-in pattern" },
			display,
			frames: { type: "int", default: "12", usage: "Number of frames" },
			fps: { type: "int", default: "12", usage: "Frames per second" },
			"frames-dir": { type: "string", usage: "Folder with frame_0.png, frame_1.png, ..." },
			width: { type: "int", default: "0", usage: "Width, 0 for the display's own" },
			height: { type: "int", default: "0", usage: "Height, 0 for the display's own" },
			name: { type: "string", usage: "Animation name in the metadata" },
			output: { type: "string", default: "animation.zip", usage: "Source zip to write" },
			"compile-output": { type: "string", usage: "Compiled .anim to write too" },
		},
	},
	compile: {
		short: "Compile a source zip",
		flags: {
			input: { type: "string", usage: "Source zip" },
			output: { type: "string", usage: "Compiled .anim to write" },
		},
	},
	inspect: {
		short: "Validate and summarize a source zip or a compiled .anim",
		flags: { input: { type: "string", usage: "File to inspect" } },
	},
	show: {
		short: "Upload and display a compiled Busy Bar animation",
		flags: {
			input: { type: "string", usage: "Compiled .anim" },
			addr,
			token,
			"application-name": applicationName,
			display,
			priority: { type: "int", default: "50", usage: "Draw priority, 1 to 100" },
			loop: { type: "bool", default: "false", usage: "Repeat the animation" },
			section: { type: "string", default: "default", usage: "Section to play" },
			"await-previous-end": {
				type: "bool",
				default: "false",
				usage: "Finish a previous element with the same id first",
			},
		},
	},
	clear: {
		short: "Clear the elements of one application",
		flags: { addr, "application-name": applicationName, token },
	},
};

const COMMON: Flags = {
	format: {
		type: "string",
		default: "table",
		choices: ["table", "json", "jsonl", "csv", "tsv", "yaml"],
		usage: "Output format",
	},
	"max-output-rows": { type: "int", default: "0", usage: "Rows to print, 0 for all" },
	"output-fields": { type: "strings", usage: "Fields to print" },
	"config-file": { type: "string", usage: "Explicit config file path to load via middlewares" },
	"print-parsed-fields": { type: "bool", default: "false", usage: "Print the parsed fields" },
	"print-schema": { type: "bool", default: "false", usage: "Print the command's schema" },
	"print-yaml": { type: "bool", default: "false", usage: "Print the command as YAML" },
	help: { type: "bool", default: "false", usage: "Help for this command" },
	"long-help": { type: "bool", default: "false", usage: "Long help for this command" },
};

const GLOBAL: Flags = {
	"log-area": { type: "strings", usage: "Log areas" },
	"log-config": { type: "string", usage: "Log configuration file" },
	"log-file": { type: "string", default: "stderr", usage: "Log file" },
	"log-format": { type: "string", default: "text", choices: ["json", "text"], usage: "Log format" },
	"log-level": {
		type: "string",
		default: "info",
		choices: ["trace", "debug", "info", "warn", "error", "fatal"],
		usage: "Log level",
	},
	"log-to-stdout": { type: "bool", default: "false", usage: "Log to stdout" },
	"strict-log-areas": { type: "bool", default: "false", usage: "Refuse unknown log areas" },
	"with-caller": { type: "bool", default: "false", usage: "Log the caller" },
};

/** Reads `--flag value`, `--flag=value` and bare `--bool`; throws the flag library's own words for anything else. */
export function parseFlags(command: Command, argv: readonly string[]): Map<string, string> {
	const known: Flags = { ...command.flags, ...COMMON, ...GLOBAL };
	const values = new Map<string, string>();
	for (const [name, flag] of Object.entries(known)) {
		if (flag.default !== undefined) values.set(name, flag.default);
	}
	const rest = [...argv];
	for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
		if (arg === "-h") {
			values.set("help", "true");
			continue;
		}
		if (!arg.startsWith("--")) {
			throw new Error(
				arg.startsWith("-") ? `unknown shorthand flag: '${arg[1]}' in ${arg}` : `unexpected argument "${arg}"`,
			);
		}
		const [name = "", inline] = arg.slice(2).split(/=(.*)/s);
		const flag = Object.hasOwn(known, name) ? known[name] : undefined;
		if (!flag) throw new Error(`unknown flag: --${name}`);
		const value = inline ?? (flag.type === "bool" ? "true" : rest.shift());
		if (value === undefined) throw new Error(`flag needs an argument: --${name}`);
		values.set(name, accepted(name, flag, value));
	}
	return values;
}

function accepted(name: string, flag: Flag, value: string): string {
	const refuse = (why: string) => new Error(`invalid argument "${value}" for "--${name}" flag: ${why}`);
	if (flag.type === "int" && !/^[+-]?\d+$/.test(value))
		throw refuse(`strconv.ParseInt: parsing "${value}": invalid syntax`);
	if (flag.type === "bool" && value !== "true" && value !== "false") {
		throw refuse(`strconv.ParseBool: parsing "${value}": invalid syntax`);
	}
	if (flag.choices && !flag.choices.includes(value)) throw refuse(`must be one of ${flag.choices.join(", ")}`);
	return value;
}

export function usageOf(name: string, command: Command): string {
	return `Usage:
  busybar ${name} [flags]

Flags:
${describe({ ...command.flags, ...COMMON })}

Global Flags:
${describe(GLOBAL)}
`;
}

export function rootUsage(): string {
	const commands = Object.entries(COMMANDS).map(([name, { short }]) => `  ${name.padEnd(11)} ${short}`);
	return `Create and display animations on a BUSY Bar

Usage:
  busybar [command]

Available Commands:
${commands.join("\n")}

Use "busybar [command] --help" for more information about a command.
`;
}

function describe(flags: Flags): string {
	return Object.entries(flags)
		.sort(([a], [b]) => a.localeCompare(b))
		.map(([name, { type, usage, default: value }]) => {
			const head = `${name === "help" ? "  -h, " : "      "}--${name}${type === "bool" ? "" : ` ${type}`}`;
			const hint = value === undefined || type === "bool" ? "" : ` (default ${type === "int" ? value : `"${value}"`})`;
			return `${head.padEnd(36)}${usage}${hint}`;
		})
		.join("\n");
}
