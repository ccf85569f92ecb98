// One row of the table: what is broken, what pi does then, what must and what must not come of it; and the verdict.

import { spawnSync } from "node:child_process";
import type { BarOptions } from "../../busybar/simulate/bar.ts";
import type { Settings } from "../../extensions/busybar-alert/settings.ts";
import type { PiOptions } from "../support/pi.ts";
import type { FaultRow } from "./report.ts";
import { Scene, storyOf } from "./scene.ts";

export interface Fault {
	readonly name: string;
	readonly settings?: Partial<Settings>;
	readonly bar?: Partial<BarOptions>;
	/** What the machine must have beside Node. */
	readonly needs?: "unshare";
	/** The log's file cannot be written: the rows are those that pi shows its user, as far as they come before its end. */
	readonly readsLogInPi?: true;
	/** No animation was made yet. */
	readonly isNewMachine?: true;
	/** Breaks something before pi starts. */
	readonly arrange?: (scene: Scene) => PiOptions | Promise<PiOptions> | Promise<void> | void;
	/** By default pi gets one prompt, and quits when the log is as expected and the bar is dark. */
	readonly play?: (scene: Scene, options: PiOptions) => Promise<void>;
	readonly expect: Expected;
	/** It waits for half a minute or longer. */
	readonly isSlow?: true;
}

export interface Expected {
	/** All rows, such as `fired agent settled`. */
	readonly log: readonly string[];
	/** What is as true, on a machine that is too busy for the rest; of each what differs. */
	readonly or?: readonly Omit<Partial<Expected>, "or">[];
	/** Those that pi adds when it ends. */
	readonly logAtEnd?: readonly string[];
	/** Several pis write at once. */
	readonly inAnyOrder?: true;
	/** One pattern for each notice. */
	readonly notices?: readonly RegExp[];
	/** What neither a notice nor a row may say. */
	readonly neverSaid?: RegExp;
	/** How many alerts the bar must have shown; by default as many as the log says. */
	readonly shown?: number;
	/** How many pis the row kills. */
	readonly killed?: number;
	/** With a CLI that cannot let an alert expire, it stays lit until the clear that is owed. */
	readonly beyondLimitSeconds?: number;
}

/** What was seen of a row. */
export interface Seen {
	readonly story: readonly string[];
	/** The errors that the rows tell. */
	readonly errors: readonly string[];
	readonly notices: readonly string[];
	readonly longestWaitMs: number;
	/** The event that it was for. */
	readonly longestWait: string;
	readonly exits: readonly string[];
	readonly endMs: number;
	readonly stderr: string;
	readonly beyondHoldSeconds: number;
	readonly shown: number;
	readonly hasShownNothing: boolean;
	readonly left: readonly string[];
}

export const COLUMNS = [
	"fault",
	"longest wait, ms",
	"exit",
	"end took, ms",
	"lit beyond hold, s",
	"alerts lost",
	"notices",
] as const;

/** A notice comes after its row in the log. */
const TOLD_LIMIT_MS = 5_000;
const WAIT_LIMIT_MS = 50;
const END_LIMIT_MS = 2_000;
/** The bar's own timer ends an alert 5 s after its hold; a look at it may come a little late. */
const BEYOND_LIMIT_SECONDS = 5.3;

export interface Setting {
	/** A folder of animations that were made before. */
	readonly animations: string;
	/** What pi waits for handlers that do nothing. */
	readonly emptyWaitMs: number;
}

/** Never rejects: what breaks the row itself is its failure. */
export async function rowOf(fault: Fault, { animations, emptyWaitMs }: Setting): Promise<FaultRow> {
	if (fault.needs && spawnSync(fault.needs, ["-m", "true"]).status !== 0) {
		return { cells: [fault.name, ...emptyCells()], failures: [], notRun: `needs ${fault.needs}` };
	}
	const closers: (() => Promise<void>)[] = [];
	const trouble: string[] = [];
	try {
		const scene = await Scene.open({
			...(fault.settings && { settings: fault.settings }),
			...(fault.bar && { bar: fault.bar }),
			animations: fault.isNewMachine ? undefined : animations,
			atEnd: (close) => void closers.push(close),
		});
		const options = (await fault.arrange?.(scene)) ?? {};
		const play = fault.play ?? ((scene, options) => oneAlert(scene, options, fault));
		// What came of it until then is still worth telling.
		await play(scene, options).catch((error: unknown) => trouble.push(firstLines(error)));
		// The verdict tells of those that are missing.
		await scene.told(fault.expect.notices?.length ?? 0, TOLD_LIMIT_MS).catch(() => undefined);
		const rowsInPi = fault.readsLogInPi && (await scene.logInPi());
		await scene.quit();
		const seen = await seenOf(scene, emptyWaitMs, rowsInPi || undefined);
		return { cells: cellsOf(fault, seen), failures: [...trouble, ...failuresOf(fault.expect, seen)] };
	} catch (error) {
		return { cells: [fault.name, ...emptyCells()], failures: [...trouble, firstLines(error)] };
	} finally {
		for (const close of closers.reverse()) await close();
	}
}

async function oneAlert(scene: Scene, options: PiOptions, { expect, readsLogInPi }: Fault): Promise<void> {
	const pi = await scene.start(options);
	await scene.prompt(pi);
	if (readsLogInPi) await scene.untilLit();
	else await scene.logged(expect.log.length);
	await scene.untilDark();
}

async function seenOf(scene: Scene, emptyWaitMs: number, storyInPi: readonly string[] | undefined): Promise<Seen> {
	const left = await scene.aftermath();
	const rows = await scene.rows();
	const { ends, events, notices, watch } = scene;
	const longest = events.toSorted((one, other) => other.waitedMs - one.waitedMs)[0];
	return {
		story: storyInPi ?? storyOf(rows),
		errors: rows.flatMap((row) => (row.outcome === "error" ? [row.error] : [])),
		notices,
		longestWaitMs: Math.max(0, (longest?.waitedMs ?? 0) - emptyWaitMs),
		longestWait: longest?.type ?? "nothing",
		exits: ends.map(({ exit }) => exit),
		endMs: Math.max(0, ...ends.map(({ tookMs = 0 }) => tookMs)),
		stderr: ends.map(({ stderr }) => stderr).join(""),
		beyondHoldSeconds: scene.beyondHoldSeconds(),
		shown: watch.drawn.length,
		hasShownNothing: watch.hasShownNothing,
		left,
	};
}

function lostOf({ log, shown = fired(log) }: Expected, seen: Seen): number {
	return Math.max(0, shown - seen.shown);
}

function cellsOf({ name, expect }: Fault, seen: Seen): (string | number)[] {
	return [
		name,
		`${seen.longestWaitMs.toFixed(1)} ${seen.longestWait}`,
		[...new Set(seen.exits)].join(", "),
		Math.round(seen.endMs),
		Number.isFinite(seen.beyondHoldSeconds) ? seen.beyondHoldSeconds.toFixed(1) : "still lit",
		lostOf(expect, seen),
		seen.notices.length,
	];
}

/** A sentence for each promise that was not kept. Pure. */
export function failuresOf(expect: Expected, seen: Seen): string[] {
	const { or = [], ...first } = expect;
	const isKept = or.some((other) => brokenOf({ ...first, ...other }, seen).length === 0);
	return isKept ? [] : brokenOf(first, seen);
}

function brokenOf(expect: Omit<Expected, "or">, seen: Seen): string[] {
	const failures: string[] = [];
	const say = (isBroken: boolean, sentence: string) => {
		if (isBroken) failures.push(sentence);
	};
	const {
		log,
		logAtEnd = [],
		inAnyOrder,
		notices = [],
		neverSaid,
		killed = 0,
		beyondLimitSeconds = BEYOND_LIMIT_SECONDS,
	} = expect;
	say(
		seen.longestWaitMs > WAIT_LIMIT_MS,
		`pi waited ${Math.round(seen.longestWaitMs)} ms for the handler of ${seen.longestWait}`,
	);
	const exits = seen.exits.filter((exit) => exit !== "0");
	say(exits.length !== killed || exits.some((exit) => exit !== "SIGKILL"), `pi ended with ${seen.exits.join(", ")}`);
	say(seen.stderr !== "", `pi wrote to stderr: ${seen.stderr.slice(0, 300)}`);
	say(seen.endMs > END_LIMIT_MS, `pi needed ${Math.round(seen.endMs)} ms to end`);
	say(seen.left.length > 0, `left behind: ${seen.left.join("; ")}`);
	say(seen.beyondHoldSeconds > beyondLimitSeconds, `lit ${seen.beyondHoldSeconds.toFixed(1)} s beyond its hold`);
	say(seen.hasShownNothing, "the bar took a picture that it cannot show");
	const lost = lostOf(expect, seen);
	say(lost > 0, `${lost} alerts were not shown`);
	const inOrder = (rows: readonly string[]) => (inAnyOrder ? rows.toSorted() : rows).join("; ");
	const [wanted, story] = [inOrder([...log, ...logAtEnd]), inOrder(seen.story)];
	say(wanted !== story, `the log says: ${story || "nothing"}; expected: ${wanted}`);
	const told = seen.notices.map((notice) => `"${notice}"`).join(" ");
	say(seen.notices.length !== notices.length, `${seen.notices.length} notices, expected ${notices.length}: ${told}`);
	for (const [at, pattern] of notices.entries()) {
		const notice = seen.notices[at];
		say(notice !== undefined && !pattern.test(notice), `a notice says: ${notice}`);
	}
	for (const text of [...seen.notices, ...seen.errors]) say(neverSaid?.test(text) ?? false, `it says: ${text}`);
	return failures;
}

function fired(log: readonly string[]): number {
	return log.filter((row) => row.startsWith("fired ")).length;
}

function emptyCells(): string[] {
	return COLUMNS.slice(1).map(() => "");
}

function firstLines(error: unknown): string {
	return String(error instanceof Error ? error.message : error)
		.split("\n")
		.slice(0, 6)
		.join("; ");
}
