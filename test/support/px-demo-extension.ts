// A pi extension with everything that /px can show: every kind of setting, actions that end in every way, documentation.
// Keeps its settings in memory. PX_DEMO_DOCS names the file with its documentation.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { Type } from "typebox";
import { Value } from "typebox/value";
import {
	isPxScreenOpen,
	type PiExtension,
	type PiExtensionSettings,
	registerPiExtension,
	type SettingsInForce,
} from "../../extensions/_shared/registry.ts";

const schema = Type.Object({
	lamp: Type.Boolean({ default: true, title: "Lamp", description: "Whether there is light.", group: "Light" }),
	colour: Type.Enum(["red", "green", "blue"], { default: "red", title: "Colour", group: "Light" }),
	level: Type.Union([Type.Literal(1), Type.Literal(2)], { default: 1, title: "Level", group: "Light" }),
	steps: Type.Integer({
		minimum: 0,
		maximum: 100,
		default: 5,
		title: "Steps",
		group: "Motion",
		rule: "a whole number from 0 to 100",
	}),
	speed: Type.Number({
		minimum: 0.5,
		maximum: 10,
		default: 1.5,
		title: "Speed (m/s)",
		description: "How fast it goes, on level ground and with the wind behind it.",
		group: "Motion",
		rule: "a number from 0.5 to 10",
	}),
	label: Type.String({
		default: "",
		maxLength: 40,
		title: "標籤 label",
		description: "幅の広い文字も使えます。",
		group: "Texts",
	}),
	key: Type.String({ default: "", title: "Key", description: "Opens the door.", group: "Texts", secret: true }),
	place: Type.String({ default: "here", title: "Place", group: "Texts", rule: "a place, not nowhere" }),
});

/** In memory. Saving "disk full" fails. */
export function demoSettings(): PiExtensionSettings {
	const saved: Record<string, unknown> = {};
	const load = async (): Promise<SettingsInForce> => {
		const presets = Object.entries(schema.properties).map(([name, field]) => [
			name,
			(field as { default?: unknown }).default,
		]);
		return {
			values: { ...Object.fromEntries(presets), ...saved },
			notes: { speed: "Used instead of the environment variable DEMO_SPEED." },
		};
	};
	return {
		schema,
		load,
		async save(changes) {
			for (const [name, value] of Object.entries(changes)) {
				const field = schema.properties[name as keyof typeof schema.properties] as { title?: string; rule?: string };
				if (value === "disk full") throw new Error("Could not save the settings: the disk is full.");
				if (value === undefined) delete saved[name];
				else if (Value.Check(field, value)) saved[name] = value;
				else throw new Error(`${field.title} must be ${field.rule}.`);
			}
			return load();
		},
	};
}

export function demoExtension(): PiExtension {
	return {
		id: "demo",
		name: "Demo",
		description: "Shows every kind of entry.",
		actions: [
			{ id: "greet", label: "Greet", description: "Say hello.", run: async (args) => `Hello, ${args || "you"}.` },
			{
				id: "report",
				label: "Report",
				description: "Say a lot.",
				run: async () => Array.from({ length: 40 }, (_, line) => `line ${line + 1}`).join("\n"),
			},
			{
				id: "fail",
				label: "Fail",
				description: "Throw.",
				run: async () => {
					throw new Error("The \x1b[31mdoor is stuck. Oil it.");
				},
			},
			{
				id: "ask",
				label: "Ask",
				description: "Ask a question of its own.",
				run: async (_, ctx) => `You said ${await ctx.ui.select("Tea or coffee?", ["tea", "coffee"])}.`,
			},
			{
				id: "tune",
				label: "Tune",
				description: "Play something.",
				choices: [
					{ args: "", label: "what comes" },
					{ args: "slow", label: "something slow" },
					{ args: "fast waltz", label: "a fast waltz" },
				],
				run: async (args) => `Playing ${args || "what comes"}.`,
			},
			{ id: "wipe", label: "Wipe", description: "Erase everything.", dangerous: true, run: async () => "Wiped." },
		],
		settings: demoSettings(),
		...(process.env.PX_DEMO_DOCS && { docs: process.env.PX_DEMO_DOCS }),
	};
}

export default function demo(pi: ExtensionAPI): void {
	registerPiExtension(pi, demoExtension());
	// A widget above the editor, of as many rows as PX_DEMO_WIDGET_ROWS says.
	pi.on("session_start", (_event, ctx) => {
		const rows = Number(process.env.PX_DEMO_WIDGET_ROWS ?? 0);
		if (rows > 0) {
			ctx.ui.setWidget(
				"px-demo",
				Array.from({ length: rows }, (_, row) => `widget ${row + 1}`),
			);
		}
	});
	// The status line says whether the screen that opens belongs to /px.
	pi.on("ui_prompt_start", (event, ctx) => {
		const isPx = event.kind === "custom" && isPxScreenOpen(pi.events);
		ctx.ui.setStatus("px-demo", isPx ? "px screen" : "other prompt");
	});
}
