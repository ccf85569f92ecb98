import { readFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { DEAD_ADDRESS, Desk, requests, untilDark, untilLit } from "../support/desk.ts";
import { startRpcPi } from "../support/pi.ts";
import { waitUntil } from "../support/wait.ts";

const GO_BUSYBAR = fileURLToPath(new URL("../support/go-busybar", import.meta.url));
const FOREIGN_BUSYBAR = fileURLToPath(new URL("../support/foreign-busybar", import.meta.url));

/** A server that takes connections and never answers. */
async function hungServer() {
	const open = new Set<Socket>();
	const server = createServer((socket) => {
		open.add(
			socket
				.resume()
				.on("error", () => undefined)
				.on("close", () => open.delete(socket)),
		);
	}).listen(0, "127.0.0.1");
	await new Promise((resolve) => server.once("listening", resolve));
	onTestFinished(() => void server.close());
	const address = server.address();
	return { addr: `127.0.0.1:${typeof address === "object" && address ? address.port : 0}`, open };
}

describe("trouble with the bar never holds up pi", () => {
	const LIMIT_MS = 6_000;

	/** From prompt to settled; a run that waited for the bar would take at least the CLI's 8 s. */
	async function settledWithin(desk: Desk, addr: string) {
		const pi = startRpcPi(desk.home, desk.pi(addr));
		await pi.prompt("please");
		await pi.waitFor("agent_settled", LIMIT_MS);
		return pi;
	}

	test("a dead address", async () => {
		const desk = new Desk();
		const pi = await settledWithin(desk, DEAD_ADDRESS);
		await waitUntil("the error in the log", 20_000, () =>
			desk.story().some((row) => /^error .* unreachable$/.test(row)),
		);
		expect(await pi.close()).toEqual({ code: 0, signal: null });
		expect(pi.stderr).toBe("");
	});

	test("a server that hangs: pi quits at once although the CLI still waits, and the CLI ends with it", async () => {
		const desk = new Desk();
		const { addr, open } = await hungServer();
		const pi = await settledWithin(desk, addr);
		const request = await waitUntil("the CLI's request", LIMIT_MS, () => open.values().next().value);
		const startedMs = performance.now();
		expect(await pi.close()).toEqual({ code: 0, signal: null });
		await waitUntil("the CLI's end", LIMIT_MS, () => !open.has(request));
		expect(performance.now() - startedMs).toBeLessThan(LIMIT_MS);
		expect(pi.stderr).toBe("");
	});

	test("a server that hangs: the log and one notice say so once the CLI has given up", async () => {
		const desk = new Desk();
		const pi = await settledWithin(desk, (await hungServer()).addr);
		await desk.logged(/^error .* unreachable$/);
		await waitUntil("one notice", 5_000, () => pi.events.some(({ notifyType }) => notifyType === "warning"));
		await pi.close();
	});

	test("a configured CLI that is missing: the notice names the path and the fix", async () => {
		const desk = new Desk();
		desk.saveSettings({ command: "/nowhere/busybar" });
		const pi = await settledWithin(desk, DEAD_ADDRESS);
		const notice = await pi.waitFor(({ notifyType }) => notifyType === "warning");
		expect(notice.message).toContain("The busybar command /nowhere/busybar does not exist");
		await desk.logged(/^error .* not_found$/);
		expect(await pi.close()).toEqual({ code: 0, signal: null });
	});

	test("a configured CLI that is another program is named", async () => {
		const desk = new Desk();
		desk.saveSettings({ command: join(FOREIGN_BUSYBAR, "busybar") });
		const pi = await settledWithin(desk, DEAD_ADDRESS);
		const notice = await pi.waitFor(({ notifyType }) => notifyType === "warning");
		expect(notice.message).toContain(`${join(FOREIGN_BUSYBAR, "busybar")} is another program`);
		await pi.close();
	});

	test("a bar whose reply is lost: whatever may be lit is cleared", async () => {
		const desk = new Desk();
		desk.saveSettings({ alertOn: "agent_settled", holdSeconds: 60 });
		const bar = await desk.bar();
		// The file is there already: only the draw's answer is lost.
		const pi = startRpcPi(desk.home, desk.pi(bar.addr));
		await pi.prompt("/busybar-alert-test done");
		await desk.logged("fired manual test");
		await bar.faults({ loseReplies: true });
		await pi.prompt("/busybar-alert-test error");
		await desk.logged("error manual test unreachable");
		await bar.faults({});
		await untilDark(bar);
		await pi.close();
	});

	test("a BUSY timer: counted as preempted, no notice, no retry", async () => {
		const desk = new Desk();
		desk.saveSettings({ alertOn: "agent_settled" });
		const bar = await desk.bar();
		await bar.busy(true);
		const pi = startRpcPi(desk.home, desk.pi(bar.addr));
		await pi.prompt("please");
		await desk.logged("error agent settled preempted");
		await pi.prompt("/busybar-alert-stats");
		const stats = await pi.waitFor(({ message }) => String(message).includes("preempted"));
		expect(stats.message).toContain("BUSY timer");
		expect(pi.events.filter(({ notifyType }) => notifyType === "warning")).toEqual([]);
		expect(requests(await bar.journal()).filter((request) => request === "POST /api/display/draw")).toHaveLength(1);
		await pi.close();
	});
});

describe("with the Go CLI on PATH", () => {
	test("the whole extension works without an expiry, although another program of the same name comes first", async () => {
		const desk = new Desk();
		desk.saveSettings({ holdSeconds: 1, alertOn: "agent_settled" });
		const bar = await desk.bar();
		const journal = join(desk.home.dir, "go-busybar.jsonl");
		const pi = startRpcPi(
			desk.home,
			desk.pi(bar.addr, { pathDirs: [FOREIGN_BUSYBAR, GO_BUSYBAR], env: { GO_BUSYBAR_JOURNAL: journal } }),
		);
		await pi.prompt("please");
		await desk.logged("fired agent settled");
		await untilLit(bar);
		const { canvas } = await bar.state();
		expect(canvas.elements.map(({ remainingMs }) => remainingMs)).toEqual([null]);
		await desk.logged("cleared agent settled");
		await untilDark(bar);
		await pi.close();

		const calls = readFileSync(journal, "utf8")
			.trim()
			.split("\n")
			.map((line) => JSON.parse(line).argv as string[]);
		expect(calls.map(([name]) => name)).toEqual(["show", "create", "inspect", "show", "clear"]);
		expect(calls[0]).toEqual(["show", "--help"]);
		expect(desk.story()).toEqual(["fired agent settled", "cleared agent settled"]);
	});

	test("quitting during an alert darkens the bar", async () => {
		const desk = new Desk();
		desk.saveSettings({ holdSeconds: 60, alertOn: "agent_settled", clearOnShutdown: false });
		const bar = await desk.bar();
		const pi = startRpcPi(desk.home, desk.pi(bar.addr, { pathDirs: [GO_BUSYBAR] }));
		await pi.prompt("please");
		await desk.logged("fired agent settled");
		await untilLit(bar);
		await pi.close();
		await untilDark(bar);
	});
});
