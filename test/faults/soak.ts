// The table `soak`: what a day of work leaves behind.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { ChildProcesses } from "../../extensions/busybar-alert/cli/exec.ts";
import { systemClock } from "../../extensions/busybar-alert/clock.ts";
import { FileBarStore } from "../../extensions/busybar-alert/cycle/bar-store.ts";
import { AlertLog } from "../../extensions/busybar-alert/log.ts";
import { AlertPolicy } from "../../extensions/busybar-alert/policy.ts";
import { resolveSettings } from "../../extensions/busybar-alert/settings-file.ts";
import { AlertDesk, type Behaviour, DeskBar, refusal } from "../support/alert-desk.ts";
import { Dice } from "./crowd-random.ts";
import type { FaultRow, FaultTable } from "./report.ts";

const DAY_MS = 24 * 3_600_000;
const LOG_LIMIT_BYTES = 2 * 1024 * 1024;
const HEAP_GROWTH_LIMIT_BYTES = 1024 * 1024;
/** The heap is measured at these shares of all events; the first is after everything has been used once. */
const MEASURED_AT = [0.1, 0.4, 0.7, 1];
const SETTLED_AFTER_MS = 3_600_000;
const SHORTLY_MS = 10_000;

export interface Soaked {
	readonly heapBytes: readonly number[];
	readonly rows: number;
	readonly logBytes: number;
	readonly logFiles: readonly string[];
	readonly timers: number;
	readonly running: number;
	readonly isLit: boolean;
}

/** Two pis on one bar through a day in which the bar comes and goes, with the real policy, cycle and log. */
export async function soak(folder: string, turns: number): Promise<Soaked> {
	const bar = new DeskBar();
	const log = new AlertLog(folder);
	let rows = 0;
	const pis = [1, 2].map(() => {
		const desk = new AlertDesk({}, bar);
		const settings = resolveSettings({}, {});
		const policy = new AlertPolicy({
			settings: { load: async () => settings },
			log: { append: (row) => void desk.rows.push(row) },
			clock: bar.clock,
			parts: () => desk,
			session: "session",
			nested: false,
			headless: false,
			isFocused: () => false,
			isMutedHere: () => false,
			prepare: () => undefined,
			onSettings: () => undefined,
		});
		return { desk, policy };
	});
	/** What our own fakes remember is none of the product's. */
	const forget = async () => {
		for (const { desk } of pis) {
			rows += desk.rows.length;
			for (const row of desk.rows) log.append(row);
			for (const list of [desk.rows, desk.notices, desk.told, desk.commands, desk.discarded]) list.length = 0;
		}
		bar.drawings.length = 0;
		await log.flush();
	};

	const dice = new Dice(1, "soak");
	const heapBytes: number[] = [];
	for (let turn = 0; turn < turns; turn += 1) {
		const usual = behaviourAt(bar.clock.now());
		for (const { desk } of pis) desk.usual = usual;
		const { policy } = pis[turn % 2] as (typeof pis)[number];
		if (dice.chance(30)) policy.runStarted();
		if (dice.chance(10)) policy.questionAsked("select");
		if (dice.chance(50)) policy.questionAnswered();
		const outcome = dice.chance(10) ? "error" : dice.chance(5) ? "aborted" : "completed";
		policy.turnEnded({ index: turn % 10, outcome, calledTools: dice.chance(70) }, outcome === "aborted");
		if (dice.chance(20)) policy.settled(outcome === "aborted");
		if (dice.chance(10)) policy.userIsBack();
		await policy.idle();
		await bar.clock.advanceAsync(dice.between(0, (2 * DAY_MS) / turns));
		if (turn % 100 === 0) await forget();
		if (MEASURED_AT.some((share) => turn + 1 === Math.round(share * turns))) {
			await forget();
			heapBytes.push(heapAfterCollection());
		}
	}
	for (const { desk, policy } of pis) {
		desk.usual = {};
		policy.questionAnswered();
		policy.settled(true);
		policy.userIsBack();
		await policy.idle();
	}
	await bar.clock.advanceAsync(SETTLED_AFTER_MS);
	// A verdict that is owed, and then not any more.
	for (const { desk, policy } of pis) {
		desk.usual = refusal("preempted");
		policy.turnEnded({ index: 0, outcome: "completed", calledTools: false }, false);
		await policy.idle();
		await bar.clock.advanceAsync(SHORTLY_MS);
		policy.userIsBack();
	}
	await bar.clock.advanceAsync(SHORTLY_MS);
	await forget();
	const logFiles = readdirSync(folder);
	return {
		heapBytes,
		rows,
		logBytes: logFiles.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0),
		logFiles,
		timers: bar.clock.pendingTimers,
		running: pis.filter(({ desk }) => desk.cycle.busy).length,
		isLit: bar.shown !== undefined,
	};
}

/** Half an hour each: there, gone, there but slow, with a BUSY timer on it. */
function behaviourAt(nowMs: number): Behaviour {
	const behaviours: readonly Behaviour[] = [
		{},
		refusal("unreachable"),
		{ tookMs: 7_000, killed: true, reachesBar: true },
		{ ...refusal("preempted"), tookMs: 1_500 },
	];
	return behaviours[Math.floor(nowMs / 1_800_000) % behaviours.length] ?? {};
}

function heapAfterCollection(): number {
	setFlagsFromString("--expose-gc");
	(runInNewContext("gc") as () => void)();
	return process.memoryUsage().heapUsed;
}

export async function soakTable(): Promise<FaultTable> {
	const rows = [
		await inFolder((folder) => policyRow(folder, 100_000)),
		await inFolder((folder) => recordRow(folder, 800)),
		await childrenRow(300),
	];
	return {
		title: "Soak: what is left behind",
		columns: ["what", "took", "heap at 10, 40, 70, 100 %", "log", "left: timers, children, descriptors, files"],
		rows,
	};
}

async function policyRow(folder: string, turns: number): Promise<FaultRow> {
	const before = descriptors();
	const startedMs = performance.now();
	const { heapBytes, rows, logBytes, logFiles, timers, running, isLit } = await soak(folder, turns);
	const took = performance.now() - startedMs;
	const growth = Math.max(...heapBytes) - (heapBytes[0] ?? 0);
	const left = descriptors() - before;
	return {
		cells: [
			`${turns} turns of two pis, 24 hours, a bar that comes and goes`,
			seconds(took),
			heapBytes.map(mebibytes).join(", "),
			`${rows} rows, ${mebibytes(logBytes)}`,
			`${timers}, ${running}, ${left}, ${logFiles.length - 2}`,
		],
		failures: [
			...(growth > HEAP_GROWTH_LIMIT_BYTES ? [`The heap grew by ${mebibytes(growth)}.`] : []),
			...(logBytes > LOG_LIMIT_BYTES ? [`The log has ${mebibytes(logBytes)}.`] : []),
			...(timers + running + left > 0 ? ["Something was left running or open."] : []),
			...(logFiles.length > 2 ? [`Files were left: ${logFiles.join(", ")}.`] : []),
			...(isLit ? ["The bar was lit at the end."] : []),
		],
	};
}

/** The record of a bar, changed by ten stores at a time as by ten pis. */
async function recordRow(folder: string, changes: number): Promise<FaultRow> {
	const before = descriptors();
	const startedMs = performance.now();
	const bar = { addr: "127.0.0.1:1", applicationName: "pi-turn-alert" };
	const stores = Array.from({ length: 10 }, () => new FileBarStore(folder, systemClock));
	let count = 0;
	const change = async (store: FileBarStore) => {
		while (count < changes) {
			count += 1;
			await store.change(bar, async (record) => ({ record: { ...record }, value: undefined }));
		}
	};
	await Promise.all(stores.map(change));
	const took = performance.now() - startedMs;
	const files = readdirSync(join(folder, "bars"));
	const left = descriptors() - before;
	return {
		cells: [
			`${changes} changes of a bar's record by 10 pis`,
			seconds(took),
			"",
			"",
			`0, 0, ${left}, ${files.length - 1}`,
		],
		failures: [
			...(left > 0 ? ["Descriptors were left open."] : []),
			...(files.length > 1 ? [`Files were left: ${files.join(", ")}.`] : []),
		],
	};
}

/** A third of them hang until their deadline. */
async function childrenRow(count: number): Promise<FaultRow> {
	const { exec } = new ChildProcesses();
	// Node itself opens something for the first child.
	await exec("/bin/sh", ["-c", "true"], { deadlineMs: 5_000 });
	const before = descriptors();
	const startedMs = performance.now();
	/** To tell them from those of others. */
	const hang = `sleep 60.${process.pid}`;
	for (let index = 0; index < count; index += 6) {
		const commands = Array.from({ length: 6 }, (_, at) => (at % 3 === 0 ? hang : "echo done"));
		await Promise.all(commands.map((command) => exec("/bin/sh", ["-c", command], { deadlineMs: 20 })));
	}
	const took = performance.now() - startedMs;
	// Node lets go of the last ones a moment after their end.
	await delay(500);
	const running = execFileSync("ps", ["ax", "-o", "command="], { encoding: "utf8" }).split("\n");
	const children = running.filter((command) => command.includes(hang)).length;
	const handles = process.getActiveResourcesInfo().filter((name) => name === "ProcessWrap").length;
	const left = descriptors() - before;
	return {
		cells: [
			`${count} child processes, a third of them hanging`,
			seconds(took),
			"",
			"",
			`0, ${children + handles}, ${left}, 0`,
		],
		failures: children + handles + left > 0 ? ["Children or descriptors were left."] : [],
	};
}

async function inFolder(run: (folder: string) => Promise<FaultRow>): Promise<FaultRow> {
	const folder = mkdtempSync(join(tmpdir(), "busybar-alert-soak-"));
	try {
		return await run(folder);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

/** Open files, pipes and sockets of this process. */
function descriptors(): number {
	return readdirSync("/dev/fd").length;
}

function mebibytes(bytes: number): string {
	return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

function seconds(ms: number): string {
	return `${(ms / 1_000).toFixed(1)} s`;
}
