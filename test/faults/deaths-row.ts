// One death: a real pi with an alert at a certain stage, its end, and what the bar, the log and the system have to say
// about it afterwards. Touches one temporary folder, a bar in this process, and the processes it starts.

import { existsSync, readFileSync } from "node:fs";
import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { JournalEntry } from "../../busybar/simulate/journal.ts";
import { CommandLine } from "../../extensions/busybar-alert/busybar.ts";
import { execProcess } from "../../extensions/busybar-alert/cli/exec.ts";
import { WhichCli } from "../../extensions/busybar-alert/cli/which-cli.ts";
import { Assets } from "../../extensions/busybar-alert/cycle/assets.ts";
import { startTerminalPi } from "../support/pi.ts";
import { type AtEnd, PiDesk } from "../support/pi-desk.ts";
import { KEY } from "../support/terminal.ts";
import { waitUntil } from "../support/wait.ts";
import { isClear, isDraw, WatchedBar } from "./deaths-bar.ts";
import type { SessionEvent } from "./deaths-extension.ts";
import { CREATE_BEGAN, type Death, type DyingPi, plainCli, STAGES, slowCreate, startPi } from "./deaths-pi.ts";
import { darkLimitMs, emptyRow, rowOf, type Seen } from "./deaths-verdict.ts";
import { endProcess, type LeftProcess, processesOf } from "./processes-of-home.ts";
import type { FaultRow } from "./report.ts";

const APPLICATION = "pi-turn-alert";
const SLOW_MS = 1_500;
/** How long before the bar would refuse a draw that waits the BUSY timer ends: a pi that ends has given it up by then. */
const PARKED_UNTIL_MS = 150;
const LOOK_EVERY_MS = 200;
const END_DEADLINE_MS = 15_000;
/** Longer than what pi leaves to others may take: a wait of 2 s, and a clear at a slow bar. */
const CHILDREN_LIMIT_MS = 8_000;

/** Makes in this folder the animations that a pi in use has. */
export async function makeAnimations(folder: string): Promise<void> {
	const choice = await new WhichCli(execProcess, folder).choose("bundled");
	if (!choice.ok) throw new Error(choice.failure.message);
	const assets = new Assets(execProcess, folder);
	for (const pattern of ["spinner", "check", "question"]) {
		const made = await assets.ensure(pattern, "front", new CommandLine(choice.cli));
		if (!made.ok) throw new Error(made.failure.message);
	}
}

/**
 * Never rejects: what went wrong before there was anything to see is the row's failure.
 * @param animations the folder of `makeAnimations`
 */
export async function die(death: Death, animations: string): Promise<FaultRow> {
	const closers: (() => Promise<void>)[] = [];
	try {
		return rowOf(await see(death, animations, (close) => void closers.push(close)));
	} catch (error) {
		return emptyRow(death, { failures: [String(error)] });
	} finally {
		for (const close of closers.reverse()) await close();
	}
}

async function see(death: Death, animations: string, atEnd: AtEnd): Promise<Seen> {
	const bar = await WatchedBar.start();
	atEnd(() => bar.close());
	const desk = new PiDesk(atEnd);
	await prepare(death, desk, bar, animations);
	const eventsFile = join(desk.home.dir, "events");
	const pi = await startPi(death, desk, bar.addr, eventsFile);
	const endMs = await toEnd(death, pi, desk, bar, () => readEvents(eventsFile));
	const { exit, diedMs } = await ended(death, pi, () => readEvents(eventsFile));

	if (death.nextPi === "after the hold") await delay(death.holdSeconds * 1_000);
	const next = death.nextPi && (await startTerminalPi(desk.home, desk.pi(bar.addr)));
	const facts = { death, endMs, diedMs, exit, nextMs: next && Date.now() };
	const children = async () => (await processesOf(desk.home.dir)).filter(({ pid }) => pid !== next?.pid);
	let left = death.isReplaced ? [] : await stillThere(children, diedMs + CHILDREN_LIMIT_MS);
	const hasCleared = () => desk.log().some(({ outcome }) => outcome === "cleared");
	const isDark = () => !bar.isLit && bar.parkedForMs === undefined && (!death.isReplaced || hasCleared());
	const isLate = () => Date.now() > darkLimitMs({ ...facts, journal: bar.journal, lit: bar.lit }) + 1_000;
	while (!isDark() && !isLate()) await delay(LOOK_EVERY_MS);

	if (death.isReplaced) await quit(death, pi);
	if (next) {
		next.write(KEY.ctrlD);
		await next.exit;
	}
	if (death.isReplaced || next) left = await stillThere(children, Date.now() + CHILDREN_LIMIT_MS);
	for (const { pid } of left) endProcess(pid);
	const leftBehind = left.map(({ command }) => command);
	return { ...facts, journal: bar.journal, lit: bar.lit, log: desk.log(), leftBehind };
}

/** A user's machine and bar, as they are before the alert that pi dies with. */
async function prepare({ stage, holdSeconds, hasPlainCli }: Death, desk: PiDesk, bar: WatchedBar, animations: string) {
	desk.saveSettings({
		holdSeconds,
		questionHoldSeconds: holdSeconds,
		headless: true,
		...(stage === "asset" && { command: slowCreate(desk.home.dir) }),
		...(hasPlainCli && { command: plainCli(desk.home.dir) }),
	});
	if (stage !== "asset") {
		const cache = join(desk.home.cacheDir, "pi-busybar-alert");
		await mkdir(cache, { mode: 0o700 });
		await cp(animations, cache, { recursive: true, filter: (path) => path === animations || path.endsWith(".anim") });
	}
	bar.upload(animations, APPLICATION);
	if (stage === "draw") bar.slowDown(SLOW_MS);
	if (stage === "sent") bar.slowDown(SLOW_MS, isDraw);
	if (stage === "parked") bar.setBusy(true);
}

/** Waits for the alert's stage and ends pi; resolves to when that was. */
async function toEnd(
	{ stage, end }: Death,
	pi: DyingPi,
	desk: PiDesk,
	bar: WatchedBar,
	events: () => readonly SessionEvent[],
): Promise<number> {
	if (!end) {
		const isEnding = ({ type }: SessionEvent) => type === "session_shutdown";
		return waitUntil("The end of pi -p", 25_000, () => events().find(isEnding)?.atMs);
	}
	const hasOpen = (isWanted: (entry: JournalEntry) => boolean) =>
		bar.journal.some((entry) => entry.status === undefined && isWanted(entry));
	const hasFired = () => desk.log().some(({ outcome }) => outcome === "fired");
	const isReached = {
		asset: () => existsSync(join(desk.home.dir, CREATE_BEGAN)),
		draw: () => hasOpen(({ method }) => method === "GET"),
		sent: () => hasOpen(isDraw),
		parked: () => bar.parkedForMs !== undefined,
		hold: hasFired,
		question: hasFired,
		clear: hasFired,
	}[stage];
	await waitUntil(`The stage "${STAGES[stage]}"`, 25_000, isReached, () => desk.story().join("\n"));
	if (stage === "clear") {
		bar.slowDown(SLOW_MS);
		await waitUntil("A clear at the bar", 10_000, () => hasOpen(isClear));
	}
	if (bar.parkedForMs !== undefined) setTimeout(() => bar.setBusy(false), bar.parkedForMs - PARKED_UNTIL_MS);
	const endMs = Date.now();
	await end(pi);
	return endMs;
}

/** When pi was gone, or had its next session. */
async function ended(
	{ isReplaced }: Death,
	pi: DyingPi,
	events: () => readonly SessionEvent[],
): Promise<Pick<Seen, "exit" | "diedMs">> {
	if (isReplaced) {
		const isNext = ({ type, reason }: SessionEvent) => type === "session_start" && reason !== "startup";
		const diedMs = await waitUntil("The next session", END_DEADLINE_MS, () => events().find(isNext)?.atMs);
		return { exit: undefined, diedMs };
	}
	const gone = pi.exit.then((exit) => ({ exit, diedMs: Date.now() }));
	const seen = await Promise.race([gone, delay(END_DEADLINE_MS, undefined, { ref: false })]);
	if (!seen) throw new Error(`pi did not end within ${END_DEADLINE_MS} ms.`);
	return seen;
}

async function quit({ mode }: Death, pi: DyingPi): Promise<void> {
	if (mode === "rpc") await pi.rpc.close();
	else pi.kill("SIGTERM");
	await pi.exit;
}

/** The processes that have not ended by then. */
async function stillThere(processes: () => Promise<LeftProcess[]>, untilMs: number): Promise<LeftProcess[]> {
	for (;;) {
		const running = await processes();
		if (running.length === 0 || Date.now() > untilMs) return running;
		await delay(LOOK_EVERY_MS);
	}
}

function readEvents(file: string): readonly SessionEvent[] {
	const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
	// The last one is empty, or still being written.
	return lines.slice(0, -1).map((line) => JSON.parse(line) as SessionEvent);
}
