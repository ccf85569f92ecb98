import {
	lstatSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	statSync,
	symlinkSync,
	utimesSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { SETTING_NAMES, settingField } from "../../extensions/busybar-alert/settings.ts";
import { resolveSettings, SettingsFile } from "../../extensions/busybar-alert/settings-file.ts";
import { scratchFolder } from "../support/scratch.ts";

const folder = scratchFolder;

describe("which value holds", () => {
	test("defaults, when nothing is set", () => {
		const { values, warnings } = resolveSettings({}, {});
		expect(values).toMatchObject({ enabled: true, addr: "10.0.4.20", priority: 60, pattern: "spinner", token: "" });
		expect(warnings).toEqual([]);
	});

	test("a saved value beats the environment, which beats the default", () => {
		const env = { BUSYBAR_ADDR: "bar.local", BUSYBAR_TOKEN: "1234" };
		expect(resolveSettings({}, env).values).toMatchObject({ addr: "bar.local", token: "1234" });
		expect(resolveSettings({ addr: "10.1.1.1" }, env).values).toMatchObject({ addr: "10.1.1.1", token: "1234" });
	});

	test.each(["10.0.4.20", "10.0.4.20:8080", "busybar.local", "busy.bar:80", "[fe80::1]:80", "localhost:65535"])(
		"%s is an address",
		(addr) => {
			expect(resolveSettings({ addr }, {})).toMatchObject({ values: { addr }, warnings: [] });
		},
	);

	test.each([
		"",
		" ",
		"10.0.4.20 ",
		"a b",
		"http://10.0.4.20",
		"10.0.4.20/api",
		"host:",
		"host:0",
		"host:65536",
		"-x",
		"a\nb",
	])("%j is not an address: one warning names the source, the rule and what is used instead", (addr) => {
		const { values, warnings } = resolveSettings({}, { BUSYBAR_ADDR: addr });
		expect(values.addr).toBe("10.0.4.20");
		expect(warnings).toEqual([
			`The environment variable BUSYBAR_ADDR must be a host or host:port, such as 10.0.4.20 or busybar.local:80, not ${JSON.stringify(addr)}; the default, "10.0.4.20", is used instead.`,
		]);
	});

	test("an environment variable that a saved value overrules is known to be", () => {
		const env = { BUSYBAR_ADDR: "bar.local" };
		expect(resolveSettings({ addr: "10.1.1.1" }, env).overruled).toEqual(["addr"]);
		expect(resolveSettings({ addr: "a b" }, env).overruled).toEqual([]);
		expect(resolveSettings({}, env).overruled).toEqual([]);
	});

	test("a bad saved value falls back to a good environment variable, and a warning says so", () => {
		const { values, warnings } = resolveSettings({ addr: "http://x" }, { BUSYBAR_ADDR: "good.local" });
		expect(values.addr).toBe("good.local");
		expect(warnings).toEqual([expect.stringContaining('the environment variable BUSYBAR_ADDR, "good.local", is used')]);
	});

	test.each([
		["applicationName", "x".repeat(40)],
		["applicationName", "a b"],
		["applicationName", ".."],
		["priority", 1e9],
		["priority", 60.5],
		["priority", "60"],
		["holdSeconds", "NaN"],
		["holdSeconds", Number.POSITIVE_INFINITY],
		["minIntervalMs", -1],
		["display", "left"],
		["pattern", "rainbow"],
		["enabled", "yes"],
		["command", "busybar"],
		["command", "./busybar"],
		["alertOn", null],
		["minIntervalMs", 60_001],
		["holdSeconds", 0.4],
		["holdSeconds", 3_601],
		["questionHoldSeconds", 4],
		["questionHoldSeconds", 3_601],
		["priority", 0],
		["priority", 101],
		["minRunSeconds", -1],
		["minRunSeconds", 3_601],
		["quietHours", "22-8"],
		["quietHours", "24:00-08:00"],
		["quietHours", "22:00-08:60"],
		["statusLine", "sometimes"],
		["clearOnShutdown", "no"],
	] as const)(
		"%s cannot be %j: the default applies, one warning names the setting and its rule, the other settings still apply",
		(name, value) => {
			const { values, warnings } = resolveSettings({ holdSeconds: 7, [name]: value }, {});
			expect(values[name]).toBe(settingField(name).default);
			if (name !== "holdSeconds") expect(values.holdSeconds).toBe(7);
			expect(warnings).toEqual([expect.stringContaining(`The setting \`${name}\` must be ${settingField(name).rule}`)]);
		},
	);

	test.each([
		["[", "]", "a list"],
		['{"a":', "}", "an object"],
	])("a value of 6,000 nested %s%s is a warning like any other", (open, close, what) => {
		const nested = JSON.parse(`${open.repeat(6_000)}1${close.repeat(6_000)}`);
		const { values, warnings } = resolveSettings({ priority: nested }, {});
		expect(values.priority).toBe(60);
		expect(warnings).toEqual([
			`The setting \`priority\` must be a whole number from 1 to 100, not ${what}; the default, 60, is used instead.`,
		]);
	});

	test("a long value is quoted in part", () => {
		const [warning = ""] = resolveSettings({ pattern: "x".repeat(10_000) }, {}).warnings;
		expect(warning).toContain("xxx…");
		expect(warning.length).toBeLessThan(400);
	});

	test("a bad access key is never shown", () => {
		const { warnings } = resolveSettings({ token: "my secret" }, { BUSYBAR_TOKEN: "other secret" });
		expect(warnings).toHaveLength(2);
		expect(warnings.join()).not.toMatch(/my secret|other secret/);
	});

	test("every default obeys its own rule", () => {
		const defaults = Object.fromEntries(SETTING_NAMES.map((name) => [name, settingField(name).default]));
		expect(resolveSettings(defaults, {}).warnings).toEqual([]);
	});
});

describe("the file", () => {
	test("can be saved soon after another pi was killed while it saved", async () => {
		const path = join(scratchFolder(), "busybar-alert.json");
		mkdirSync(`${path}.lock`);
		const { values } = await new SettingsFile(path, {}).save({ priority: 61 });
		expect(values.priority).toBe(61);
	});

	const unusable: readonly [string, (path: string) => void, RegExp][] = [
		["empty", (path) => writeFileSync(path, ""), /is not valid JSON/],
		["not JSON", (path) => writeFileSync(path, "{ addr: 1 }"), /is not valid JSON/],
		["an array", (path) => writeFileSync(path, "[1]"), /does not contain a JSON object/],
		["10 MB", (path) => writeFileSync(path, `{"a":"${"x".repeat(10_000_000)}"}`), /is larger than 1 MiB/],
		["a folder", (path) => mkdirSync(path), /is a folder/],
	];

	test.each(unusable)("that is %s counts as empty, with one warning, and is not changed", async (_, make, why) => {
		const path = join(folder(), "busybar-alert.json");
		make(path);
		const before = statSync(path);
		const { values, warnings } = await new SettingsFile(path, {}).load();
		expect(values.addr).toBe("10.0.4.20");
		expect(warnings).toEqual([expect.stringMatching(why)]);
		expect(statSync(path).ino).toBe(before.ino);
		expect(statSync(path).size).toBe(before.size);
	});

	test("that is absent gives no warning", async () => {
		expect((await new SettingsFile(join(folder(), "none.json"), {}).load()).warnings).toEqual([]);
	});

	test("is read again when it has changed, and only then", async () => {
		const path = join(folder(), "busybar-alert.json");
		const file = new SettingsFile(path, {});
		const first = await file.load();
		expect(await file.load()).toBe(first);
		writeFileSync(path, '{"priority": 70}');
		expect((await file.load()).values.priority).toBe(70);
	});
});

describe("the loaded settings", () => {
	test("are one and the same object, however many loads run at the same moment", async () => {
		const path = join(folder(), "busybar-alert.json");
		const file = new SettingsFile(path, {});
		writeFileSync(path, '{"priority": 70}');
		const loaded = await Promise.all([file.load(), file.load(), file.load()]);
		expect(new Set(loaded).size).toBe(1);
		const [saved] = await Promise.all([file.save({ display: "back" }), file.load(), file.load()]);
		expect(await file.load()).toBe(saved);
	});

	test.each([
		["touched", (path: string) => utimesSync(path, new Date(), new Date(Date.now() + 5_000))],
		["rewritten with the same settings", (path: string) => writeFileSync(path, '{ "priority": 70, "more": 1 }')],
	])("stay the same object when the file was %s", async (_, change) => {
		const path = join(folder(), "busybar-alert.json");
		writeFileSync(path, '{"priority": 70}');
		const file = new SettingsFile(path, {});
		const first = await file.load();
		change(path);
		expect(await file.load()).toBe(first);
	});

	test.each([
		["a setting", '{"priority": 71}'],
		["where a setting comes from", '{"priority": 70, "addr": "10.0.4.20"}'],
		["a warning", '{"priority": 70, "display": "left"}'],
		["the mute", '{"priority": 70, "mutedUntil": "lifted"}'],
	])("change with %s", async (_, text) => {
		const path = join(folder(), "busybar-alert.json");
		writeFileSync(path, '{"priority": 70}');
		const file = new SettingsFile(path, {});
		const first = await file.load();
		writeFileSync(path, text);
		expect(await file.load()).not.toEqual(first);
	});
});

describe("saving", () => {
	test("keeps unknown keys, writes only what was set, and makes the file private", async () => {
		const path = join(folder(), "busybar-alert.json");
		writeFileSync(path, '{"futureSetting": [1, 2], "priority": 70}');
		const file = new SettingsFile(path, {});
		expect((await file.save({ enabled: true, priority: undefined })).values).toMatchObject({
			enabled: true,
			priority: 60,
		});
		expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ futureSetting: [1, 2], enabled: true });
		expect(statSync(path).mode & 0o777).toBe(0o600);
	});

	test.each([
		["for a time", 1_800_000_000_000, "2027-01-15T08:00:00.000Z"],
		["until it is lifted", Number.POSITIVE_INFINITY, "lifted"],
	])("a mute %s is there for the next pi, until it is taken back", async (_, mutedUntilMs, written) => {
		const path = join(folder(), "busybar-alert.json");
		const file = new SettingsFile(path, {});
		await file.save({ mutedUntilMs });
		await file.save({ priority: 70 });
		expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ mutedUntil: written, priority: 70 });
		expect((await new SettingsFile(path, {}).load()).mutedUntilMs).toBe(mutedUntilMs);
		await file.save({ mutedUntilMs: undefined });
		expect((await new SettingsFile(path, {}).load()).mutedUntilMs).toBeUndefined();
	});

	test("refuses a bad value with its rule, and nothing changes", async () => {
		const path = join(folder(), "busybar-alert.json");
		await expect(new SettingsFile(path, {}).save({ priority: 0 })).rejects.toThrow(
			"Priority must be a whole number from 1 to 100.",
		);
		expect(readdirSync(join(path, ".."))).toEqual([]);
	});

	test("at the same moment from several pis loses nothing", async () => {
		const path = join(folder(), "busybar-alert.json");
		await Promise.all([
			new SettingsFile(path, {}).save({ priority: 61 }),
			new SettingsFile(path, {}).save({ holdSeconds: 9 }),
			new SettingsFile(path, {}).save({ display: "back" }),
		]);
		expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ priority: 61, holdSeconds: 9, display: "back" });
	});

	test("keeps a copy of a file that is not JSON", async () => {
		const path = join(folder(), "busybar-alert.json");
		writeFileSync(path, "precious but broken");
		const file = new SettingsFile(path, {});
		const saved = await file.save({ enabled: false });
		expect(saved.warnings).toEqual([`The old settings file could not be used; a copy of it is kept as ${path}.bad.`]);
		expect(await file.load()).toBe(saved);
		expect(readFileSync(`${path}.bad`, "utf8")).toBe("precious but broken");
		expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ enabled: false });
		writeFileSync(path, "broken again");
		await file.save({ enabled: true });
		expect(readFileSync(`${path}.bad`, "utf8")).toBe("precious but broken");
		expect(readFileSync(`${path}.2.bad`, "utf8")).toBe("broken again");
	});

	test("never replaces a file that it could not read", async () => {
		const path = join(folder(), "busybar-alert.json");
		symlinkSync(path, path);
		const file = new SettingsFile(path, {});
		expect((await file.load()).warnings).toEqual([expect.stringContaining("cannot be read (ELOOP)")]);
		await expect(file.save({ enabled: false })).rejects.toThrow(
			/^Settings not saved: .* cannot be written \(ELOOP\)\. The old settings still apply\.$/,
		);
		expect(lstatSync(path).isSymbolicLink()).toBe(true);
	});

	test("through a link changes the file that the link points to", async () => {
		const parent = folder();
		const [target, path] = [join(parent, "dotfiles.json"), join(parent, "busybar-alert.json")];
		writeFileSync(target, '{"priority": 70}');
		symlinkSync(target, path);
		await new SettingsFile(path, {}).save({ holdSeconds: 9 });
		expect(lstatSync(path).isSymbolicLink()).toBe(true);
		expect(JSON.parse(readFileSync(target, "utf8"))).toEqual({ priority: 70, holdSeconds: 9 });
	});

	test("to a path that is a folder says what to do", async () => {
		const path = join(folder(), "busybar-alert.json");
		mkdirSync(path);
		await expect(new SettingsFile(path, {}).save({ enabled: false })).rejects.toThrow(
			/is a folder; move it away or delete it\./,
		);
	});

	test("into a path that is not a folder says what to do, and the old values apply", async () => {
		const parent = folder();
		writeFileSync(join(parent, "agent"), "a file where a folder belongs");
		const file = new SettingsFile(join(parent, "agent", "busybar-alert.json"), {});
		await expect(file.save({ enabled: false })).rejects.toThrow(
			/^Settings not saved: .* is inside a path that is not a folder; move that file away\. The old settings still apply\.$/,
		);
		expect((await file.load()).values.enabled).toBe(true);
	});
});
