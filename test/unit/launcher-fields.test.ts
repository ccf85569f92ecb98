// What /px reads from a schema, and how it shows and reads values.

import { Type } from "typebox";
import { expect, test } from "vitest";
import { settingsSchema } from "../../extensions/busybar-alert/settings.ts";
import { extensionText } from "../../extensions/launcher/answers.ts";
import { fieldsOf, shownValue, typedValue } from "../../extensions/launcher/fields.ts";
import { demoExtension } from "../support/px-demo-extension.ts";

const fieldOf = (schema: Parameters<typeof Type.Object>[0][string]) => {
	const [field] = fieldsOf(Type.Object({ it: schema }));
	if (!field) throw new Error("no field");
	return field;
};

test("every setting of the BUSY Bar alert can be edited", () => {
	const fields = fieldsOf(settingsSchema);
	expect(fields.filter(({ kind }) => kind === "fixed")).toEqual([]);
	expect(fields.find(({ name }) => name === "token")?.kind).toBe("secret");
	for (const { title, description, rule } of fields) expect([title, description, rule]).not.toContain("");
});

test("presets or free text are typed in, a union of constants is a choice, and a list cannot be edited", () => {
	expect(fieldOf(Type.Union([Type.Literal("off"), Type.String()])).kind).toBe("text");
	expect(fieldOf(Type.Union([Type.Literal("off"), Type.Literal("on")]))).toMatchObject({ kind: "choice" });
	expect(fieldOf(Type.Array(Type.String()))).toMatchObject({ kind: "fixed" });
});

test("a setting without a title is shown by its name", () => {
	expect(fieldOf(Type.Integer())).toMatchObject({ title: "it", description: "", group: "", rule: "a whole number" });
});

test.each([
	["1e3", 1000],
	[" -2 ", -2],
	[".5", 0.5],
])("%j is a number", (typed, value) => {
	expect(typedValue(fieldOf(Type.Number()), typed)).toBe(value);
});

test.each(["", " ", "1e999", "Infinity", "NaN", "0x10", "1_000", "1,5"])("%j is not a number", (typed) => {
	expect(() => typedValue(fieldOf(Type.Number()), typed)).toThrow("it must be a number.");
});

test("a value with control characters stays on one line", () => {
	expect(shownValue(fieldOf(Type.String()), "a\n\x1b[31mb")).toBe("a b");
});

test("without a terminal, too, only dots are shown for a secret", () => {
	const demo = demoExtension();
	const text = extensionText(demo, { values: { key: "hunter2", lamp: false }, notes: {} });
	expect(text).toMatch(/key +••••••••\n/);
	expect(text).toMatch(/lamp +off\n/);
	expect(text).not.toContain("hunter2");
});
