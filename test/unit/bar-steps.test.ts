import { expect, test } from "vitest";
import type { Command, Target } from "../../extensions/busybar-alert/busybar.ts";
import { BarSteps } from "../../extensions/busybar-alert/cycle/bar-steps.ts";
import { MemoryBarStore } from "../../extensions/busybar-alert/cycle/bar-store.ts";

const TARGET: Target = { addr: "127.0.0.1:1", applicationName: "a", token: "", display: "front", priority: 60 };
const COMMAND: Command = { file: "busybar", args: ["show"], env: {}, deadlineMs: 1_000 };

test("a step that is cut off before its command runs nothing; the next step does", async () => {
	let runs = 0;
	const steps = new BarSteps({
		exec: async () => {
			runs += 1;
			return { code: 0, signal: null, killed: false, stdout: "", stderr: "" };
		},
		bars: new MemoryBarStore(),
		processes: { self: async () => ({ pid: 1, started: "once" }), isAlive: async () => true },
	});
	const step = (before: () => void) =>
		steps.change(TARGET, async (record) => {
			before();
			return { record, value: await steps.run(COMMAND, record) };
		});
	expect(await step(() => steps.cutOff())).toBeUndefined();
	expect(runs).toBe(0);
	expect(await step(() => undefined)).toMatchObject({ code: 0 });
	expect(runs).toBe(1);
});
