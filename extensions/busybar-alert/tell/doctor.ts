/**
 * The doctor: checks everything that alerts depend on, and says for each part whether it works and what to fix.
 * Reads files and runs the CLIs that it finds. Creates only the cache folder, and the animation of a user's own picture.
 */

import { constants } from "node:fs";
import { access, readFile } from "node:fs/promises";
import { CommandLine, DISPLAY_SIZE } from "../busybar.ts";
import type { ExecFn } from "../cli/exec.ts";
import { failureOf } from "../cli/failures.ts";
import type { CliChoice, WhichCli } from "../cli/which-cli.ts";
import type { Assets } from "../cycle/assets.ts";
import { makeFolder } from "../files/folder.ts";
import { PATTERN_SETTINGS, type Settings, settingField } from "../settings.ts";
import type { LoadedSettings } from "../settings-file.ts";

export interface Finding {
	readonly level: "ok" | "warning" | "problem";
	readonly text: string;
}

export interface DoctorPorts {
	readonly exec: ExecFn;
	readonly whichCli: Pick<WhichCli, "choose" | "forget" | "namesakes">;
	readonly assets: Pick<Assets, "state">;
	readonly cacheFolder: string;
	readonly env: NodeJS.ProcessEnv;
	/** The version of the Linux kernel; empty on other systems. */
	readonly kernel: () => Promise<string>;
}

const ok = (text: string): Finding => ({ level: "ok", text });
const warning = (text: string): Finding => ({ level: "warning", text });
const problem = (text: string): Finding => ({ level: "problem", text });

const USB_ADDRESS = "10.0.4.20";

/** The kernel of the machine that pi runs on. */
export const linuxKernel = (): Promise<string> => readFile("/proc/version", "utf8").catch(() => "");

/** Does not reject, whatever is wrong with the machine. */
export async function examine(loaded: LoadedSettings, ports: DoctorPorts): Promise<Finding[]> {
	const { values } = loaded;
	// A CLI that was installed a moment ago should be found.
	ports.whichCli.forget(values.command);
	const choice = await ports.whichCli.choose(values.command);
	const answer = await bar(values, ports);
	return [
		values.enabled ? ok("Alerts are on.") : warning("Alerts are off. To turn them on: /busybar-alert-toggle on."),
		...(await cli(choice, values, ports)),
		ok(`Address: ${values.addr} (${origin(loaded, "addr")}).`),
		answer,
		values.token === ""
			? ok(`Access key: not set${isUsb(values) ? ", and not needed over USB" : ""}.`)
			: ok(`Access key: set (${origin(loaded, "token")}).`),
		...(await assets(choice, values, ports)),
		...loaded.warnings.map((text) => problem(text)),
		...loaded.overruled.map((name) =>
			warning(
				`${settingField(name).environment} is set, but the saved \`${name}\` overrides it. To use the variable, reset the setting.`,
			),
		),
		await cache(ports.cacheFolder),
		...(await surroundings(values, answer.level !== "ok", ports)),
	];
}

/** One line each, starting with the level. */
export function doctorText(findings: readonly Finding[]): string {
	return findings.map(({ level, text }) => `${level.padEnd(7)}  ${text}`).join("\n");
}

function isUsb({ addr }: Settings): boolean {
	return addr.split(":")[0] === USB_ADDRESS;
}

function origin(loaded: LoadedSettings, name: "addr" | "token"): string {
	const source = loaded.sources[name];
	return source === "environment" ? `from the environment variable ${settingField(name).environment}` : source;
}

async function cli(choice: CliChoice, values: Settings, ports: DoctorPorts): Promise<Finding[]> {
	const findings: Finding[] = [];
	if (!choice.ok) findings.push(problem(choice.failure.message));
	else {
		const { source, file, leadingArgs, abilities } = choice.cli;
		const why = {
			setting: "set as `command`",
			path: "the first compatible busybar on PATH",
			bundled: values.command === "bundled" ? "set as `command`" : "there is no compatible busybar on PATH",
		}[source];
		findings.push(ok(`CLI: ${source === "bundled" ? `the bundled one, ${leadingArgs[0]}` : file} (${why}).`));
		if (!abilities.expiresAfter) {
			findings.push(
				warning(
					"This CLI has no --expires-after: if pi is killed during an alert, the bar stays lit until a pi starts or shows " +
						'an alert. If you set `command` to "bundled", the bar itself ends its alerts.',
				),
			);
		}
		if (!abilities.requestTimeout) {
			findings.push(warning("This CLI has no --request-timeout: it takes 8 s to notice that the bar does not answer."));
		}
		if (!abilities.tokenFromEnvironment && values.token !== "") {
			findings.push(
				warning(
					"This CLI takes the access key as an argument, so other users of this machine can see it while the CLI runs.",
				),
			);
		}
	}
	const used = choice.ok ? choice.cli.file : undefined;
	for (const path of (await ports.whichCli.namesakes()).filter((path) => path !== used)) {
		const why = choice.foreign.includes(path) ? "is another program, so it is skipped" : "is not the one that is used";
		findings.push(warning(`${path} is also called busybar, but ${why}.`));
	}
	return findings;
}

/** Always asks with the bundled CLI: the others have no command that only reads. */
async function bar(values: Settings, ports: DoctorPorts): Promise<Finding> {
	const bundled = await ports.whichCli.choose("bundled");
	if (!bundled.ok) return warning(`Cannot check whether a bar answers at ${values.addr}: ${bundled.failure.message}`);
	const command = new CommandLine(bundled.cli, ports.env).status(values);
	const result = await ports.exec(command.file, command.args, command);
	const failure = failureOf("status", command, result, values);
	if (failure) return problem(failure.message);
	const [row] = rowsIn(result.stdout);
	const said = (name: string) => String(row?.[name] ?? "unknown");
	return ok(`${said("name")} answers at ${values.addr}: firmware ${said("firmware")}, API ${said("api_version")}.`);
}

function rowsIn(stdout: string): Record<string, unknown>[] {
	try {
		const parsed: unknown = JSON.parse(stdout);
		return Array.isArray(parsed) ? parsed : [];
	} catch {
		return [];
	}
}

async function assets(choice: CliChoice, values: Settings, ports: DoctorPorts): Promise<Finding[]> {
	if (!choice.ok) return [];
	const commands = new CommandLine(choice.cli, ports.env);
	const { width, height } = DISPLAY_SIZE[values.display];
	const findings: Finding[] = [];
	for (const name of PATTERN_SETTINGS) {
		if (values[name] === "off") {
			findings.push(warning(`\`${name}\` is off, so ${settingField(name).title.toLowerCase()} alerts are skipped.`));
			continue;
		}
		const state = await ports.assets.state(values[name], values.display, commands);
		if (state === "ready") findings.push(ok(`\`${name}\`: ${values[name]} is ready (${width}x${height}).`));
		else if (state === "absent") findings.push(ok(`\`${name}\`: ${values[name]} will be built for its first alert.`));
		else findings.push(problem(`\`${name}\`: ${state.message}`));
	}
	return findings;
}

async function cache(folder: string): Promise<Finding> {
	try {
		await makeFolder(folder);
		await access(folder, constants.W_OK);
		return ok(`Log and animations: ${folder}.`);
	} catch (error) {
		const why = (error as NodeJS.ErrnoException).code ?? String(error);
		return problem(
			`${folder} is not writable (${why}), so there is no log, and each pi builds its own animations. Fix its permissions.`,
		);
	}
}

async function surroundings(values: Settings, isUnreachable: boolean, ports: DoctorPorts): Promise<Finding[]> {
	const findings: Finding[] = [];
	const overUsb = isUsb(values);
	const isWsl = ports.env.WSL_DISTRO_NAME !== undefined || /microsoft/i.test(await ports.kernel());
	if (isWsl && overUsb && isUnreachable) {
		findings.push(
			warning(
				`pi runs in WSL, whose default network cannot reach the bar's USB address ${USB_ADDRESS}. Set ` +
					"networkingMode=mirrored in .wslconfig, or change the address to the bar's Wi-Fi address.",
			),
		);
	}
	if ((ports.env.SSH_CONNECTION || ports.env.SSH_TTY) && overUsb && isUnreachable) {
		findings.push(
			warning(
				`pi runs over SSH, but the bar is connected to your own computer. Connect with ssh -R 8420:${USB_ADDRESS}:80 ` +
					"and set BUSYBAR_ADDR=127.0.0.1:8420.",
			),
		);
	}
	return findings;
}
