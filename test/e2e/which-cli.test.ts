import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import type { ExecFn } from "../../extensions/busybar-alert/cli/exec.ts";
import { execProcess } from "../../extensions/busybar-alert/cli/exec.ts";
import { BUNDLED_CLI, type Runtime, WhichCli } from "../../extensions/busybar-alert/cli/which-cli.ts";
import { NO_ABILITIES } from "../support/abilities.ts";
import { scratchFolder } from "../support/scratch.ts";

const CONTRACT = "--application-name --priority --loop";

/** A machine with its own programs; notes which of them are started. */
class Machine {
	readonly folder = scratchFolder();
	readonly cache = join(this.folder, "cache");
	readonly started: string[] = [];
	readonly folders: string[] = [];

	/** A program that prints `help` whatever it is asked. Returns its path. */
	program(folder: string, help: string, name = "busybar"): string {
		return this.script(folder, `echo '${help}'`, name);
	}

	/** A program made of shell built-ins only: nothing else is on its PATH. Returns its path. */
	script(folder: string, script: string, name = "busybar"): string {
		const path = join(this.folder, folder, name);
		mkdirSync(join(this.folder, folder), { recursive: true });
		writeFileSync(path, `#!/bin/sh\n${script}\n`);
		chmodSync(path, 0o755);
		this.folders.push(join(this.folder, folder));
		return path;
	}

	which(runtime: Partial<Runtime> = {}, extraPath: readonly string[] = []): WhichCli {
		const exec: ExecFn = (file, args, options) => {
			this.started.push(file);
			return execProcess(file, args, options);
		};
		const PATH = [...extraPath, ...this.folders].join(delimiter);
		return new WhichCli(exec, this.cache, {
			execPath: "/opt/node",
			isNode: true,
			platform: "linux",
			env: { PATH },
			...runtime,
		});
	}
}

describe("which busybar runs", () => {
	test("the bundled one, with this process's Node, when none is on PATH", async () => {
		const choice = await new Machine().which().choose("");
		expect(choice).toMatchObject({
			ok: true,
			cli: { source: "bundled", file: "/opt/node", leadingArgs: [BUNDLED_CLI] },
		});
	});

	test("the first compatible one on PATH; another program before it is skipped and named", async () => {
		const machine = new Machine();
		const foreign = machine.program("a", "usage: busybar [install|wait|clean]");
		const go = machine.program("b", CONTRACT);
		machine.program("c", `${CONTRACT} --expires-after`);
		const choice = await machine.which().choose("");
		expect(choice).toMatchObject({ ok: true, foreign: [foreign], cli: { source: "path", file: go, leadingArgs: [] } });
		expect(choice.ok && choice.cli.abilities).toEqual(NO_ABILITIES);
		expect(await machine.which().namesakes()).toHaveLength(3);
	});

	test.each([
		"--application-names --priority --loop",
		"--priority --loop",
		"--application-name --loop",
		"--application-name --priority",
	])("a help text that names not all flags of the contract proves nothing (%s)", async (help) => {
		const machine = new Machine();
		machine.program("a", help);
		expect(await machine.which().choose("")).toMatchObject({ ok: true, cli: { source: "bundled" } });
	});

	test("what a CLI can do beyond the contract is read from its help", async () => {
		const machine = new Machine();
		machine.program("a", `${CONTRACT} --expires-after SECONDS --request-timeout MS (env BUSYBAR_TOKEN)`);
		const choice = await machine.which().choose("");
		expect(choice.ok && choice.cli.abilities).toEqual({
			...NO_ABILITIES,
			expiresAfter: true,
			requestTimeout: true,
			tokenFromEnvironment: true,
		});
	});

	test("a relative PATH entry is never searched, even if it leads to a compatible program", async () => {
		const machine = new Machine();
		const folder = join(machine.program("a", CONTRACT), "..");
		machine.folders.length = 0;
		const here = relative(process.cwd(), folder);
		const which = machine.which({}, ["", ".", here, `./${here}`]);
		expect(await which.choose("")).toMatchObject({ ok: true, cli: { source: "bundled" } });
		expect(await which.namesakes()).toEqual([]);
		expect(await machine.which({}, [folder]).choose("")).toMatchObject({ ok: true, cli: { source: "path" } });
	});

	test("the `command` setting comes before PATH, and `bundled` always means the bundled one", async () => {
		const machine = new Machine();
		machine.program("a", CONTRACT);
		const other = machine.program("elsewhere", CONTRACT, "my-busybar");
		expect(await machine.which().choose(other)).toMatchObject({ ok: true, cli: { source: "setting", file: other } });
		expect(await machine.which().choose("bundled")).toMatchObject({ ok: true, cli: { source: "bundled" } });
	});

	test.each([
		["missing", "/nowhere/busybar"],
		["a folder", tmpdir()],
		["not executable", "/etc/passwd"],
	])("a configured command that is %s is not found, and nothing else runs in its place", async (_, path) => {
		const machine = new Machine();
		machine.program("a", CONTRACT);
		const choice = await machine.which().choose(path);
		expect(choice).toMatchObject({ ok: false, failure: { kind: "not_found", message: expect.stringContaining(path) } });
		expect(machine.started).toEqual([]);
	});

	test("a configured command that was missing is found once it is there", async () => {
		const machine = new Machine();
		const which = machine.which();
		const path = join(machine.folder, "a", "busybar");
		expect(await which.choose(path)).toMatchObject({ ok: false });
		machine.program("a", CONTRACT);
		expect(await which.choose(path)).toMatchObject({ ok: true, cli: { source: "setting" } });
	});

	test("on Windows, programs have their ending", async () => {
		const machine = new Machine();
		machine.program("a", CONTRACT);
		const path = machine.program("b", CONTRACT, "busybar.exe");
		expect(await machine.which({ platform: "win32" }).choose("")).toMatchObject({ ok: true, cli: { file: path } });
	});

	test("a configured command that is another program is named", async () => {
		const machine = new Machine();
		const path = machine.program("a", "usage: something else");
		const choice = await machine.which().choose(path);
		expect(choice).toMatchObject({ ok: false, failure: { kind: "wrong_cli", message: expect.stringContaining(path) } });
	});
});

describe("Node for the bundled CLI, when pi itself does not run on Node", () => {
	const standalone = { isNode: false, execPath: "/opt/pi" };

	test.each(["v22.19.0", "v24.0.0"])("the first on PATH that is new enough (%s); never pi itself", async (version) => {
		const machine = new Machine();
		machine.program("old", "v22.18.0", "node");
		const node = machine.program("new", version, "node");
		expect(await machine.which(standalone).choose("")).toMatchObject({ ok: true, cli: { file: node } });
	});

	test("if there is none, the message says what is needed", async () => {
		const machine = new Machine();
		machine.program("old", "v20.20.2", "node");
		expect(await machine.which(standalone).choose("")).toMatchObject({
			ok: false,
			failure: { kind: "no_node", message: expect.stringMatching(/needs Node 22\.19 or newer/) },
		});
	});
});

test("a program that is not known yet gets neither the access key nor pi's own Node options", async () => {
	const machine = new Machine();
	const seen = join(machine.folder, "seen");
	const note = `echo "$0 $GIVEN \${BUSYBAR_TOKEN-none} \${NODE_OPTIONS-none}" >> '${seen}'; echo v20.20.2`;
	const programs = [machine.script("a", note), machine.script("b", note, "node")];
	const configured = machine.script("c", note, "my-busybar");
	const env = {
		PATH: machine.folders.join(delimiter),
		GIVEN: "given",
		BUSYBAR_TOKEN: "73519",
		NODE_OPTIONS: "--inspect-brk",
	};
	const which = machine.which({ env, isNode: false });
	await which.choose("");
	await which.choose(configured);
	const lines = [...programs, configured].map((path) => `${path} given none none`);
	expect(readFileSync(seen, "utf8").trimEnd().split("\n")).toEqual(lines);
});

describe("the proof", () => {
	test("is remembered across restarts of pi by path, size and modification time", async () => {
		const machine = new Machine();
		const path = machine.program("a", CONTRACT);
		await machine.which().choose("");
		expect(machine.started).toEqual([path]);
		await machine.which().choose("");
		expect(machine.started).toEqual([path]);
		const later = new Date(Date.now() + 5_000);
		utimesSync(path, later, later);
		await machine.which().choose("");
		expect(machine.started).toEqual([path, path]);
		machine.program("a", `${CONTRACT} --expires-after`);
		utimesSync(path, later, later);
		await machine.which().choose("");
		expect(machine.started).toEqual([path, path, path]);
	});

	test("costs one process, however many alerts wait for it", async () => {
		const machine = new Machine();
		machine.program("a", CONTRACT);
		const which = machine.which();
		await Promise.all([which.choose(""), which.choose(""), which.choose("")]);
		expect(machine.started).toHaveLength(1);
	});

	test("of a program that hangs ends after 3 s, and is not repeated in this pi but in the next", async () => {
		const machine = new Machine();
		const path = machine.script("a", "exec /bin/sleep 20");
		const which = machine.which();
		expect(await which.choose("")).toMatchObject({ ok: true, cli: { source: "bundled" }, foreign: [path] });
		expect(await which.choose(path)).toMatchObject({
			ok: false,
			failure: { message: expect.stringContaining(`${path} did not answer "show --help" within 3 s`) },
		});
		expect(machine.started).toEqual([path]);
		await machine.which().choose("");
		expect(machine.started).toEqual([path, path]);
	});

	test("that fails counts for this pi only, and nothing about it is written to disk", async () => {
		const machine = new Machine();
		const [other, cli] = [machine.program("a", "usage: something else"), machine.program("b", CONTRACT)];
		const which = machine.which();
		await which.choose("");
		expect(await which.choose(other)).toMatchObject({ ok: false, failure: { kind: "wrong_cli" } });
		expect(machine.started).toEqual([other, cli]);
		await machine.which().choose("");
		expect(machine.started).toEqual([other, cli, other]);
		expect(Object.keys(JSON.parse(readFileSync(join(machine.cache, "cli.json"), "utf8")))).toEqual([cli]);
	});

	test("that an older version saved as failed is run again", async () => {
		const machine = new Machine();
		const path = machine.program("a", CONTRACT);
		const { size, mtimeMs } = statSync(path);
		mkdirSync(machine.cache);
		writeFileSync(join(machine.cache, "cli.json"), JSON.stringify({ [path]: { size, mtimeMs, abilities: null } }));
		expect(await machine.which().choose("")).toMatchObject({ ok: true, cli: { source: "path" } });
		expect(machine.started).toEqual([path]);
	});

	test("of a program that never stops printing says that it is another program", async () => {
		const machine = new Machine();
		const path = machine.script("a", "while :; do echo 'usage: something else, something else, something else'; done");
		expect(await machine.which().choose(path)).toMatchObject({
			failure: { kind: "wrong_cli", message: expect.stringContaining("is another program") },
		});
	});

	test("that failed is run again once the choice is forgotten", async () => {
		const machine = new Machine();
		const real = join(machine.folder, "real");
		const onPath = machine.script("a", `. '${real}'`);
		const configured = machine.script("b", `. '${real}'`, "my-busybar");
		writeFileSync(real, "echo 'usage: something else'");
		const which = machine.which();
		expect(await which.choose("")).toMatchObject({ cli: { source: "bundled" } });
		expect(await which.choose(configured)).toMatchObject({ ok: false });
		writeFileSync(real, `echo '${CONTRACT}'`);
		expect(await which.choose(configured)).toMatchObject({ ok: false });
		which.forget("");
		expect(await which.choose("")).toMatchObject({ cli: { source: "path", file: onPath } });
		expect(await which.choose(configured)).toMatchObject({ ok: true });
	});

	test("of a program that cannot be started says why", async () => {
		const machine = new Machine();
		const path = machine.program("a", CONTRACT);
		writeFileSync(path, "#!/nowhere/interpreter\n");
		expect(await machine.which().choose(path)).toMatchObject({
			ok: false,
			failure: { message: expect.stringContaining(`${path} cannot be started (ENOENT)`) },
		});
	});

	test("finds a program that was installed later, once the choice is forgotten", async () => {
		const machine = new Machine();
		machine.folders.push(join(machine.folder, "later"));
		const which = machine.which();
		expect(await which.choose("")).toMatchObject({ cli: { source: "bundled" } });
		machine.program("later", CONTRACT);
		expect(await which.choose("")).toMatchObject({ cli: { source: "bundled" } });
		which.forget("");
		expect(await which.choose("")).toMatchObject({ cli: { source: "path" } });
	});

	test.each(["not json", "[]", "null", '{"/x": {"size": "1"}}'])("is run again if cli.json holds %j", async (text) => {
		const machine = new Machine();
		machine.program("a", CONTRACT);
		mkdirSync(machine.cache);
		writeFileSync(join(machine.cache, "cli.json"), text);
		expect(await machine.which().choose("")).toMatchObject({ ok: true, cli: { source: "path" } });
		expect(JSON.parse(readFileSync(join(machine.cache, "cli.json"), "utf8"))).toHaveProperty(
			join(machine.folder, "a", "busybar"),
		);
	});

	test("works through a link", async () => {
		const machine = new Machine();
		const real = machine.program("real", CONTRACT);
		machine.folders.length = 0;
		mkdirSync(join(machine.folder, "bin"));
		symlinkSync(real, join(machine.folder, "bin", "busybar"));
		machine.folders.push(join(machine.folder, "bin"));
		expect(await machine.which().choose("")).toMatchObject({
			ok: true,
			cli: { file: join(machine.folder, "bin", "busybar") },
		});
	});
});
