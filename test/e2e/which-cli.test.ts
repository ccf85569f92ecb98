import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import type { ExecFn } from "../../extensions/busybar-alert/cli/exec.ts";
import { execProcess } from "../../extensions/busybar-alert/cli/exec.ts";
import { BUNDLED_CLI, type Runtime, WhichCli } from "../../extensions/busybar-alert/cli/which-cli.ts";
import { scratchFolder } from "../support/scratch.ts";

const CONTRACT = "--application-name --priority --loop";

/** A machine with programs of its own; counts the processes that were started on it. */
class Machine {
	readonly folder = scratchFolder();
	readonly cache = join(this.folder, "cache");
	readonly started: string[] = [];
	readonly folders: string[] = [];

	/** A program that prints `help` whatever it is asked. Returns its path. */
	program(folder: string, help: string, name = "busybar"): string {
		const path = join(this.folder, folder, name);
		mkdirSync(join(this.folder, folder), { recursive: true });
		writeFileSync(path, `#!/bin/sh\ncat <<'END'\n${help}\nEND\n`);
		chmodSync(path, 0o755);
		this.folders.push(join(this.folder, folder));
		return path;
	}

	/** What is at `path` hangs from now on, or no more; its size and modification time stay as they are. */
	hang(path: string, hangs: boolean): void {
		const { size, mtime } = statSync(path);
		const script = hangs ? "exec sleep 20" : `echo ${CONTRACT}`;
		writeFileSync(path, `#!/bin/sh\n${script}\n#`.padEnd(size, "#"));
		utimesSync(path, mtime, mtime);
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

	test("the first on PATH that speaks the contract; another program of that name before it is skipped and reported", async () => {
		const machine = new Machine();
		const foreign = machine.program("a", "usage: busybar [install|wait|clean]");
		const go = machine.program("b", CONTRACT);
		machine.program("c", `${CONTRACT} --expires-after`);
		const choice = await machine.which().choose("");
		expect(choice).toMatchObject({ ok: true, foreign: [foreign], cli: { source: "path", file: go, leadingArgs: [] } });
		expect(choice.ok && choice.cli.abilities).toEqual({
			expiresAfter: false,
			requestTimeout: false,
			tokenFromEnvironment: false,
		});
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
			expiresAfter: true,
			requestTimeout: true,
			tokenFromEnvironment: true,
		});
	});

	test("a relative PATH entry is never searched", async () => {
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

describe("Node for the bundled CLI, where pi is no Node", () => {
	const standalone = { isNode: false, execPath: "/opt/pi" };

	test.each(["v22.19.0", "v24.0.0"])("the first on PATH that is new enough (%s); never pi itself", async (version) => {
		const machine = new Machine();
		machine.program("old", "v22.18.0", "node");
		const node = machine.program("new", version, "node");
		expect(await machine.which(standalone).choose("")).toMatchObject({ ok: true, cli: { file: node } });
	});

	test("if there is none, the message says which version is needed", async () => {
		const machine = new Machine();
		machine.program("old", "v20.20.2", "node");
		expect(await machine.which(standalone).choose("")).toMatchObject({
			ok: false,
			failure: { kind: "no_node", message: expect.stringMatching(/needs Node 22\.19 or newer/) },
		});
	});
});

describe("the proof", () => {
	test("is remembered over restarts of pi by path, size and modification time", async () => {
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

	test("of a program that hangs ends after 3 s and is not repeated for ten minutes, by any pi", async () => {
		const machine = new Machine();
		const path = machine.program("a", `${CONTRACT} or so`);
		machine.hang(path, true);
		const choice = await machine.which().choose("");
		expect(choice).toMatchObject({ ok: true, cli: { source: "bundled" }, foreign: [path] });
		machine.hang(path, false);
		expect(await machine.which().choose("")).toMatchObject({ ok: true, cli: { source: "bundled" } });
		expect(machine.started).toEqual([path]);
		expect(await machine.which().choose(path)).toMatchObject({
			ok: false,
			failure: { message: expect.stringContaining(`${path} did not answer "show --help" within 3 s`) },
		});
		const memory = join(machine.cache, "cli.json");
		const remembered = JSON.parse(readFileSync(memory, "utf8"));
		writeFileSync(memory, JSON.stringify({ [path]: { ...remembered[path], until: Date.now() - 1 } }));
		expect(await machine.which().choose("")).toMatchObject({ ok: true, cli: { source: "path" } });
		expect(machine.started).toEqual([path, path]);
	});

	test("of a program that hung is provisional: once forgotten, it is asked again at once", async () => {
		const machine = new Machine();
		const path = machine.program("a", `${CONTRACT} or so`);
		machine.hang(path, true);
		const [which, other] = [machine.which(), machine.which()];
		expect(await which.choose("")).toMatchObject({ cli: { source: "bundled" }, isProvisional: true });
		machine.hang(path, false);
		expect(await other.choose("")).toMatchObject({ cli: { source: "bundled" }, isProvisional: true });
		expect(machine.started).toEqual([path]);
		other.forget("");
		expect(await other.choose("")).toMatchObject({ cli: { source: "path" } });
		machine.program("a", CONTRACT);
		expect(await which.choose("")).toMatchObject({ cli: { source: "path" } });
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

	test("is repeated after the choice was forgotten", async () => {
		const machine = new Machine();
		machine.folders.push(join(machine.folder, "later"));
		const which = machine.which();
		expect(await which.choose("")).toMatchObject({ cli: { source: "bundled" } });
		machine.program("later", CONTRACT);
		expect(await which.choose("")).toMatchObject({ cli: { source: "bundled" } });
		which.forget("");
		expect(await which.choose("")).toMatchObject({ cli: { source: "path" } });
	});

	test.each(["not json", "[]", "null", '{"/x": {"size": "1"}}'])(
		"a memory that holds %j does no harm",
		async (text) => {
			const machine = new Machine();
			machine.program("a", CONTRACT);
			mkdirSync(machine.cache);
			writeFileSync(join(machine.cache, "cli.json"), text);
			expect(await machine.which().choose("")).toMatchObject({ ok: true, cli: { source: "path" } });
			expect(JSON.parse(readFileSync(join(machine.cache, "cli.json"), "utf8"))).toHaveProperty(
				join(machine.folder, "a", "busybar"),
			);
		},
	);

	test("through a link is that of the program it leads to", async () => {
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
