import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { describe, expect, test } from "vitest";
import { registerCommands } from "../../extensions/busybar-alert/commands.ts";
import { ALERTS, SETTING_NAMES, type SettingName, settingField } from "../../extensions/busybar-alert/settings.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const read = (file: string) => readFileSync(join(ROOT, file), "utf8");
const README = read("README.md");
const REFERENCE = read("extensions/busybar-alert/README.md");

const shownDefault = (name: SettingName) => {
	const { default: preset } = settingField(name);
	return preset === "" ? "empty" : `\`${preset}\``;
};

/** The table of all settings, made from the schema. If it differs from the one in the document, put this one there. */
function fullTable(): string {
	const rows = SETTING_NAMES.map((name) => {
		const { title, rule, environment, description } = settingField(name);
		const variable = environment ? `\`${environment}\`` : "";
		return `| \`${name}\` | ${title} | ${shownDefault(name)} | ${rule} | ${variable} | ${description} |`;
	});
	const head = "| setting | in `/px` | default | must be | environment | what it does |";
	return [head, "| --- | --- | --- | --- | --- | --- |", ...rows].join("\n");
}

/** As `fullTable`, for a few settings and with fewer columns. */
function shortTable(names: readonly SettingName[]): string {
	const rows = names.map((name) => {
		const { title, description } = settingField(name);
		return `| \`${name}\` | ${title} | ${shownDefault(name)} | ${description} |`;
	});
	return ["| setting | in `/px` | default | what it does |", "| --- | --- | --- | --- |", ...rows].join("\n");
}

/** The table after the comment that names the schema. */
function settingsTableIn(text: string): string {
	const [, table = ""] = /schema\. -->\n\n?((?:\|.*\n)+)/.exec(text) ?? [];
	return table.trim();
}

test("the extension's README lists every setting as the schema has it", () => {
	expect(settingsTableIn(REFERENCE)).toBe(fullTable());
});

test("the README's six settings are as the schema has them", () => {
	const names = [...settingsTableIn(README).matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name as SettingName);
	expect(names).toHaveLength(6);
	expect(SETTING_NAMES).toEqual(expect.arrayContaining(names));
	expect(settingsTableIn(README)).toBe(shortTable(names));
});

test("every command is documented, and every documented command exists", () => {
	const registered: string[] = [];
	const recorder = { registerCommand: (name: string) => registered.push(name) } as unknown as ExtensionAPI;
	registerCommands(recorder, () => undefined);
	const documented = [...REFERENCE.matchAll(/^\| `\/(busybar-alert[\w-]*)/gm)].map(([, name]) => name);
	expect(documented).toEqual(registered);
});

describe("all names that the log and the footer can show are documented", () => {
	const union = (file: string, type: string) => {
		const [, body = ""] =
			new RegExp(`export type ${type} =([^;]+);`).exec(read(`extensions/busybar-alert/${file}`)) ?? [];
		return [...body.matchAll(/"(\w+)"/g)].map(([, name = ""]) => name);
	};
	const documented = (heading: string) => {
		const [, section = ""] = new RegExp(`## ${heading}\n([\\s\\S]*?)(?=\n## |$)`).exec(REFERENCE) ?? [];
		return [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, name = ""]) => name);
	};

	test.each([
		["gates", "When an alert is skipped", union("when/gates.ts", "Gate")],
		["kinds of failure", "When something fails", union("cli/failures.ts", "FailureKind")],
		["alerts", "What you see", [...ALERTS]],
	])("%s", (_, heading, names) => {
		expect(names.length).toBeGreaterThan(3);
		expect(documented(heading).sort()).toEqual([...names].sort());
	});
});

test.each([
	"README.md",
	"CONTRIBUTING.md",
	"docs/decisions.md",
	"docs/bar.md",
	"busybar/README.md",
	"extensions/launcher/README.md",
	"extensions/busybar-alert/README.md",
])("every link in %s leads to a file that exists", (file) => {
	const links = [...read(file).matchAll(/\]\(([^)#\s]+)/g)]
		.map(([, link = ""]) => link)
		.filter((link) => !link.includes(":"));
	expect(links.filter((link) => !existsSync(join(ROOT, dirname(file), link)))).toEqual([]);
});

test("every npm script that a document names exists", () => {
	const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
	for (const file of ["README.md", "CONTRIBUTING.md"]) {
		for (const [, name = ""] of read(file).matchAll(/npm run ([\w-]+)/g))
			expect(scripts, `${file}: ${name}`).toHaveProperty([name]);
	}
});
