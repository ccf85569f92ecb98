// What pi's footer says of the bar, and what is lit when its user wants to hear no more; over RPC, which reports both.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DEAD_ADDRESS, Desk, untilDark, untilLit } from "../support/desk.ts";
import { startRpcPi } from "../support/pi.ts";
import { waitUntil } from "../support/wait.ts";

type RpcPi = ReturnType<typeof startRpcPi>;

async function command(pi: RpcPi, text: string): Promise<void> {
	await pi.prompt(text);
	await pi.waitFor(({ method, message }) => method === "notify" && !String(message).includes("alerts are on, for"));
}

test("the footer shows the state, only problems or nothing, as `statusLine` says, and notices by itself that a mute is over", async () => {
	const desk = new Desk();
	const pi = startRpcPi(desk.home, desk.pi(DEAD_ADDRESS));
	const statuses = () => pi.events.flatMap(({ method, statusText }) => (method === "setStatus" ? [statusText] : []));
	const expected: (string | undefined)[] = [];
	const said = async (...more: typeof expected) => {
		expected.push(...more);
		await waitUntil(`The statuses ${expected}`, 20_000, () => statuses().length >= expected.length);
		expect(statuses()).toEqual(expected);
	};
	const save = async (settings: Record<string, unknown>) => {
		writeFileSync(join(desk.home.agentDir, "busybar-alert.json"), JSON.stringify(settings));
		await command(pi, "/busybar-alert");
	};

	await said("busybar:on");
	await command(pi, "/busybar-alert-test");
	await said("busybar:alerting (manual test)", "busybar:unreachable");
	await save({ statusLine: "problems" });
	await said(undefined);
	await command(pi, "/busybar-alert-test");
	await said("busybar:unreachable");
	await save({ statusLine: "never" });
	await command(pi, "/busybar-alert-test");
	await said(undefined);
	await save({ enabled: false });
	await said("busybar:off");
	await save({ mutedUntil: new Date(Date.now() + 1_500).toISOString() });
	await said("busybar:muted", "busybar:on");
	await command(pi, "/busybar-alert-mute here");
	await said("busybar:muted");
	await pi.close();
});

test("muting or switching off alerts while one is lit darkens the bar", async () => {
	const desk = new Desk();
	desk.saveSettings({ holdSeconds: 600 });
	const bar = await desk.bar();
	const pi = startRpcPi(desk.home, desk.pi(bar.addr));
	for (const silence of ["/busybar-alert-mute here", "/busybar-alert-mute 30m", "/busybar-alert-toggle off"]) {
		await command(pi, "/busybar-alert-test done");
		await untilLit(bar);
		await command(pi, silence);
		await untilDark(bar);
	}
	await pi.close();
});
