import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { type ExecFn, execProcess } from "../../extensions/busybar-alert/cli/exec.ts";
import { WhichCli } from "../../extensions/busybar-alert/cli/which-cli.ts";
import { Assets } from "../../extensions/busybar-alert/cycle/assets.ts";
import { resolveSettings } from "../../extensions/busybar-alert/settings-file.ts";
import { doctorText, examine } from "../../extensions/busybar-alert/tell/doctor.ts";
import { DEAD_ADDRESS } from "../support/pi-desk.ts";
import { scratchFolder } from "../support/scratch.ts";
import { startSimulatedBar } from "../support/simulated-bar.ts";

const GO_BUSYBAR = fileURLToPath(new URL("../support/go-busybar", import.meta.url));
const FOREIGN_BUSYBAR = fileURLToPath(new URL("../support/foreign-busybar", import.meta.url));

interface Patient {
	readonly saved?: Record<string, unknown>;
	readonly env?: NodeJS.ProcessEnv;
	readonly kernel?: string;
	readonly cacheFolder?: string;
	readonly exec?: ExecFn;
}

/** A CLI that always prints the same, and asks no bar. */
const saying =
	(code: number, stderr: string): ExecFn =>
	async () => ({ code, signal: null, killed: false, stdout: "[]", stderr });
const noBar = saying(1, "Error: connection refused");

async function visit({ saved = {}, env = {}, kernel = "", cacheFolder, exec = execProcess }: Patient): Promise<string> {
	const folder = cacheFolder ?? scratchFolder();
	const path = { PATH: [...(env.PATH ? [env.PATH] : []), join(process.execPath, "..")].join(":") };
	const runtime = { execPath: process.execPath, isNode: true, platform: process.platform, env: path };
	const findings = await examine(resolveSettings(saved, env), {
		exec,
		whichCli: new WhichCli(execProcess, folder, runtime),
		assets: new Assets(execProcess, folder),
		cacheFolder: folder,
		env: { ...env, ...path },
		kernel: async () => kernel,
	});
	return doctorText(findings);
}

test("if all is well, every line is ok, and one names the bar", async () => {
	const bar = await startSimulatedBar();
	onTestFinished(() => bar.close());
	const text = await visit({ env: { BUSYBAR_ADDR: bar.addr } });
	expect(text.split("\n").filter((line) => !line.startsWith("ok       "))).toEqual([]);
	expect(text).toContain(`Address: ${bar.addr} (from the environment variable BUSYBAR_ADDR).`);
	expect(text).toMatch(new RegExp(`BUSY Bar answers at ${bar.addr}: firmware \\S+, API 27\\.5\\.0\\.`));
	expect(text).toMatch(/CLI: the bundled one, .*bin\.js \(there is no compatible busybar on PATH\)\./);
	expect(text).toContain("`patternDone`: check will be built for its first alert.");
});

test("a missing access key is reported with both possible causes, and a set one is not shown", async () => {
	const bar = await startSimulatedBar({ token: "123456" });
	onTestFinished(() => bar.close());
	expect(await visit({ env: { BUSYBAR_ADDR: bar.addr } })).toMatch(/^problem .*refused access \(HTTP 403\)/m);
	const text = await visit({ saved: { token: "123456" }, env: { BUSYBAR_ADDR: bar.addr } });
	expect(text).toMatch(/^ok {7}Access key: set \(saved\)\./m);
	expect(text).not.toContain("123456");
});

test("at a dead address, the problem is named, and what to check", async () => {
	expect(await visit({ env: { BUSYBAR_ADDR: DEAD_ADDRESS } })).toMatch(
		/^problem {2}No BUSY Bar at .*Check the cable or Wi-Fi/m,
	);
});

test("for the Go CLI: why it is used, what it lacks and what that means, and other programs of that name", async () => {
	const text = await visit({
		saved: { token: "4321" },
		env: { BUSYBAR_ADDR: DEAD_ADDRESS, PATH: `${FOREIGN_BUSYBAR}:${GO_BUSYBAR}` },
	});
	expect(text).toContain(`CLI: ${GO_BUSYBAR}/busybar (the first compatible busybar on PATH).`);
	expect(text).toContain(
		`warning  ${FOREIGN_BUSYBAR}/busybar is also called busybar, but is another program, so it is skipped.`,
	);
	expect(text).not.toContain("is not the one that is used");
	expect(text).toMatch(/no --expires-after: if pi is killed during an alert, the bar stays lit/);
	expect(text).toMatch(/no --request-timeout/);
	expect(text).toMatch(/access key as an argument/);
	expect(text).not.toContain("4321");
});

test("settings that cannot be used are problems, and overridden environment variables are warnings", async () => {
	const text = await visit({ saved: { priority: 1e9, addr: DEAD_ADDRESS }, env: { BUSYBAR_ADDR: "other" } });
	expect(text).toMatch(/^problem {2}The setting `priority` must be a whole number from 1 to 100, not 1000000000;/m);
	expect(text).toMatch(/^warning {2}BUSYBAR_ADDR is set, but the saved `addr` overrides it\./m);
});

test("alerts that are off, a pattern that is off and a missing picture are reported", async () => {
	const text = await visit({
		saved: { addr: DEAD_ADDRESS, enabled: false, pattern: "off", patternDone: "/nowhere/frames" },
	});
	expect(text).toMatch(/^warning {2}Alerts are off\. To turn them on: \/busybar-alert-toggle on\./m);
	expect(text).toMatch(/^warning {2}`pattern` is off, so turn alerts are skipped\./m);
	expect(text).toMatch(/^problem {2}`patternDone`: .*\/nowhere\/frames does not exist/m);
});

test("a cache folder that is not writable is a problem", async () => {
	const file = join(scratchFolder(), "file");
	writeFileSync(file, "");
	const text = await visit({ saved: { addr: DEAD_ADDRESS }, cacheFolder: file });
	expect(text).toMatch(/^problem .*is not writable \(\w+\), so there is no log/m);
});

test("a configured CLI that is missing is a problem", async () => {
	const text = await visit({ saved: { addr: DEAD_ADDRESS, command: "/nowhere/busybar" } });
	expect(text).toMatch(/^problem {2}The busybar command \/nowhere\/busybar does not exist/m);
});

test.each([
	["in WSL, recognized by its environment", { env: { WSL_DISTRO_NAME: "Ubuntu" } }, /networkingMode=mirrored/],
	[
		"in WSL, recognized by its kernel",
		{ kernel: "Linux version 5.15 (Microsoft@Microsoft.com)" },
		/networkingMode=mirrored/,
	],
	["over SSH", { env: { SSH_CONNECTION: "10.1.1.1 5000 10.1.1.2 22" } }, /ssh -R 8420:10\.0\.4\.20:80/],
])("%s, if no bar answers over USB, the doctor says why and what to do", async (_, patient, advice) => {
	expect(await visit({ ...patient, exec: noBar })).toMatch(advice);
	expect(await visit({ ...patient, exec: saying(0, "") })).not.toMatch(advice);
	expect(await visit({ ...patient, exec: noBar, saved: { addr: DEAD_ADDRESS } })).not.toMatch(advice);
});

test("the CLI is searched for again, so that one that was just installed is found", async () => {
	const asked: string[] = [];
	await examine(resolveSettings({ command: "/opt/busybar" }, {}), {
		exec: noBar,
		whichCli: {
			forget: (command) => void asked.push(`forget ${command}`),
			choose: async (command) => {
				asked.push(`choose ${command}`);
				return { ok: false, failure: { kind: "not_found", message: "gone" }, foreign: [] };
			},
			namesakes: async () => [],
		},
		assets: { state: async () => "absent" },
		cacheFolder: scratchFolder(),
		env: {},
		kernel: async () => "",
	});
	expect(asked.slice(0, 2)).toEqual(["forget /opt/busybar", "choose /opt/busybar"]);
});
