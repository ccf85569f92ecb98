// Two real pis of one user, and one bar between them.

import { expect, test } from "vitest";
import { Desk, untilDark, untilLit } from "../support/desk.ts";
import { startRpcPi } from "../support/pi.ts";
import { EXTENSION } from "../support/pi-desk.ts";
import type { SimulatedBar } from "../support/simulated-bar.ts";
import { ASKING, ask, say } from "../support/steps.ts";
import { waitUntil } from "../support/wait.ts";

/** The pictures that the bar was given, in order, each with the time until the next drawing or clear. */
async function shown(bar: SimulatedBar): Promise<[picture: string, ms: number][]> {
	const drawings = (await bar.journal()).filter(({ path, status }) => path === "/api/display/draw" && status === 200);
	return drawings.flatMap(({ body, at, method }, index) => {
		const next = drawings[index + 1];
		if (method !== "POST" || !next) return [];
		const [element] = (body as { elements: { path: string }[] }).elements;
		const picture = /^[a-z]+/.exec(element?.path.replace(/^alert_front_/, "") ?? "")?.[0] ?? "";
		return [[picture, next.at - at] as [string, number]];
	});
}

test("two verdicts at the same moment: each is lit for three seconds, the second one takes the light away", async () => {
	const desk = new Desk();
	desk.saveSettings({ alertOn: "agent_settled" });
	const bar = await desk.bar();
	const good = startRpcPi(desk.home, desk.pi(bar.addr, { script: [say("Done.")] }));
	const bad = startRpcPi(desk.home, desk.pi(bar.addr, { script: [{ text: "", error: "invalid request" }] }));
	await Promise.all([good.prompt("please"), bad.prompt("please")]);
	await waitUntil("both cleared", 30_000, () => desk.story().filter((row) => row.startsWith("cleared")).length === 2);
	const pictures = await shown(bar);
	expect(pictures.map(([picture]) => picture).sort()).toEqual(["check", "cross"]);
	for (const [picture, ms] of pictures) expect(ms, picture).toBeGreaterThanOrEqual(2_900);
	await untilDark(bar);
	await Promise.all([good.close(), bad.close()]);
});

test("a question gives way to the other pi's verdict and comes back; killed, its pi leaves no light behind", async () => {
	const desk = new Desk();
	desk.saveSettings({ alertOn: "agent_settled", holdSeconds: 1 });
	const bar = await desk.bar();
	const extensions = [EXTENSION, ASKING];
	const asking = startRpcPi(desk.home, desk.pi(bar.addr, { extensions, script: [ask("select"), say("Thanks.")] }));
	await asking.prompt("please");
	await desk.logged("fired question: select");
	const other = startRpcPi(desk.home, desk.pi(bar.addr, { script: [say("Done.")] }));
	await other.prompt("please");
	await desk.logged("cleared agent settled");
	expect(desk.log().at(-1)).toMatchObject({ outcome: "cleared", handedOver: true });
	const [element] = (await bar.state()).canvas.elements;
	expect(element?.file).toContain("question");

	process.kill(asking.pid, "SIGKILL");
	await asking.exit;
	await untilLit(bar);
	const next = startRpcPi(desk.home, desk.pi(bar.addr));
	await untilDark(bar);
	await desk.logged("cleared question: select");
	expect(desk.log().at(-1)).toMatchObject({ outcome: "cleared", leftBy: asking.pid });
	await Promise.all([other.close(), next.close()]);
});
