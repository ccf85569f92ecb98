import { expect, test } from "vitest";
import { soak } from "../faults/soak.ts";
import { scratchFolder } from "../support/scratch.ts";

test("a day of turns with a bar that comes and goes leaves no timer, no alert and no file but the log", async () => {
	const { logFiles, timers, running, isLit, rows } = await soak(scratchFolder(), 2_000);
	expect({ logFiles, timers, running, isLit }).toEqual({
		logFiles: ["alerts.jsonl"],
		timers: 0,
		running: 0,
		isLit: false,
	});
	expect(rows).toBeGreaterThan(2_000);
});
