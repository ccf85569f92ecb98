import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { decodeBicycle0 } from "../../busybar/anim/bicycle0.ts";
import { Desk, requests, TWO_TURNS, untilDark } from "../support/desk.ts";
import { PI_VERSIONS, runPi, startRpcPi } from "../support/pi.ts";
import { waitUntil } from "../support/wait.ts";

const LISTING = "GET /api/storage/list";
const UPLOAD = "POST /api/assets/upload";
const DRAW = "POST /api/display/draw";
const CLEAR = "DELETE /api/display/draw";

describe.each(PI_VERSIONS)("pi %s", (version) => {
	test("a prompt with two turns ends with the check on the bar, and then the bar is dark", async () => {
		const desk = new Desk();
		desk.saveSettings({ holdSeconds: 1 });
		const bar = await desk.bar();
		const pi = startRpcPi(desk.home, desk.pi(bar.addr, { version, script: [...TWO_TURNS, ...TWO_TURNS] }));
		await pi.prompt("please");
		await desk.logged("fired turn 1");

		// The pixels are those of a frame of the file that the log names.
		const fired = desk.log().find((row) => row.outcome === "fired" && row.reason === "turn 1");
		const anim = fired?.outcome === "fired" ? fired.anim : "";
		expect(fired).toMatchObject({ alert: "done", pattern: "check", pid: pi.pid });
		const { rgb } = await bar.screen("front");
		expect(Math.max(...rgb)).toBeGreaterThan(0);
		const frames = decodeBicycle0(readFileSync(anim)).frames.map((frame) =>
			Buffer.from(frame.filter((_, at) => at % 4 !== 3)),
		);
		expect(frames.some((frame) => frame.equals(rgb))).toBe(true);

		await untilDark(bar);
		await desk.logged("cleared turn 1");
		const before = (await bar.journal()).length;

		// The bar has the files now: an alert is one listing, one draw and one clear.
		await pi.prompt("again");
		await waitUntil(
			"the second verdict cleared",
			20_000,
			() => desk.story().filter((row) => row === "cleared turn 1").length === 2,
		);
		const second = requests((await bar.journal()).slice(before));
		expect(second.filter((request) => request === UPLOAD).length).toBeLessThanOrEqual(1);
		expect(second.at(-1)).toBe(CLEAR);
		const draws = second.filter((request) => request === DRAW).length;
		expect(second.filter((request) => request === LISTING)).toHaveLength(draws);

		expect(await pi.close()).toEqual({ code: 0, signal: null });
		expect(pi.stderr).toBe("");
		expect(desk.story().filter((row) => row.startsWith("error"))).toEqual([]);
	});

	test.each(["text", "json"] as const)("-p (%s) is silent, and the log says why", async (mode) => {
		const desk = new Desk();
		const bar = await desk.bar();
		const result = await runPi(desk.home, { ...desk.pi(bar.addr, { version }), prompt: "please", mode });
		expect(result).toMatchObject({ code: 0, stderr: "" });
		expect(await bar.journal()).toEqual([]);
		expect(desk.story()).toEqual([
			"skipped turn 0 headless",
			"skipped turn 1 headless",
			"skipped turn 1 (final) headless",
		]);
	});
});

test("a bar that already has the files gets one listing, one draw and one clear per alert", async () => {
	const desk = new Desk();
	desk.saveSettings({ holdSeconds: 1, alertOn: "agent_settled" });
	const bar = await desk.bar();
	const pi = startRpcPi(desk.home, desk.pi(bar.addr, { script: [...TWO_TURNS, ...TWO_TURNS] }));
	for (const rounds of [1, 2]) {
		await pi.prompt("please");
		const cleared = () => desk.story().filter((row) => row === "cleared agent settled").length === rounds;
		await waitUntil("the verdict cleared", 20_000, cleared);
	}
	expect(requests(await bar.journal())).toEqual([LISTING, UPLOAD, DRAW, CLEAR, LISTING, DRAW, CLEAR]);
	await pi.close();
});
