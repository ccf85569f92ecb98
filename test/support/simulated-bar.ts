// Starts the simulated bar in a process of its own, as users do, and asks it what happened.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Faults } from "../../busybar/simulate/bar.ts";
import type { LiveView } from "../../busybar/simulate/controls.ts";
import type { JournalEntry } from "../../busybar/simulate/journal.ts";
import { type Screen, unpackScreen } from "./led-picture.ts";

const BIN = fileURLToPath(new URL("../../busybar/bin.js", import.meta.url));
/** Where the bundled CLI keeps its compiled code in all tests. It halves each start, and is not the user's own folder. */
export const COMPILED_CLI = join(tmpdir(), "pi-busybar-compiled", "pi-busybar");
const START_LIMIT_MS = 20_000;

export interface SimulatedBarOptions {
	readonly port?: number;
	readonly token?: string;
	readonly api?: "25" | "27.5";
	readonly access?: "usb" | "disabled" | "enabled" | "key";
}

export interface SimulatedBar {
	/** host:port, for `--addr`. */
	readonly addr: string;
	readonly url: string;
	readonly pid: number;
	/** @param afterRevision leaves out what the journal had at that revision; by default the last 2000 entries are there */
	state(afterRevision?: number): Promise<LiveView>;
	journal(): Promise<readonly JournalEntry[]>;
	/** Works with every fault, unlike `readScreen`. */
	screen(display: "front" | "back"): Promise<Screen>;
	/** Replaces all faults; `{}` ends them. */
	faults(faults: Faults): Promise<void>;
	busy(on: boolean): Promise<void>;
	pressKey(key: string): Promise<void>;
	/** Ends the process; can be called twice. A port given at the start is free again afterwards. */
	close(): Promise<void>;
}

export async function startSimulatedBar(options: SimulatedBarOptions = {}): Promise<SimulatedBar> {
	const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
	const child = spawn(process.execPath, [BIN, "simulate", "--format", "jsonl", ...flags], {
		stdio: ["ignore", "pipe", "pipe"],
		env: { ...process.env, XDG_CACHE_HOME: dirname(COMPILED_CLI) },
	});
	const kill = (): void => void child.kill("SIGKILL");
	process.once("exit", kill);
	const exited = once(child, "exit");
	let complaints = "";
	child.stderr.on("data", (chunk: Buffer) => {
		complaints += chunk;
	});
	const timer = setTimeout(kill, START_LIMIT_MS);
	const row = await Promise.race([once(createInterface(child.stdout), "line"), exited.then(() => undefined)]);
	clearTimeout(timer);
	if (row === undefined) throw new Error(`The simulated bar did not start: ${complaints}`);
	const { addr, url } = JSON.parse(String(row[0])) as { addr: string; url: string };

	const ask = async (method: string, path: string, body = ""): Promise<string> =>
		await new Promise((resolve, reject) => {
			const call = request(`${url}_sim/${path}`, { method, agent: false }, (response) => {
				let text = "";
				response.setEncoding("utf8");
				response.on("data", (chunk: string) => {
					text += chunk;
				});
				response.on("end", () => {
					if (response.statusCode === 200) resolve(text);
					else reject(new Error(`${method} _sim/${path}: ${text}`));
				});
				response.on("error", reject);
			});
			call.on("error", reject);
			call.end(body);
		});

	const state = async (afterRevision = 0) => JSON.parse(await ask("GET", `live?after=${afterRevision}`)) as LiveView;
	return {
		addr,
		url,
		pid: child.pid ?? 0,
		state,
		journal: async () => (await state()).journal,
		screen: async (display) => unpackScreen((await state())[display], display),
		async faults(faults) {
			await ask("POST", "faults", JSON.stringify(faults));
		},
		async busy(on) {
			await ask("POST", `busy?on=${on}`);
		},
		async pressKey(key) {
			await ask("POST", `key?key=${key}`);
		},
		async close() {
			process.removeListener("exit", kill);
			if (child.exitCode === null && child.signalCode === null) kill();
			await exited;
		},
	};
}
