import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { sharedCycleParts } from "../../extensions/busybar-alert/process-parts.ts";
import { scratchFolder } from "../support/scratch.ts";

test("the parts are shared by the instances of one version, and by no other", () => {
	const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
	const key = Symbol.for(`pi-busybar-alert/cycle/${version}`);
	onTestFinished(() => void Reflect.deleteProperty(globalThis, key));
	const parts = sharedCycleParts(scratchFolder());
	expect(Reflect.get(globalThis, key)).toBe(parts);
	expect(sharedCycleParts(scratchFolder())).toBe(parts);
});
