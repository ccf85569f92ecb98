// The question on the bar: from the moment pi waits for its user until they answer, and at no other time.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { Desk, EXTENSION, untilDark, untilLit } from "../support/desk.ts";
import { startRpcPi, startTerminalPi } from "../support/pi.ts";
import { ASKING, ask, say, untilFile, untilLogged, WORK } from "../support/steps.ts";
import { KEY } from "../support/terminal.ts";
import { waitUntil } from "../support/wait.ts";

const LAUNCHER = fileURLToPath(new URL("../../extensions/launcher/index.ts", import.meta.url));
const WITH_ASKING = { extensions: [EXTENSION, ASKING] };

/** Alerts for questions and at the end alone, so that the story of a question is not mixed with its turn's. */
const QUIET_TURNS = { alertOn: "agent_settled", holdSeconds: 0.5 } as const;

type RpcPi = ReturnType<typeof startRpcPi>;

async function dialog(pi: RpcPi, method: string): Promise<string> {
	return String((await pi.waitFor((record) => record.type === "extension_ui_request" && record.method === method)).id);
}

test("a dialog of any kind is shown until it is answered, then the run's verdict", async () => {
	const desk = new Desk();
	desk.saveSettings(QUIET_TURNS);
	const bar = await desk.bar();
	const dialogs = [
		["select", { value: "left" }],
		["confirm", { confirmed: true }],
		["input", { value: "Ada" }],
		["editor", { value: "a long text" }],
	] as const;
	const script = dialogs.flatMap(([kind]) => [
		ask(kind),
		untilLogged(desk, "cleared", `question: ${kind}`),
		say("Thanks."),
	]);
	const pi = startRpcPi(desk.home, desk.pi(bar.addr, { ...WITH_ASKING, script }));
	for (const [at, [kind, answer]] of dialogs.entries()) {
		await pi.prompt("please");
		const id = await dialog(pi, kind);
		await desk.logged(`fired question: ${kind}`);
		await untilLit(bar);
		const [element] = (await bar.state()).canvas.elements;
		expect(element?.file).toContain("question");
		// Far beyond the hold of the other alerts; the bar ends it by itself only long after that.
		expect(element?.remainingMs).toBeGreaterThan(30_000);

		pi.send({ type: "extension_ui_response", id, ...answer });
		await waitUntil("the verdict cleared", 20_000, () => desk.story().length >= 4 * (at + 1));
		expect(desk.story().slice(4 * at)).toEqual([
			`fired question: ${kind}`,
			`cleared question: ${kind}`,
			"fired agent settled",
			"cleared agent settled",
		]);
	}
	await pi.close();
});

test("a question replaces a turn's alert at once, and the verdict replaces the question", async () => {
	const desk = new Desk();
	desk.saveSettings({ holdSeconds: 30 });
	const bar = await desk.bar();
	const script = [WORK, untilLogged(desk, "fired", "turn 0"), ask("select"), say("Thanks.")];
	const pi = startRpcPi(desk.home, desk.pi(bar.addr, { ...WITH_ASKING, script }));
	await pi.prompt("please");
	const id = await dialog(pi, "select");
	await desk.logged("fired question: select");
	expect(desk.story()).toEqual(["fired turn 0", "skipped turn 1 in_flight", "fired question: select"]);
	pi.send({ type: "extension_ui_response", id, value: "left" });
	await desk.logged("fired turn 3");
	// Whether the question was cleared or drawn over, and the asking turn shown or not, is a matter of milliseconds.
	expect(desk.story().filter((row) => row === "fired question: select")).toHaveLength(1);
	await pi.close();
	await untilDark(bar);
});

test("the bar goes dark when a question is aborted with its run, and when pi quits while one is open", async () => {
	const desk = new Desk();
	desk.saveSettings(QUIET_TURNS);
	const bar = await desk.bar();
	const script = [ask("select"), ask("select"), ask("select")];
	const pi = startRpcPi(desk.home, desk.pi(bar.addr, { ...WITH_ASKING, script }));
	const asked = (count: number) => () =>
		desk.story().filter((row) => row === "fired question: select").length === count;
	await pi.prompt("please");
	await waitUntil("the question", 15_000, asked(1));
	pi.send({ type: "abort" });
	await pi.waitFor("agent_settled");
	await desk.logged("cleared question: select");
	await untilDark(bar);
	expect(desk.story()).toEqual(["fired question: select", "cleared question: select"]);

	await pi.prompt("again");
	await waitUntil("the next question", 15_000, asked(2));
	await untilLit(bar);
	await pi.close();
	await untilDark(bar);
});

test("a question that nobody answers goes dark after `questionHoldSeconds`; the answer still works", async () => {
	const desk = new Desk();
	desk.saveSettings({ ...QUIET_TURNS, questionHoldSeconds: 5 });
	const bar = await desk.bar();
	const pi = startRpcPi(desk.home, desk.pi(bar.addr, { ...WITH_ASKING, script: [ask("confirm"), say("Thanks.")] }));
	await pi.prompt("please");
	const id = await dialog(pi, "confirm");
	await desk.logged("cleared question: confirm");
	await untilDark(bar);
	const cleared = desk.log().find(({ outcome }) => outcome === "cleared");
	expect(cleared?.outcome === "cleared" && cleared.heldMs).toBeGreaterThanOrEqual(5_000);
	pi.send({ type: "extension_ui_response", id, confirmed: true });
	await desk.logged("cleared agent settled");
	expect(desk.story().slice(2)).toEqual(["fired agent settled", "cleared agent settled"]);
	await pi.close();
});

test("a dialog that the user opens while pi is idle is not a question", async () => {
	const desk = new Desk();
	desk.saveSettings(QUIET_TURNS);
	const bar = await desk.bar();
	const pi = startRpcPi(desk.home, desk.pi(bar.addr, { ...WITH_ASKING, script: [say("Done.")] }));
	await pi.prompt("please");
	await desk.logged("cleared agent settled");
	// RPC answers a command only once it is done.
	pi.send({ type: "prompt", message: "/ask" });
	const id = await dialog(pi, "select");
	// What is asked for meanwhile would meet the question, and the log would say so.
	pi.send({ type: "prompt", message: "/busybar-alert-test done" });
	await desk.logged("cleared manual test");
	pi.send({ type: "extension_ui_response", id, value: "left" });
	await pi.waitFor(({ message }) => message === "answer: left");
	await pi.close();
	const manual = ["fired manual test", "cleared manual test"];
	expect(desk.story()).toEqual(["fired agent settled", "cleared agent settled", ...manual]);
});

test("in a terminal: a tool's own screen is a question, the second time too", async () => {
	const desk = new Desk();
	desk.saveSettings(QUIET_TURNS);
	const bar = await desk.bar();
	const cleared = untilLogged(desk, "cleared", "question: custom");
	const script = [ask("custom"), cleared, ask("custom"), say("Thanks.")];
	const pi = await startTerminalPi(desk.home, desk.pi(bar.addr, { ...WITH_ASKING, script }));
	pi.write(`please${KEY.enter}`);
	for (const count of [1, 2]) {
		await pi.waitForText("A screen of its own");
		await waitUntil(
			`question ${count}`,
			15_000,
			() => desk.story().filter((row) => row === "fired question: custom").length === count,
		);
		await untilLit(bar);
		pi.write("x");
		await pi.waitForScreen("The screen closed", (screen) => !screen.includes("A screen of its own"));
	}
	await desk.logged("cleared agent settled");
	await untilDark(bar);
	expect(desk.story().slice(0, 3)).toEqual([
		"fired question: custom",
		"cleared question: custom",
		"fired question: custom",
	]);
});

test("in a terminal: a screen that the user opens during a run is not a question, nor is /px while a tool works", async () => {
	const desk = new Desk();
	desk.saveSettings(QUIET_TURNS);
	const bar = await desk.bar();
	const [first, second] = [join(desk.home.dir, "first"), join(desk.home.dir, "second")];
	const waitFor = (path: string) => ({ toolCalls: [{ name: "wait", args: { path } }] });
	// A tool of an extension that has ended asks nothing any more.
	const script = [waitFor(desk.home.dir), untilFile(first), waitFor(second), say("All done.")];
	const pi = await startTerminalPi(desk.home, desk.pi(bar.addr, { extensions: [EXTENSION, ASKING, LAUNCHER], script }));
	pi.write(`please${KEY.enter}`);
	await pi.waitForText("until [");
	// Pasted, so that no completions take the Enter.
	pi.write(`\x1b[200~/screen\x1b[201~`);
	await pi.waitForText("/screen");
	pi.write(KEY.enter);
	await pi.waitForText("A screen of its own");
	pi.write("x");
	await pi.waitForScreen("The screen closed", (screen) => !screen.includes("A screen of its own"));

	writeFileSync(first, "");
	await pi.waitForText(/^ *wait[\s\S]*^ *wait/m);
	pi.write(`\x1b[200~/px\x1b[201~`);
	await pi.waitForText("/px");
	pi.write(KEY.enter);
	await pi.waitForText("type to filter");
	pi.write(KEY.escape);
	await pi.waitForScreen("/px closed", (screen) => !screen.includes("type to filter"));
	writeFileSync(second, "");
	await pi.waitForText("All done.");
	await desk.logged("cleared agent settled");
	expect(desk.story()).toEqual(["fired agent settled", "cleared agent settled"]);
});
