// The table `faults`: everything that the design says can go wrong, with a real pi and real processes.

import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BAR_FAULTS } from "./bar-faults.ts";
import { CLI_FAULTS } from "./cli-faults.ts";
import { makeAnimations } from "./deaths-row.ts";
import { COLUMNS, type Fault, rowOf, type Setting } from "./fault.ts";
import { FILE_FAULTS } from "./file-faults.ts";
import { HEADLESS_FAULTS } from "./headless-faults.ts";
import type { FaultRow, FaultTable } from "./report.ts";
import { Scene } from "./scene.ts";
import { sideBySide } from "./side-by-side.ts";
import { TIME_FAULTS } from "./time-faults.ts";

export const FAULTS: readonly Fault[] = [
	...CLI_FAULTS,
	...BAR_FAULTS,
	...FILE_FAULTS,
	...TIME_FAULTS,
	...HEADLESS_FAULTS,
];

/** Rows at once, of those that mostly wait and of the others. */
const AT_ONCE = { slow: 6, quick: 4 };

/** `FAULT`, a regular expression in the environment, chooses rows by their names. */
export async function everyFault(): Promise<FaultTable> {
	const faults = FAULTS.filter(({ name }) => new RegExp(process.env.FAULT ?? "").test(name));
	const rows = await rowsOf(faults);
	return { title: `${faults.length} faults`, columns: COLUMNS, rows };
}

/** In the order of the faults. */
async function rowsOf(faults: readonly Fault[]): Promise<readonly FaultRow[]> {
	const setting = await prepare();
	const rows = new Map<Fault, FaultRow>();
	const run = async (fault: Fault) => {
		const startedMs = performance.now();
		const row = await rowOf(fault, setting);
		rows.set(fault, row);
		const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
		console.error(`${row.failures.length > 0 ? "FAILED" : "ok    "} ${seconds.padStart(5)} s  ${fault.name}`);
	};
	try {
		const [slow, quick] = [true, false].map((isSlow) => faults.filter((fault) => (fault.isSlow ?? false) === isSlow));
		await Promise.all([sideBySide(slow ?? [], AT_ONCE.slow, run), sideBySide(quick ?? [], AT_ONCE.quick, run)]);
	} finally {
		await rm(setting.animations, { recursive: true });
	}
	return faults.flatMap((fault) => rows.get(fault) ?? []);
}

/** What all rows need, once; the folder in it is the caller's to remove. */
export async function prepare(): Promise<Setting> {
	const animations = mkdtempSync(join(tmpdir(), "faults-animations-"));
	await makeAnimations(animations);
	return { animations, emptyWaitMs: await emptyWaitMs() };
}

/** The median of what pi waits for its handlers when no extension stands between the two halves of the stopwatch. */
async function emptyWaitMs(): Promise<number> {
	const closers: (() => Promise<void>)[] = [];
	try {
		const scene = await Scene.open({ animations: undefined, atEnd: (close) => void closers.push(close) });
		await scene.prompt(await scene.start({}, []));
		await scene.quit();
		const waits = scene.events.map(({ waitedMs }) => waitedMs).sort((a, b) => a - b);
		return waits[Math.floor(waits.length / 2)] ?? 0;
	} finally {
		for (const close of closers.reverse()) await close();
	}
}
