import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { describe, expect, test } from "vitest";
import { registerCommands } from "../../extensions/busybar-alert/commands.ts";
import { ALERTS, SETTING_NAMES, settingField } from "../../extensions/busybar-alert/settings.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const read = (file: string) => readFileSync(join(ROOT, file), "utf8");
const README = read("README.md");
const REFERENCE = read("extensions/busybar-alert/README.md");

/** The README's table, made from the schema; if it differs, put this one there. */
function settingsTable(): string {
	const rows = SETTING_NAMES.map((name) => {
		const { rule, default: preset, environment, description } = settingField(name);
		const shown = preset === "" ? "empty" : `\`${preset}\``;
		const variable = environment ? `\`${environment}\`` : "";
		return `| \`${name}\` | ${shown} | ${rule} | ${variable} | ${description} |`;
	});
	return ["| setting | default | must be | environment | |", "| --- | --- | --- | --- | --- |", ...rows].join("\n");
}

test("the README's settings are those of the schema", () => {
	const [, table] = /schema\. -->\n((?:\|.*\n)+)/.exec(README) ?? [];
	expect(table?.trim()).toBe(settingsTable());
});

test("every command that exists is documented, and the other way round", () => {
	const registered: string[] = [];
	const recorder = { registerCommand: (name: string) => registered.push(name) } as unknown as ExtensionAPI;
	registerCommands(recorder, () => undefined);
	const documented = [...REFERENCE.matchAll(/^\| `\/(busybar-alert[\w-]*)/gm)].map(([, name]) => name);
	expect(documented).toEqual(registered);
});

describe("every name that the log and the footer can show is documented", () => {
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
		["gates", "When it is silent", union("when/gates.ts", "Gate")],
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
])("%s links to nothing that is not there", (file) => {
	const links = [...read(file).matchAll(/\]\(([^)#\s]+)/g)]
		.map(([, link = ""]) => link)
		.filter((link) => !link.includes(":"));
	expect(links.filter((link) => !existsSync(join(ROOT, dirname(file), link)))).toEqual([]);
});

test("every npm script that is named exists", () => {
	const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
	for (const file of ["README.md", "CONTRIBUTING.md"]) {
		for (const [, name = ""] of read(file).matchAll(/npm run ([\w-]+)/g))
			expect(scripts, `${file}: ${name}`).toHaveProperty([name]);
	}
});
