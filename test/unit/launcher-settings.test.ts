// The settings screen of /px: every kind of setting, changed the way a user changes it.

import { expect, test } from "vitest";
import type { PiExtensionSettings } from "../../extensions/_shared/registry.ts";
import { SettingsScreen } from "../../extensions/launcher/settings-screen.ts";
import { demoSettings } from "../support/px-demo-extension.ts";
import { FrameOnDesk, KEYS } from "../support/px-frame.ts";

async function settingsDesk(settings = demoSettings()) {
	const desk = new FrameOnDesk();
	desk.frame.open(new SettingsScreen(desk.frame, settings, await settings.load()));
	return { desk, values: async () => (await settings.load()).values };
}

const erase = (count: number) => Array<string>(count).fill(KEYS.backspace);

test("settings are listed by group, in the order of the schema, with their values", async () => {
	const { desk } = await settingsDesk();
	expect(desk.lines().slice(3, 11)).toEqual([
		"→ Light   Lamp         on",
		"          Colour       red",
		"          Level        1",
		"  Motion  Steps        5",
		"          Speed (m/s)  1.5",
		"  Texts   標籤 label   empty",
		"          Key          not set",
		"          Place        here",
	]);
	expect(desk.text).toContain("Whether there is light. Default: on.");
});

test("Enter on a switch or a choice moves on to the next value and saves it; the row stays selected", async () => {
	const { desk, values } = await settingsDesk();
	await desk.press(KEYS.enter);
	expect(desk.selected).toBe("Light   Lamp         off");
	await desk.press(KEYS.down, KEYS.enter, KEYS.enter);
	expect(desk.selected).toBe("        Colour       blue");
	await desk.press(KEYS.down, KEYS.enter);
	expect(await values()).toMatchObject({ lamp: false, colour: "blue", level: 2 });
	await desk.press(KEYS.enter);
	expect(await values()).toMatchObject({ level: 1 });
});

test("pressing Enter faster than values are saved loses no step", async () => {
	const slow = demoSettings();
	const { desk, values } = await settingsDesk({
		...slow,
		save: async (changes) => {
			await new Promise((resolve) => setImmediate(resolve));
			return slow.save(changes);
		},
	});
	await desk.press(KEYS.down);
	for (let times = 0; times < 4; times++) desk.frame.handleInput(KEYS.enter);
	expect(desk.selected).toBe("        Colour       green");
	await expect.poll(async () => (await values()).colour).toBe("green");
});

test("editing a number starts from its value; text, or a number that is not allowed, is refused with the reason", async () => {
	const { desk, values } = await settingsDesk();
	await desk.press("speed", KEYS.enter);
	expect(desk.text).toContain("> 1.5");
	expect(desk.text).toContain("Must be a number from 0.5 to 10.");

	for (const wrong of ["99", "0x5", "1,5", "fast", ""]) {
		await desk.press(KEYS.clearLine, wrong, KEYS.enter);
		expect(desk.text).toContain("Speed (m/s) must be a number from 0.5 to 10.");
		expect(desk.selected).toContain("1.5");
	}
	expect(await values()).toMatchObject({ speed: 1.5 });

	await desk.press("2.25", KEYS.enter);
	expect(desk.text).toContain("Speed (m/s) set to 2.25.");
	expect(await values()).toMatchObject({ speed: 2.25 });
});

test("a whole number cannot have a fraction", async () => {
	const { desk, values } = await settingsDesk();
	await desk.press("steps", KEYS.enter, ".5", KEYS.enter);
	expect(desk.text).toContain("Steps must be a whole number from 0 to 100.");
	await desk.press(...erase(3), "12", KEYS.enter);
	expect(await values()).toMatchObject({ steps: 12 });
});

test("editing text starts from its value, also with wide characters, and the text can be cleared", async () => {
	const { desk, values } = await settingsDesk();
	await desk.press("label", KEYS.enter, "小さな ラベル q", KEYS.enter);
	expect(await values()).toMatchObject({ label: "小さな ラベル q" });
	await desk.press(KEYS.enter, ...erase(1), "r", KEYS.enter);
	expect(await values()).toMatchObject({ label: "小さな ラベル r" });
	await desk.press(KEYS.enter, KEYS.clearLine, KEYS.enter);
	expect(await values()).toMatchObject({ label: "" });
	expect(desk.selected).toMatch(/empty$/);
});

test("Enter or Esc without a change neither erases nor saves anything", async () => {
	const settings = demoSettings();
	let saves = 0;
	const counting: PiExtensionSettings = {
		...settings,
		save: (changes) => {
			saves++;
			return settings.save(changes);
		},
	};
	const { desk, values } = await settingsDesk(counting);
	const before = await values();
	for (const row of ["steps", "speed", "label", "key", "place"]) {
		await desk.press(KEYS.clearLine, row, KEYS.enter, KEYS.enter, KEYS.enter, "x", KEYS.escape);
	}
	expect(await values()).toEqual(before);
	expect(saves).toBe(0);
});

test("a secret shows as dots from the first key on, Enter on an empty line keeps it, and Del removes it after asking", async () => {
	const { desk, values } = await settingsDesk();
	await desk.press("key", KEYS.enter);
	for (const letter of "s3cret éß") {
		await desk.press(letter);
		expect(desk.text).not.toMatch(/[3é]|s3|ret/u);
	}
	expect(desk.text).toContain(`> ${"•".repeat(9)}`);
	await desk.press("\x1b[D", "\x1b[D", KEYS.home);
	expect(desk.text).toContain(`> ${"•".repeat(9)}`);
	await desk.press(KEYS.enter);
	expect(desk.text).toContain("Key saved.");
	expect(await values()).toMatchObject({ key: "s3cret éß" });

	await desk.press(KEYS.enter);
	expect(desk.lines()[2]).toBe(">");
	expect(desk.text).toContain("Leave this empty to keep the current value.");
	await desk.press(KEYS.enter);
	expect(await values()).toMatchObject({ key: "s3cret éß" });

	expect(desk.text).toContain("del remove");
	await desk.press(KEYS.delete);
	expect(desk.text).toContain("Remove Key?");
	await desk.press(KEYS.escape);
	expect(await values()).toMatchObject({ key: "s3cret éß" });
	await desk.press(KEYS.delete, KEYS.down, KEYS.enter);
	expect(desk.text).toContain("Key removed.");
	expect(await values()).toMatchObject({ key: "" });
});

test("a long secret in a narrow terminal shows as dots too", async () => {
	const { desk } = await settingsDesk();
	desk.size.columns = 20;
	await desk.press("key", KEYS.enter, "abcdefghij".repeat(6), "\x1b[D", "\x1b[D");
	expect(desk.lines()[2]).toMatch(/^> •+$/);
	expect(desk.text).not.toMatch(/hij|fgh/);
});

test("Del resets a setting to its default and says what that is", async () => {
	const { desk, values } = await settingsDesk();
	await desk.press(KEYS.down, KEYS.enter);
	expect(await values()).toMatchObject({ colour: "green" });
	await desk.press(KEYS.delete);
	expect(desk.text).toContain("Colour set to red.");
	expect(await values()).toMatchObject({ colour: "red" });
});

test("if saving fails, the reason and the value in force are shown", async () => {
	const { desk, values } = await settingsDesk();
	await desk.press("place", KEYS.enter, KEYS.clearLine, "disk full", KEYS.enter);
	expect(desk.text).toContain("the disk is full");
	await desk.press(KEYS.escape);
	expect(desk.selected).toContain("here");
	expect(await values()).toMatchObject({ place: "here" });

	const broken = demoSettings();
	const second = await settingsDesk({ ...broken, save: () => Promise.reject(new Error("No room.")) });
	await second.desk.press(KEYS.enter);
	expect(second.desk.text).toContain("No room.");
	expect(second.desk.selected).toMatch(/on$/);
});

test("a note from the extension is shown with its setting", async () => {
	const { desk } = await settingsDesk();
	await desk.press("speed");
	expect(desk.text).toContain("Used instead of the environment variable DEMO_SPEED.");
});

test("the filter finds settings by group, name and value; the first row of each group still names it", async () => {
	const { desk } = await settingsDesk();
	await desk.press("motion");
	expect(desk.lines().slice(3, 5)).toEqual(["→ Motion  Steps        5", "          Speed (m/s)  1.5"]);
	await desk.press(KEYS.clearLine, "red");
	expect(desk.selected).toBe("Light   Colour       red");
});

test("in a small window the refusal, the note and the description can all be read, the refusal first", async () => {
	const { desk } = await settingsDesk();
	Object.assign(desk.size, { columns: 36, rows: 14 });
	await desk.press("speed");
	expect(desk.text).toMatch(/Motion · Used instead of the\n.*… tab more/);
	await desk.press(KEYS.enter, KEYS.clearLine, "99", KEYS.enter);
	expect(desk.text).toMatch(/Speed \(m\/s\) must be a number from\n0\.5 to 10\./);

	await desk.press(KEYS.tab);
	const seen = [desk.text];
	for (let row = 0; row < 12; row++) {
		await desk.press(KEYS.down);
		seen.push(desk.text);
	}
	const all = seen.join("\n").replaceAll("\n", " ");
	expect(seen[0]).toMatch(/More\nSpeed \(m\/s\) must be a number from\n0\.5 to 10\./);
	for (const part of ["Motion · Speed (m/s): 1.5", "variable DEMO_SPEED.", "the wind behind it.", "Default: 1.5."]) {
		expect(all).toContain(part);
	}

	await desk.press(KEYS.escape);
	expect(desk.lines()[2]).toBe("> 99");
});

test("a secret is not in the text that Tab shows about it", async () => {
	const { desk } = await settingsDesk();
	await desk.press("key", KEYS.enter, "s3cret", KEYS.enter, KEYS.enter, "other", KEYS.tab);
	expect(desk.text).toContain("Texts · Key: ••••••••");
	expect(desk.text).not.toMatch(/s3cret|other/);
});
