/** Builds `dist/busybar.js`, the published command: one file without dependencies, whose parts still load on demand. */

import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "rolldown";

const output = fileURLToPath(new URL("../dist/busybar.js", import.meta.url));

/**
 * In a single file every `import` of a built-in module runs at startup, which takes 30 ms: node:http loads undici,
 * node:process opens stdin, node:fs loads its promises. `getBuiltinModule` does none of this, and in a part that loads
 * on demand it also runs on demand, like the `require` of a CommonJS dependency.
 */
const quickBuiltins: Plugin = {
	name: "quick-builtins",
	resolveId: (id, _importer, { kind }) =>
		kind === "import-statement" && builtinModules.includes(id.replace(/^node:/, "")) ? `\0quick ${id}` : undefined,
	load: (id) => {
		const name = /^\0quick (?:node:)?(.*)$/.exec(id)?.[1];
		if (name === undefined) return undefined;
		// commander needs it only for commands in separate executable files, and we have none.
		if (name === "child_process") return "export default {};";
		const names = Object.keys(process.getBuiltinModule(`node:${name}`) ?? {}).filter((key) =>
			/^[A-Za-z]\w*$/.test(key),
		);
		return [
			`const builtin = process.getBuiltinModule("node:${name}");`,
			"export default builtin;",
			...names.filter((key) => key !== "default").map((key) => `export const ${key} = builtin.${key};`),
		].join("\n");
	},
};

const bundle = await build({
	input: fileURLToPath(new URL("cli.ts", import.meta.url)),
	platform: "node",
	plugins: [quickBuiltins],
	treeshake: { propertyReadSideEffects: false },
	output: { file: output, codeSplitting: false, comments: { legal: true, jsdoc: false } },
});

const folders = bundle.output
	.flatMap((part) => (part.type === "chunk" ? part.moduleIds : []))
	.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []);
for (const folder of new Set(folders)) {
	const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
	if (file === undefined) throw new Error(`${folder} has no licence file, and the built file must include its notice`);
	const notice = readFileSync(`${folder}/${file}`, "utf8").trim().replaceAll("*/", "* /");
	appendFileSync(output, `\n/*! ${folder.replace(/^.*\/node_modules\//, "")}\n${notice}\n*/\n`);
}
