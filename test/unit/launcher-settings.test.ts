// The settings screen of /px: every kind of field, changed as a user changes it.

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

test("settings stand in their groups, in the order of the schema, with their values", async () => {
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

test("Enter on a switch or a choice goes to the next value and saves it, staying on the row", async () => {
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

test("Enter pressed faster than values are saved loses no step", async () => {
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

test("a number is edited from its value on; what is no number, or none that may be, says why and changes nothing", async () => {
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
	expect(desk.text).toContain("Speed (m/s) is 2.25 now.");
	expect(await values()).toMatchObject({ speed: 2.25 });
});

test("a whole number does not take a fraction", async () => {
	const { desk, values } = await settingsDesk();
	await desk.press("steps", KEYS.enter, ".5", KEYS.enter);
	expect(desk.text).toContain("Steps must be a whole number from 0 to 100.");
	await desk.press(...erase(3), "12", KEYS.enter);
	expect(await values()).toMatchObject({ steps: 12 });
});

test("text is edited from its value on, wide characters too, and can be made empty", async () => {
	const { desk, values } = await settingsDesk();
	await desk.press("label", KEYS.enter, "小さな ラベル q", KEYS.enter);
	expect(await values()).toMatchObject({ label: "小さな ラベル q" });
	await desk.press(KEYS.enter, ...erase(1), "r", KEYS.enter);
	expect(await values()).toMatchObject({ label: "小さな ラベル r" });
	await desk.press(KEYS.enter, KEYS.clearLine, KEYS.enter);
	expect(await values()).toMatchObject({ label: "" });
	expect(desk.selected).toMatch(/empty$/);
});

test("Enter and Esc without a change erase nothing and save nothing", async () => {
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

test("a secret is dots from the first key on, is never shown again, is kept by Enter and removed only when asked", async () => {
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
	expect(desk.text).toContain("Key is saved.");
	expect(await values()).toMatchObject({ key: "s3cret éß" });

	await desk.press(KEYS.enter);
	expect(desk.lines()[2]).toBe(">");
	expect(desk.text).toContain("Nothing typed keeps the one there is.");
	await desk.press(KEYS.enter);
	expect(await values()).toMatchObject({ key: "s3cret éß" });

	expect(desk.text).toContain("del remove");
	await desk.press(KEYS.delete);
	expect(desk.text).toContain("Remove Key?");
	await desk.press(KEYS.escape);
	expect(await values()).toMatchObject({ key: "s3cret éß" });
	await desk.press(KEYS.delete, KEYS.down, KEYS.enter);
	expect(desk.text).toContain("Key is removed.");
	expect(await values()).toMatchObject({ key: "" });
});

test("a long secret in a narrow terminal stays dots", async () => {
	const { desk } = await settingsDesk();
	desk.size.columns = 20;
	await desk.press("key", KEYS.enter, "abcdefghij".repeat(6), "\x1b[D", "\x1b[D");
	expect(desk.lines()[2]).toMatch(/^> •+$/);
	expect(desk.text).not.toMatch(/hij|fgh/);
});

test("Delete goes back to the default and says what that is", async () => {
	const { desk, values } = await settingsDesk();
	await desk.press(KEYS.down, KEYS.enter);
	expect(await values()).toMatchObject({ colour: "green" });
	await desk.press(KEYS.delete);
	expect(desk.text).toContain("Colour is red now.");
	expect(await values()).toMatchObject({ colour: "red" });
});

test("when saving fails the reason is shown, and the value in force", async () => {
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

test("a note of the extension stands with its field", async () => {
	const { desk } = await settingsDesk();
	await desk.press("speed");
	expect(desk.text).toContain("DEMO_SPEED in the environment is overruled.");
});

test("the filter finds settings by group, key and value; groups are named anew", async () => {
	const { desk } = await settingsDesk();
	await desk.press("motion");
	expect(desk.lines().slice(3, 5)).toEqual(["→ Motion  Steps        5", "          Speed (m/s)  1.5"]);
	await desk.press(KEYS.clearLine, "red");
	expect(desk.selected).toBe("Light   Colour       red");
});

test("in a small window a refusal, the note and the description can all be read, the refusal first", async () => {
	const { desk } = await settingsDesk();
	Object.assign(desk.size, { columns: 36, rows: 14 });
	await desk.press("speed");
	expect(desk.text).toMatch(/Motion · DEMO_SPEED in the\n.*… tab more/);
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
	for (const part of ["Motion · Speed (m/s): 1.5", "is overruled.", "the wind behind it.", "Default: 1.5."]) {
		expect(all).toContain(part);
	}

	await desk.press(KEYS.escape);
	expect(desk.lines()[2]).toBe("> 99");
});

test("all that is said about a secret does not say it", async () => {
	const { desk } = await settingsDesk();
	await desk.press("key", KEYS.enter, "s3cret", KEYS.enter, KEYS.enter, "other", KEYS.tab);
	expect(desk.text).toContain("Texts · Key: ••••••••");
	expect(desk.text).not.toMatch(/s3cret|other/);
});
