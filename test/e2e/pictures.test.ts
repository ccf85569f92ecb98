// The user's own pictures on the bar, pixel by pixel, and what happens when one cannot be shown.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { encodeBicycle0 } from "../../busybar/anim/bicycle0.ts";
import { encodePng } from "../../busybar/anim/png.ts";
import { Desk, untilDark } from "../support/desk.ts";
import { startRpcPi } from "../support/pi.ts";
import type { SimulatedBar } from "../support/simulated-bar.ts";
import { say } from "../support/steps.ts";
import { waitUntil } from "../support/wait.ts";

type Colour = readonly [red: number, green: number, blue: number];

/** One colour all over. */
function frame([red, green, blue]: Colour, width: number, height: number): Uint8Array {
	return new Uint8Array(width * height * 4).map((_, at) => [red, green, blue, 255][at % 4] ?? 0);
}

function folderOfFrames(path: string, colour: Colour, width: number, height: number): string {
	mkdirSync(path);
	for (const index of [0, 1]) {
		writeFileSync(join(path, `frame_${index}.png`), encodePng(width, height, frame(colour, width, height)));
	}
	return path;
}

async function untilAllOf(bar: SimulatedBar, colour: Colour): Promise<void> {
	await waitUntil(`The bar all of ${colour}`, 20_000, async () => {
		const { rgb } = await bar.screen("front");
		return rgb.length === 72 * 16 * 3 && rgb.every((value, at) => value === colour[at % 3]);
	});
}

test("a folder of frames and an .anim file are shown unchanged", async () => {
	const desk = new Desk();
	const [ROSE, TEAL] = [
		[200, 30, 90],
		[10, 160, 120],
	] as const;
	const folder = folderOfFrames(join(desk.home.dir, "rose"), ROSE, 72, 16);
	const file = join(desk.home.dir, "teal.anim");
	const frames = [frame(TEAL, 72, 16), frame(TEAL, 72, 16)];
	const sections = [{ name: "default", start: 0, end: 1 }];
	writeFileSync(file, encodeBicycle0({ width: 72, height: 16, fps: 12, colorMode: "rgb888", frames, sections }));
	desk.saveSettings({ alertOn: "agent_settled", holdSeconds: 2, patternDone: folder, patternError: file });
	const bar = await desk.bar();
	const script = [say("Done."), { error: "invalid request" }];
	const pi = startRpcPi(desk.home, desk.pi(bar.addr, { script }));
	await pi.prompt("please");
	await untilAllOf(bar, ROSE);
	await pi.prompt("again");
	await untilAllOf(bar, TEAL);
	await untilDark(bar);
	const fired = desk.log().flatMap((row) => (row.outcome === "fired" ? [`${row.alert} ${row.pattern}`] : []));
	expect(fired).toEqual([`done ${folder}`, `error ${file}`]);
	expect(pi.events.filter(({ notifyType }) => notifyType === "warning")).toEqual([]);
	await pi.close();
});

test("a picture of the wrong size or that is missing is replaced by ours: an error row each time, one warning each", async () => {
	const desk = new Desk();
	const tooLarge = folderOfFrames(join(desk.home.dir, "large"), [1, 2, 3], 160, 80);
	const missing = join(desk.home.dir, "missing.anim");
	const ownPictures = { patternDone: tooLarge, patternError: missing };
	desk.saveSettings({ alertOn: "agent_settled", holdSeconds: 0.5, ...ownPictures });
	const bar = await desk.bar();
	const script = [say("Done."), say("Done."), { error: "invalid request" }];
	const pi = startRpcPi(desk.home, desk.pi(bar.addr, { script }));
	const shown = ["error agent settled bad_asset", "fired agent settled", "cleared agent settled"];
	for (const count of [3, 6, 9]) {
		await pi.prompt("please");
		await waitUntil(`${count} rows`, 20_000, () => desk.story().length >= count);
	}
	expect(desk.story()).toEqual([...shown, ...shown, ...shown]);
	const fired = desk.log().flatMap((row) => (row.outcome === "fired" ? [`${row.alert} ${row.pattern}`] : []));
	expect(fired).toEqual(["done check", "done check", "error cross"]);
	await pi.close();
	const warnings = pi.events.filter(({ notifyType }) => notifyType === "warning").map(({ message }) => String(message));
	expect(warnings).toHaveLength(2);
	expect(warnings[0]).toContain(tooLarge);
	expect(warnings[0]).toMatch(/160x80.*72x16.*done alerts show `check`/);
	expect(warnings[1]).toContain(missing);
	expect(warnings[1]).toContain("error alerts show `cross`");
});
