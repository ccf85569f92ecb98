// /px in the real pi, in both versions: in the terminal, over RPC and without a user interface.

import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { PI_VERSIONS, PiHome, runPi, startRpcPi, startTerminalPi } from "../support/pi.ts";
import { EXTENSION } from "../support/pi-desk.ts";
import { KEY, type Terminal } from "../support/terminal.ts";

const path = (file: string) => fileURLToPath(new URL(file, import.meta.url));
const LAUNCHER = path("../../extensions/launcher/index.ts");
const DEMO = path("../support/px-demo-extension.ts");
const SECOND = path("../support/px-second-extension.ts");
const BOTH = { extensions: [LAUNCHER, DEMO, SECOND] };

/** Sends a command. It is pasted, because completions would pop up while typing and take the Enter. */
async function command(pi: Terminal, text: string): Promise<void> {
	pi.write(`\x1b[200~${text}\x1b[201~`);
	await pi.waitForText(new RegExp(`^${text}\\s*$`, "m"));
	pi.write(KEY.enter);
}

describe.each(PI_VERSIONS)("pi %s", (version) => {
	test("in a terminal: open, filter, run an action that asks a question, change a setting, and leave", async () => {
		const home = new PiHome(onTestFinished);
		const pi = await startTerminalPi(home, { ...BOTH, version, columns: 80, rows: 24 });

		await command(pi, "/px");
		await pi.waitForText(/→ Demo .*\n.*Second/);
		// 0.82.1 does not announce prompts.
		if (version === "1.6.0") await pi.waitForText("px screen");
		pi.write(KEY.enter);
		await pi.waitForText("Extensions › Demo");
		pi.write("ask");
		await pi.waitForText("> ask");
		pi.write(KEY.enter);
		await pi.waitForText("Tea or coffee?");
		pi.write(KEY.enter);
		await pi.waitForText("You said tea.");

		pi.write(`\x15settings`);
		await pi.waitForText("> settings");
		pi.write(KEY.enter);
		await pi.waitForText(/→ Light +Lamp +on/);
		pi.write(KEY.enter);
		await pi.waitForText(/→ Light +Lamp +off/);

		pi.write(KEY.escape);
		await pi.waitForText("> settings");
		pi.write(KEY.escape);
		await pi.waitForText("→ Demo");
		pi.write(KEY.escape);
		await pi.waitForScreen("The editor", (screen) => !screen.includes("→ Demo"));
	});

	test("after /reload and /new, /px lists exactly the extensions that pi's settings name", async () => {
		const home = new PiHome(onTestFinished);
		home.writeSettings({ extensions: [LAUNCHER, DEMO, SECOND] });
		const pi = await startTerminalPi(home, { version, discovery: true, columns: 80, rows: 24 });
		const listed = async (names: RegExp) => {
			await command(pi, "/px");
			const screen = await pi.waitForText(names);
			expect(screen).not.toContain("More than one");
			pi.write(KEY.escape);
			await pi.waitForScreen("The editor", (now) => !now.includes("type to filter"));
		};

		await command(pi, "/reload");
		await pi.waitForText("Reloaded");
		await listed(/→ Demo .*\n {2}Second .*\n {2}\/px .*\n+enter open/);
		home.writeSettings({ extensions: [LAUNCHER, DEMO] });
		await command(pi, "/reload");
		await pi.waitForScreen("The second reload", (screen) => !screen.includes("px-second"));
		await listed(/→ Demo .*\n {2}\/px .*\n+enter open/);
		await command(pi, "/new");
		await pi.waitForText("New session");
		await listed(/→ Demo .*\n {2}\/px .*\n+enter open/);
	});

	test("pi -p prints the answer to the standard output", async () => {
		const home = new PiHome(onTestFinished);
		const ask = (prompt: string) => runPi(home, { ...BOTH, version, prompt });

		const [demo, greeting, danger] = await Promise.all(
			["/px demo", "/px demo greet Ada Lovelace", "/px demo wipe"].map(ask),
		);

		expect(demo?.stdout).toMatch(/wipe +Erase everything\. Asks for confirmation\./);
		expect(demo?.stdout).toMatch(/speed +1\.5 {2}\(Used instead of the environment variable DEMO_SPEED\.\)/);
		expect(demo?.stdout).toMatch(/key +not set/);
		expect(greeting).toMatchObject({ stdout: "Hello, Ada Lovelace.\n", code: 0 });
		expect(danger?.stdout).toBe("Wipe asks for confirmation, which is not possible here. Run it in pi's terminal.\n");
	});
});

test("Tab completes the names of extensions, then of actions, then arguments", async () => {
	const home = new PiHome(onTestFinished);
	const pi = await startTerminalPi(home, { ...BOTH, columns: 80, rows: 24 });

	pi.write("/px de");
	await pi.waitForText(/demo +Shows every kind/);
	pi.write("\t");
	await pi.waitForText("/px demo");
	pi.write(" gr");
	await pi.waitForText(/greet +Say hello/);
	pi.write("\t");
	await pi.waitForText("/px demo greet");
	pi.write("\x15/px demo tune s");
	await pi.waitForText(/slow +something slow/);
	pi.write("\t");
	await pi.waitForText("/px demo tune slow");
});

test("documentation scrolls in pi's regular interface, in a small window", async () => {
	const home = new PiHome(onTestFinished);
	const docs = join(home.dir, "README.md");
	writeFileSync(docs, Array.from({ length: 60 }, (_, line) => `line ${line + 1}`).join("\n\n"));
	const args = ["--tui-mode", "regular"];
	const pi = await startTerminalPi(home, { ...BOTH, args, env: { PX_DEMO_DOCS: docs }, columns: 36, rows: 14 });

	await command(pi, "/px demo");
	await pi.waitForText("→ Greet");
	pi.write("docu");
	await pi.waitForText("→ Documentation");
	pi.write(KEY.enter);
	await pi.waitForText(/line 1 *\n[\s\S]*Lines 1-\d+ of 119/);
	pi.write("\x1b[F");
	const screen = await pi.waitForText("line 60");
	expect(screen).toContain("Demo › Documentation");
	expect(screen).toContain("esc back");
});

test.each([
	{ name: "pi 1.6.0", columns: 80, rows: 24, widgetRows: 8 },
	{ name: "pi 1.6.0", columns: 36, rows: 14, widgetRows: 5 },
	{ name: "pi 1.6.0's regular interface", args: ["--tui-mode", "regular"], columns: 36, rows: 14, widgetRows: 5 },
	{ name: "pi 0.82.1", version: "0.82.1", columns: 36, rows: 14, widgetRows: 5 },
] as const)(
	"in $name at $columns x $rows, a widget of $widgetRows rows, the selected row and the key hints are all visible",
	async ({ widgetRows, ...options }) => {
		const home = new PiHome(onTestFinished);
		const env = { PX_DEMO_WIDGET_ROWS: String(widgetRows) };
		const pi = await startTerminalPi(home, { ...BOTH, ...options, env });
		const parts = ["widget 1", `widget ${widgetRows}`, "Demo", "esc back", "faux-1"];

		await command(pi, "/px demo");
		for (const label of ["Greet", "Report", "Fail", "Ask", "Tune", "Wipe", "Settings"]) {
			await pi.waitForScreen(`All with ${label} selected`, (screen) =>
				[...parts, `→ ${label}`].every((part) => screen.includes(part)),
			);
			pi.write(KEY.down);
		}
	},
);

test("over RPC, answers are notices, an unknown name gets the known ones, and a dangerous action asks", async () => {
	const home = new PiHome(onTestFinished);
	const pi = startRpcPi(home, BOTH);
	const notice = async (prompt: string) => {
		await pi.prompt(prompt);
		return (await pi.waitFor(({ method }) => method === "notify")).message;
	};

	expect(await notice("/px")).toMatch(/^Extensions:/);
	expect(await notice("/px second")).toMatch(/^Second: The other one\.\nActions \(\/px second ACTION\):\n {2}tick/);
	expect(await notice("/px demo greet you there")).toBe("Hello, you there.");
	expect(await notice("/px demo fail")).toBe("Demo: Fail failed: The door is stuck. Oil it.");
	expect(await notice("/px nothing")).toBe('Unknown extension "nothing". Use demo, second or px.');
	expect(await notice("/px second tock")).toBe('Second has no action "tock". Use tick.');

	for (const [confirmed, answer] of [
		[false, "Hello, you."],
		[true, "Wiped."],
	] as const) {
		const asked = pi.prompt("/px demo wipe");
		const { id } = await pi.waitFor(({ method }) => method === "confirm");
		pi.send({ type: "extension_ui_response", id, confirmed });
		await asked;
		if (!confirmed) expect(await notice("/px demo greet")).toBe(answer);
		else expect((await pi.waitFor(({ method }) => method === "notify")).message).toBe(answer);
	}
});

test("in JSON mode the answer goes to the error output, and two extensions with the same id are pointed out", async () => {
	const home = new PiHome(onTestFinished);

	const run = await runPi(home, { ...BOTH, mode: "json", prompt: "/px", env: { PX_SECOND_ID: "demo" } });

	expect(run.stderr).toContain("  demo  Shows every kind of entry.");
	expect(run.stderr).toContain('More than one extension has the id "demo"');
	for (const line of run.stdout.trim().split("\n")) expect(() => JSON.parse(line)).not.toThrow();
});

test("if /px is loaded twice, there is still only one /px", async () => {
	const home = new PiHome(onTestFinished);
	const copy = join(home.dir, "copy");
	mkdirSync(copy);
	for (const part of ["_shared", "launcher"]) {
		cpSync(path(`../../extensions/${part}`), join(copy, part), { recursive: true });
	}

	const run = await runPi(home, { extensions: [LAUNCHER, join(copy, "launcher/index.ts"), SECOND], prompt: "/px" });

	expect(run.stdout).toMatch(/^Extensions:\n {2}second/);
});

test("without any other extension, /px has its own documentation", async () => {
	const home = new PiHome(onTestFinished);
	const ask = (prompt: string) => runPi(home, { extensions: [LAUNCHER], prompt });
	const [list, docs] = await Promise.all(["/px", "/px px docs"].map(ask));
	expect(list?.stdout).toMatch(/^Extensions:\n {2}px {2}How to use/);
	expect(docs?.stdout).toMatch(/^# \/px\n/);
});

test("settings and documentation have commands, in a terminal and without one", async () => {
	const home = new PiHome(onTestFinished);
	const docs = join(home.dir, "README.md");
	writeFileSync(docs, "# Demo\n\nAll about it.\n");
	const options = { ...BOTH, env: { PX_DEMO_DOCS: docs } };
	const [settings, document, unknown] = await Promise.all(
		["/px demo settings", "/px demo docs", "/px demo nothing"].map((prompt) => runPi(home, { ...options, prompt })),
	);
	expect(settings?.stdout).toMatch(/^Settings:\n {2}lamp +on\n/);
	expect(document?.stdout).toBe("# Demo\n\nAll about it.\n\n");
	expect(unknown?.stdout).toBe(
		'Demo has no action "nothing". Use greet, report, fail, ask, tune, wipe, settings or docs.\n',
	);

	const pi = await startTerminalPi(home, { ...options, columns: 80, rows: 24 });
	await command(pi, "/px demo settings");
	await pi.waitForText(/→ Light +Lamp +on/);
	pi.write(KEY.escape);
	await pi.waitForText("→ Greet");
	pi.write(KEY.escape);
	await pi.waitForScreen("The editor", (screen) => !screen.includes("→ Greet"));
	await command(pi, "/px demo docs");
	await pi.waitForText("All about it.");
});

test("in /px the alert can be muted for a while and unmuted again", async () => {
	const home = new PiHome(onTestFinished);
	const pi = await startTerminalPi(home, { extensions: [LAUNCHER, EXTENSION], columns: 80, rows: 24 });
	const mute = async (choice: string) => {
		pi.write(KEY.enter);
		await pi.waitForText("BUSY Bar alert › Mute");
		pi.write(choice);
		await pi.waitForText(`> ${choice}`);
		pi.write(KEY.enter);
	};

	await command(pi, "/px busybar-alert");
	await pi.waitForText("→ State");
	pi.write("mute");
	await pi.waitForText("→ Mute");
	await mute("30 minutes");
	await pi.waitForText(/BUSY Bar alerts are muted until \d\d:\d\d/);
	await mute("unmute");
	await pi.waitForText("BUSY Bar alerts are not muted.");
});

test("the example for authors works as printed", async () => {
	const home = new PiHome(onTestFinished);
	cpSync(path("../../extensions/_shared"), join(home.dir, "_shared"), { recursive: true });
	const [, example = ""] =
		/```ts\n([\s\S]*?)```/.exec(readFileSync(path("../../extensions/launcher/README.md"), "utf8")) ?? [];
	mkdirSync(join(home.dir, "lamp"));
	writeFileSync(join(home.dir, "lamp/index.ts"), example);
	writeFileSync(join(home.dir, "lamp/README.md"), "The lamp.");
	const extensions = [LAUNCHER, join(home.dir, "lamp/index.ts")];
	const prompts = ["/px lamp blink twice", "/px lamp docs"];
	const runs = await Promise.all(prompts.map((prompt) => runPi(home, { extensions, prompt })));
	expect(runs.map(({ stdout }) => stdout)).toEqual(["Blinked twice.\n", "The lamp.\n"]);
});
