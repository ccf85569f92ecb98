import { expect, test } from "vitest";
import { Desk, untilDark, untilLit } from "../support/desk.ts";
import { startTerminalPi } from "../support/pi.ts";
import { KEY } from "../support/terminal.ts";

const FOCUS_IN = "\x1b[I";
const FOCUS_OUT = "\x1b[O";
const ANSWERS = [{ text: "First." }, { text: "Second." }, { text: "Third." }];

const SCREENS = [
	["1.6.0, full screen", { version: "1.6.0" }],
	["1.6.0, regular screen", { version: "1.6.0", args: ["--tui-mode", "regular"] }],
	["0.82.1", { version: "0.82.1" }],
] as const;

// Of the reports, pi's own full screen is told by pi; elsewhere we ask the terminal for them.
test.each(SCREENS)("pi %s: no alert while the terminal is known to have the focus", async (_, options) => {
	const desk = new Desk();
	desk.saveSettings({ onlyWhenUnfocused: true, holdSeconds: 0.5, alertOn: "agent_settled" });
	const bar = await desk.bar();
	const pi = await startTerminalPi(desk.home, { ...desk.pi(bar.addr, { script: ANSWERS }), ...options });
	const ask = async (answer: string) => {
		pi.write(`please${KEY.enter}`);
		await pi.waitForText(answer);
	};

	await ask("First.");
	await desk.logged("cleared agent settled");
	pi.write(FOCUS_IN);
	// The terminal says nothing again to a new session.
	pi.write(`/new${KEY.enter}`);
	await pi.waitForScreen("A new session", (screen) => !screen.includes("First."));
	await ask("Second.");
	await desk.logged("skipped agent settled focused");
	expect(pi.screen().join("\n")).not.toContain("[I");
	// The key that sends the prompt says that the user is there; then they look away.
	pi.write(`please${KEY.enter}${FOCUS_OUT}`);
	await pi.waitForText("Third.");
	await untilLit(bar);
	expect(desk.story().at(2)).toBe("skipped agent settled focused");
	await untilDark(bar);
	pi.write(KEY.ctrlD);
	expect(await pi.exit).toEqual({ code: 0, signal: null });
});

test("a key at the terminal ends an alert early, though not before three seconds", async () => {
	const desk = new Desk();
	desk.saveSettings({ holdSeconds: 600 });
	const bar = await desk.bar();
	const pi = await startTerminalPi(desk.home, desk.pi(bar.addr));
	pi.write(`/busybar-alert-test done${KEY.enter}`);
	await untilLit(bar);
	await desk.logged("fired manual test");
	pi.write("x");
	await desk.logged("cleared manual test");
	await untilDark(bar);
	const cleared = desk.log().find((row) => row.outcome === "cleared");
	expect(cleared?.outcome === "cleared" && cleared.heldMs).toBeGreaterThanOrEqual(3_000);
	pi.kill("SIGTERM");
	await pi.exit;
});

test("focusing the terminal ends an alert early too", async () => {
	const desk = new Desk();
	desk.saveSettings({ holdSeconds: 600 });
	const bar = await desk.bar();
	const pi = await startTerminalPi(desk.home, desk.pi(bar.addr));
	pi.write(`/busybar-alert-test error${KEY.enter}`);
	await untilLit(bar);
	pi.write(FOCUS_OUT);
	await desk.logged("fired manual test");
	pi.write(FOCUS_IN);
	await desk.logged("cleared manual test");
	await untilDark(bar);
	pi.kill("SIGTERM");
	await pi.exit;
});
