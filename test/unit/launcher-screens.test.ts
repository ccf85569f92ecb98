// The screens of /px: what a user sees after pressing keys.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { PiExtension } from "../../extensions/_shared/registry.ts";
import { openExtension, openExtensions } from "../../extensions/launcher/extension-screens.ts";
import { demoExtension } from "../support/px-demo-extension.ts";
import { FrameOnDesk, KEYS, NO_CONTEXT } from "../support/px-frame.ts";

const SECOND: PiExtension = { id: "second", name: "Second", description: "The other one.", actions: [] };

function extensionsDesk(duplicates: readonly string[] = []): FrameOnDesk {
	const desk = new FrameOnDesk();
	openExtensions(desk.frame, { extensions: [demoExtension(), SECOND], duplicates }, NO_CONTEXT);
	return desk;
}

function extensionDesk(more: Partial<PiExtension> = {}): FrameOnDesk {
	const desk = new FrameOnDesk();
	openExtension(desk.frame, { ...demoExtension(), ...more }, NO_CONTEXT);
	return desk;
}

const numberedLines = (count: number) => Array.from({ length: count }, (_, line) => `line ${line + 1}`).join("\n\n");

function document(text: string): string {
	const dir = mkdtempSync(join(tmpdir(), "px-docs-"));
	onTestFinished(() => rmSync(dir, { recursive: true }));
	writeFileSync(join(dir, "README.md"), text);
	return join(dir, "README.md");
}

test("typing filters by name first, then by description; if nothing matches, the list says so", async () => {
	const desk = extensionDesk();
	await desk.press("ask");
	expect(desk.selected).toMatch(/^Ask /);

	await desk.press(KEYS.clearLine, "everyTHING");
	expect(desk.selected).toMatch(/^Wipe /);

	await desk.press(KEYS.clearLine, "r");
	expect(desk.selected).toMatch(/^Report/);
	await desk.press(KEYS.clearLine, "everyTHING", "zzz");
	expect(desk.text).toContain('Nothing matches "everyTHINGzzz"');
	await desk.press(KEYS.enter);
	expect(desk.text).toContain("Nothing matches");
});

test("Esc goes back one screen, with its filter and selection as they were, and closes the first one", async () => {
	const desk = extensionsDesk();
	await desk.press("e", KEYS.down);
	expect(desk.selected).toMatch(/^Second/);
	await desk.press(KEYS.up, KEYS.enter, "e", KEYS.down);
	const before = desk.text;
	expect(before).toContain("Extensions › Demo");
	const nested = desk.selected;

	await desk.press(KEYS.escape);
	expect(desk.selected).toMatch(/^Demo/);
	expect(desk.text).toContain("> e");
	await desk.press(KEYS.enter);
	expect(desk.selected).not.toBe(nested);

	await desk.press(KEYS.escape, KEYS.escape);
	expect(desk.isClosed).toBe(true);
});

test("two extensions with the same id are pointed out", () => {
	expect(extensionsDesk(["demo"]).text).toContain('More than one extension has the id "demo"');
});

test("the answer of an action is shown; a long one gets its own screen", async () => {
	const desk = extensionDesk();
	await desk.press(KEYS.enter);
	expect(desk.text).toContain("Hello, you.");

	await desk.press(KEYS.down);
	expect(desk.text).not.toContain("Hello");
	await desk.press(KEYS.enter);
	expect(desk.text).toMatch(/Demo › Report\nline 1\n/);
	await desk.press(KEYS.escape);
	expect(desk.selected).toMatch(/^Report/);
});

test("if an action throws, its message is shown without control characters, and the screen still works", async () => {
	const desk = extensionDesk();
	await desk.press("fail", KEYS.enter);
	expect(desk.text).toContain("Fail failed: The door is stuck. Oil it.");
	await desk.press(KEYS.clearLine, "greet", KEYS.enter);
	expect(desk.text).toContain("Hello, you.");
});

test("a dangerous action asks for confirmation; Enter says no", async () => {
	const desk = extensionDesk();
	await desk.press("wipe", KEYS.enter);
	expect(desk.text).toContain("Demo › Wipe?");
	await desk.press(KEYS.enter);
	expect(desk.text).not.toContain("Wiped.");

	await desk.press(KEYS.enter, KEYS.down, KEYS.enter);
	expect(desk.text).toContain("Wiped.");
	expect(desk.selected).toMatch(/^Wipe/);
});

test("an action with choices asks for one: Enter takes the first, Esc goes back and runs nothing", async () => {
	const desk = extensionDesk();
	await desk.press("tune", KEYS.enter);
	expect(desk.text).toContain("Demo › Tune");
	expect(desk.selected).toMatch(/^what comes +Same as \/px demo tune$/);
	await desk.press(KEYS.escape);
	expect(desk.selected).toMatch(/^Tune/);
	expect(desk.text).not.toContain("Playing");

	await desk.press(KEYS.enter, KEYS.enter);
	expect(desk.text).toContain("Playing what comes.");
	expect(desk.selected).toMatch(/^Tune/);
	await desk.press(KEYS.enter, KEYS.down, KEYS.enter);
	expect(desk.text).toContain("Playing slow.");
});

test("a dangerous action with choices asks for one, then for confirmation; No goes back to the choices", async () => {
	const done: string[] = [];
	const choices = ["old", "all"].map((args) => ({ args, label: `the ${args} ones` }));
	const run = async (args: string) => `Dropped ${done.push(args)}.`;
	const action = { id: "drop", label: "Drop", description: "They are gone then.", dangerous: true, choices, run };
	const desk = extensionDesk({ actions: [action] });
	await desk.press(KEYS.enter, KEYS.down, KEYS.enter);
	expect(desk.text).toContain("Demo › Drop › Drop: the all ones?");
	await desk.press(KEYS.enter);
	expect(desk.selected).toMatch(/^the all ones/);
	expect(done).toEqual([]);
	await desk.press(KEYS.enter, KEYS.down, KEYS.enter);
	expect(done).toEqual(["all"]);
	expect(desk.text).toContain("Dropped 1.");
	expect(desk.selected).toMatch(/^Drop/);
});

/** An action that runs until the test ends it. */
function slowAction() {
	let starts = 0;
	const { promise, resolve } = Promise.withResolvers<string>();
	const run = () => {
		starts++;
		return promise;
	};
	return {
		action: { id: "slow", label: "Slow", description: "", run },
		starts: () => starts,
		end: async (text: string) => {
			resolve(text);
			await new Promise((next) => setImmediate(next));
		},
	};
}

test("if an action ends after the user has left, its answer is a notice", async () => {
	const { action, end } = slowAction();
	const desk = extensionDesk({ actions: [action] });
	await desk.press(KEYS.enter, KEYS.escape);
	await end("At last.");
	expect(desk.notices).toEqual(["At last."]);
});

test("while an action is running, no other one can be started, and /px says which one is running", async () => {
	const { action, end, starts } = slowAction();
	const desk = new FrameOnDesk();
	const slow = { ...SECOND, actions: [action] };
	openExtensions(desk.frame, { extensions: [slow, demoExtension()], duplicates: [] }, NO_CONTEXT);
	await desk.press(KEYS.enter, KEYS.enter);
	expect(desk.text).toContain("Slow is running…");
	await desk.press(KEYS.enter);
	expect(desk.text).toContain("Slow is still running. Wait until it has finished.");
	await desk.press(KEYS.escape, KEYS.down, KEYS.enter, KEYS.enter);
	expect(desk.text).toContain("Slow is still running.");
	expect(starts()).toBe(1);
	await end("At last.");
	expect(desk.text).toContain("At last.");
	await desk.press(KEYS.enter);
	expect(desk.text).toContain("Hello, you.");
});

test("a click chooses a row, the wheel scrolls through a text", async () => {
	const desk = extensionDesk();
	const mouse = (type: "press" | "click" | "wheel", y: number) =>
		desk.frame.handleMouse({
			...{ type, y, x: 3, screenX: 3, screenY: y, width: 80, height: 12, button: type === "wheel" ? "none" : "left" },
			...{ shift: false, alt: false, ctrl: false, wheelDelta: 1 },
		});
	const row = desk.lines().findIndex((line) => line.includes("Report"));
	mouse("press", row);
	mouse("click", row);
	await desk.see("Demo › Report");
	mouse("wheel", 5);
	expect(desk.text).toMatch(/Demo › Report\nline 4\n/);
});

test("documentation scrolls by line, by page, to its end and to its top", async () => {
	const desk = extensionDesk({ docs: document(numberedLines(60)) });
	await desk.press("docu", KEYS.enter);
	await desk.see("line 1\n");

	await desk.press(KEYS.down);
	expect(desk.text).not.toContain("line 1\n");
	await desk.press(KEYS.up);
	expect(desk.text).toContain("line 1\n");
	await desk.press(KEYS.pageDown);
	expect(desk.text).not.toContain("line 1\n");
	await desk.press(KEYS.end);
	expect(desk.text).toMatch(/line 60\n.* of 119\n/);
	await desk.press(KEYS.down);
	expect(desk.text).toContain("line 60");
	await desk.press(KEYS.home);
	expect(desk.text).toContain("line 1\n");
});

test("documentation that cannot be read says why", async () => {
	const desk = extensionDesk({ docs: "/nowhere/README.md" });
	await desk.press("docu", KEYS.enter);
	await desk.see("Could not read the documentation: ENOENT");
});

const LONG_DESCRIPTION = `It begins, ${"goes on and on, ".repeat(20)}and ends here.`;

test.each([80, 36])(
	"at %i columns, a description that is cut off continues below, and Tab shows all of it",
	async (columns) => {
		const desk = new FrameOnDesk();
		Object.assign(desk.size, { columns, rows: 14 });
		const long = { ...SECOND, description: LONG_DESCRIPTION };
		openExtensions(desk.frame, { extensions: [demoExtension(), long], duplicates: [] }, NO_CONTEXT);
		await desk.press(KEYS.down);
		expect(desk.text).toMatch(/\n {2}It begins, .*\n.*… tab more\n/);
		expect(desk.text).not.toContain("ends here");

		await desk.press(KEYS.tab);
		expect(desk.text).toMatch(/More\nSecond\n\nIt begins/);
		await desk.press(KEYS.end);
		expect(desk.text).toContain("ends here.");
		await desk.press(KEYS.escape);
		expect(desk.selected).toMatch(/^Second/);
	},
);

test("if everything fits, nothing is said twice", () => {
	const desk = extensionDesk();
	expect(desk.text.match(/Say hello/g)).toHaveLength(1);
	expect(desk.text).not.toContain("tab more");
});

test("a message that is cut off can be read to its end", async () => {
	const run = () => Promise.reject(new Error(LONG_DESCRIPTION));
	const desk = extensionDesk({ actions: [{ id: "fail", label: "Fail", description: "Throw.", run }] });
	Object.assign(desk.size, { columns: 36, rows: 14 });
	await desk.press(KEYS.enter);
	expect(desk.text).toContain("… tab more");
	await desk.press(KEYS.tab);
	expect(desk.text).toContain("Fail failed: It begins,");
	while (!desk.text.includes("ends here.")) {
		const before = desk.text;
		await desk.press(KEYS.down);
		expect(desk.text).not.toBe(before);
	}
});

test.each([20, 36, 80, 120])(
	"at %i columns, no line is wider than the screen and the way back is visible",
	async (columns) => {
		const wide = "とても長い説明がここにあります。".repeat(6);
		const desk = new FrameOnDesk();
		Object.assign(desk.size, { columns, rows: 14 });
		const long = {
			...SECOND,
			name: `${wide} name`,
			description: wide,
			docs: document(`# ${wide}\n\n| a | b |\n|-|-|\n| ${wide} | ${"x".repeat(200)} |`),
		};
		openExtensions(desk.frame, { extensions: [demoExtension(), long], duplicates: ["demo"] }, NO_CONTEXT);
		const check = () => {
			const lines = desk.lines();
			if (columns >= 36) expect(lines.at(-1)).toContain("esc back");
		};
		check();
		await desk.press(KEYS.down);
		check();
		await desk.press(KEYS.enter);
		check();
		await desk.press("docu", KEYS.enter);
		await desk.see("1-");
		check();
		await desk.press(KEYS.escape, KEYS.escape, KEYS.up, KEYS.enter, "sett", KEYS.enter);
		await desk.see("Lamp");
		check();
		for (let row = 0; row < 8; row++) {
			await desk.press(KEYS.down, KEYS.delete);
			check();
		}
	},
);

test.each([
	[80, 24, 8, 0],
	[80, 24, 10, 6],
	[80, 24, 20, 0],
	[36, 14, 0, 0],
	[36, 14, 4, 0],
	[36, 14, 3, 4],
	[36, 14, 10, 10],
])(
	"at %ix%i, with widgets of %i rows above and %i below, the selected row and the key hints stay visible",
	async (columns, rows, above, below) => {
		const desk = extensionDesk({ docs: document(numberedLines(60)) });
		Object.assign(desk.size, { columns, rows });
		Object.assign(desk.widgets, { above, below });
		const labels = ["Greet", "Report", "Fail", "Ask", "Tune", "Wipe", "Settings", "Documentation"];
		for (const label of labels) {
			expect(desk.selected).toMatch(new RegExp(`^${label}`));
			expect(desk.text).toContain("esc back");
			await desk.press(KEYS.down);
		}
		await desk.press("fail", KEYS.enter);
		expect(desk.text).toContain("Fail failed");
		expect(desk.selected).toMatch(/^Fail/);
		expect(desk.text).toContain("esc back");

		await desk.press(KEYS.clearLine, "docu", KEYS.enter);
		await desk.see("line 1");
		expect(desk.text).toContain("esc back");
		await desk.press(KEYS.end);
		expect(desk.text).toContain("line 60");

		await desk.press(KEYS.escape, KEYS.clearLine, "settings", KEYS.enter);
		await desk.see("Lamp");
		await desk.press("speed", KEYS.enter, "x");
		expect(desk.text).toContain("> 1.5x");
		expect(desk.text).toContain("esc back");
	},
);

test("a click chooses the row under it even if there is no room for the title", async () => {
	const desk = extensionDesk();
	Object.assign(desk.size, { columns: 36, rows: 14 });
	desk.widgets.above = 5;
	expect(desk.lines()).toHaveLength(4);
	await desk.press(KEYS.down);
	const row = desk.lines().findIndex((line) => line.includes("Report"));
	expect(row).toBeGreaterThan(0);
	for (const type of ["press", "click"] as const) {
		desk.frame.handleMouse({
			...{ type, y: row, x: 3, screenX: 3, screenY: row, width: 36, height: 4, button: "left" },
			...{ shift: false, alt: false, ctrl: false },
		});
	}
	await desk.see("line 1");
});

test("a key hint that does not fit is left out, never cut; the last ones go first", async () => {
	const desk = extensionDesk({ docs: document(numberedLines(60)) });
	await desk.press("docu", KEYS.enter);
	await desk.see("line 1");
	desk.size.columns = 36;
	expect(desk.lines()).toContain("esc back · down scroll · pgdn page");
	desk.size.columns = 20;
	expect(desk.lines()).toContain("esc back");
});

test("a row that is cut keeps its colour to its end", async () => {
	const desk = new FrameOnDesk();
	const long = { ...SECOND, name: "A name that is longer than its column", description: LONG_DESCRIPTION };
	openExtensions(desk.frame, { extensions: [long, { ...long, name: `B${long.name}` }], duplicates: [] }, NO_CONTEXT);
	const [selected = "", other = ""] = desk.frame.render(80).filter((line) => line.includes("name that is"));
	const colours = (line: string) => line.match(/\x1b\[[0-9;]*m/g);
	expect(selected).toContain("…");
	expect(colours(selected)).toHaveLength(2);
	expect(selected).toMatch(/\x1b\[39m$/);
	expect(other).toMatch(/ {2}BA name that is longer than…\x1b\[36m {2}It begins.*…\x1b\[39m$/);
});

test("a description of several lines stays on one row", () => {
	const desk = new FrameOnDesk();
	const odd = { ...SECOND, description: "First this.\nThen\x1b[31m that." };
	openExtensions(desk.frame, { extensions: [odd], duplicates: [] }, NO_CONTEXT);
	expect(desk.selected).toBe("Second  First this. Then that.");
});

test("resizing the window keeps the selection", async () => {
	const desk = extensionDesk();
	desk.size.rows = 12;
	await desk.press(KEYS.pageDown);
	const { selected } = desk;
	desk.size.rows = 40;
	expect(desk.selected).toBe(selected);
	await desk.press(KEYS.up, KEYS.pageDown, KEYS.pageDown);
	expect(desk.selected).toMatch(/^Settings/);
});
