/** What a TypeBox schema says about each setting, and how values are shown and typed. Pure. */

import type { TObject } from "typebox";
import { oneLine, orList } from "./plain-text.ts";

export interface Field {
	readonly name: string;
	readonly title: string;
	readonly description: string;
	readonly group: string;
	/** Completes "must be ..."; empty if every value is allowed. */
	readonly rule: string;
	/** `fixed`: /px cannot edit it. */
	readonly kind: "boolean" | "choice" | "integer" | "number" | "text" | "secret" | "fixed";
	/** For a `choice` and a `boolean`. */
	readonly choices: readonly unknown[];
	readonly default: unknown;
}

/** A property of a JSON Schema, whatever built it. */
interface Property {
	readonly type?: unknown;
	readonly enum?: readonly unknown[];
	readonly const?: unknown;
	readonly anyOf?: readonly Property[];
	readonly title?: string;
	readonly description?: string;
	readonly group?: string;
	readonly rule?: string;
	readonly secret?: boolean;
	readonly default?: unknown;
}

/** Groups in the order of their first field, fields in the order of the schema. */
export function fieldsOf(schema: TObject): readonly Field[] {
	const groups = new Map<string, Field[]>();
	for (const [name, property] of Object.entries(schema.properties as Record<string, Property>)) {
		const field = fieldOf(name, property);
		groups.set(field.group, [...(groups.get(field.group) ?? []), field]);
	}
	return [...groups.values()].flat();
}

function fieldOf(name: string, property: Property): Field {
	const choices = property.type === "boolean" ? [true, false] : choicesOf(property);
	const kind = choices ? (property.type === "boolean" ? "boolean" : "choice") : kindOf(property);
	return {
		name,
		title: property.title ?? name,
		description: property.description ?? "",
		group: property.group ?? "",
		rule: property.rule ?? ruleOf(kind, choices ?? []),
		kind,
		choices: choices ?? [],
		default: property.default,
	};
}

function choicesOf({ enum: values, anyOf }: Property): readonly unknown[] | undefined {
	if (values) return values;
	return anyOf?.every((branch) => branch.const !== undefined) ? anyOf.map((branch) => branch.const) : undefined;
}

function kindOf({ type, anyOf, secret }: Property): Field["kind"] {
	if (type === "integer" || type === "number") return type;
	// A union that includes free text, such as a preset or a path, is typed in.
	const isText = type === "string" || anyOf?.some((branch) => branch.type === "string");
	return !isText ? "fixed" : secret ? "secret" : "text";
}

function ruleOf(kind: Field["kind"], choices: readonly unknown[]): string {
	if (kind === "integer") return "a whole number";
	if (kind === "number") return "a number";
	return choices.length > 0 ? `one of ${orList(choices.map(String))}` : "";
}

/** One line for the user. For a secret, only whether it is set. */
export function shownValue(field: Field, value: unknown): string {
	if (field.kind === "secret") return isEmpty(value) ? "not set" : "••••••••";
	if (isEmpty(value)) return "empty";
	if (typeof value === "boolean") return value ? "on" : "off";
	const text = typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
	return oneLine(text);
}

export function isEmpty(value: unknown): boolean {
	return value === undefined || value === "";
}

/** The choice after `value`, or the first one if `value` is not a choice. */
export function nextChoice(field: Field, value: unknown): unknown {
	return field.choices[(field.choices.indexOf(value) + 1) % field.choices.length];
}

/** Turns what the user typed into a value for `save`, which checks it further. Throws a sentence for the user. */
export function typedValue(field: Field, typed: string): unknown {
	if (field.kind !== "integer" && field.kind !== "number") return typed;
	const text = typed.trim();
	const value = Number(text);
	const isNumber = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) && Number.isFinite(value);
	if (!isNumber || (field.kind === "integer" && !Number.isInteger(value))) {
		throw new Error(`${field.title} must be ${field.rule}.`);
	}
	return value;
}
