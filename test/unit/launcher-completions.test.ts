// What Tab completes after /px.

import { expect, test } from "vitest";
import { completions } from "../../extensions/launcher/completions.ts";
import { demoExtension } from "../support/px-demo-extension.ts";

const DEMO = { ...demoExtension(), docs: "/somewhere/README.md" };
const EXTENSIONS = [DEMO, { id: "second", name: "Second", description: "The other one.", actions: [] }];
const values = (typed: string) => completions(EXTENSIONS, typed)?.map(({ value }) => value) ?? null;

test.each([
	["", ["demo", "second"]],
	["s", ["second"]],
	["x", null],
	["demo w", ["demo wipe"]],
	["demo s", ["demo settings"]],
	["demo d", ["demo docs"]],
	["second ", null],
	["nobody ", null],
	["demo tune ", ["demo tune slow", "demo tune fast waltz"]],
	["demo  tune fast w", ["demo tune fast waltz"]],
	["demo tune slow", null],
	["demo tune loud", null],
	["demo greet ", null],
])("completions after /px %j", (typed, expected) => {
	expect(values(typed)).toEqual(expected);
});

test("an argument comes with its explanation", () => {
	expect(completions(EXTENSIONS, "demo tune s")).toEqual([
		{ value: "demo tune slow", label: "slow", description: "something slow" },
	]);
});
