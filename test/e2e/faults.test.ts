import { rm } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FAULTS, prepare } from "../faults/every-fault.ts";
import { rowOf, type Setting } from "../faults/fault.ts";

/** Of each kind the quickest; `npm run faults` has them all. */
const CHOSEN = [
	"show dies of SIGSEGV",
	"show fails with escape sequences",
	"the configured CLI does not exist",
	"the configured CLI is another program",
	"the CLI repeats the access key in its error",
	"400 to the draw",
	"403: access over Wi-Fi is off",
	"409 after 1.5 s: a higher priority is on the bar",
	"refused, and again in the back-off",
	"the draw takes effect, its answer is lost",
	"a proxy: 403 with HTML",
	"the user's own picture does not exist",
	"cache folder: a file is in its place, and the bar refuses twice",
	"log: its last row is torn",
	"lock: its pi was killed in the draw",
	"the clock is set back by a day in the draw",
	"pi -p: the bar is absent",
];

describe.concurrent("whatever fails, pi waits for nothing, the bar goes dark, and the words are true", () => {
	let setting: Setting;
	beforeAll(async () => {
		setting = await prepare();
	});
	afterAll(() => rm(setting.animations, { recursive: true }));

	test.each(CHOSEN)("%s", async (name) => {
		const fault = FAULTS.find((each) => each.name === name);
		if (!fault) throw new Error("There is no such fault.");
		expect((await rowOf(fault, setting)).failures).toEqual([]);
	});
});
