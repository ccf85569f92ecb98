// The table `crowd`: many pis on one bar, and what becomes of their verdicts.

import { planRun, startLightPi, startRealPi } from "./crowd-lives.ts";
import { type CrowdEnd, playCrowd, type Rhythm } from "./crowd-play.ts";
import type { FaultRow, FaultTable } from "./report.ts";

const DEFAULT_SEED = 1;

/** Runs of all kinds. Some users go away after one, so that what the BUSY timer was in the way of is shown afterwards. */
const RESTLESS: Rhythm = {
	startsAfter: (dice, previous = 0) => previous + (dice.chance(20) ? 70 : dice.between(2, 15)),
	plan: (dice) => planRun(dice),
};

const TWO_TURNS = { turns: [{ thinksMs: 1_500 }], ending: "done", lastThinksMs: 1_500 } as const;

const EACH_30_SECONDS: Rhythm = {
	startsAfter: (dice, previous) => (previous === undefined ? dice.between(0, 30) : previous + 30),
	plan: () => TWO_TURNS,
};

const ONCE_AT_ONCE: Rhythm = {
	startsAfter: (_dice, previous) => (previous === undefined ? 0 : Number.POSITIVE_INFINITY),
	plan: () => ({ turns: [], ending: "done", lastThinksMs: 0 }),
	isHasty: true,
};

const FEW_STARTS = 4;

export async function crowdTable(seed = DEFAULT_SEED): Promise<FaultTable> {
	const harmed = { rhythm: RESTLESS, seconds: 60, busySeconds: [5, 15], harmEverySeconds: 2.5 } as const;
	const light = { startLife: startLightPi, startsAtATime: FEW_STARTS, seed };
	const real = { startLife: startRealPi, startsAtATime: FEW_STARTS, seed };
	const coldStarts = async () => {
		const ends: CrowdEnd[] = [];
		for (let round = 0; round < 5; round += 1) {
			ends.push(await playCrowd({ ...light, pis: 12, startsAtATime: 12, rhythm: ONCE_AT_ONCE, seconds: 0 }));
		}
		return ends;
	};
	const pairs = [1, 2, 3, 4].map((pair) => ({
		...light,
		seed: seed + pair,
		pis: 2,
		rhythm: EACH_30_SECONDS,
		seconds: 80,
	}));

	const fifty = await playCrowd({ ...light, ...harmed, pis: 50 });
	// None of these has much to do.
	const others = [
		playCrowd({ ...real, ...harmed, pis: 20 }),
		playCrowd({ ...real, pis: 12, rhythm: EACH_30_SECONDS, seconds: 80 }),
		...pairs.map(playCrowd),
	] as const;
	const cold = coldStarts();
	// If one of them cannot be played, the others still end what they have started.
	await Promise.allSettled([...others, cold]);
	const [twenty, twelve, ...twos] = await Promise.all(others);
	const rows: FaultRow[] = [
		rowOf("50 light pis, a minute", [fifty]),
		rowOf("20 real pis, a minute", [twenty]),
		rowOf("12 real pis, a prompt each 30 s\n(before: 79 % < 2.5 s, 48 % < 1 s)", [twelve]),
		rowOf("2 pis, a prompt each 30 s, on 4 bars\n(before: 40 % < 2.5 s)", twos),
		rowOf("60 cold starts, 12 at a time, empty bar and caches\n(before: 18 with 508, 2 wrong pictures)", await cold),
	];
	return {
		title: `Crowd: verdicts on one bar (seed ${seed})`,
		columns: [
			"crowd",
			"killed, stopped",
			"asked",
			"shown, late",
			"lost",
			"< 2.5 s, < 1 s",
			"cleared by another",
			"508",
			"wrong picture",
			"left lit at most",
			"waited at most",
			"lit at the end",
			"load",
		],
		rows,
	};
}

/** One row for one crowd, or for several that went through the same. */
function rowOf(name: string, ends: readonly CrowdEnd[]): FaultRow {
	const all = ends.map(({ verdicts }) => verdicts);
	const sum = (of: (end: CrowdEnd) => number) => ends.reduce((total, end) => total + of(end), 0);
	const most = (of: (end: CrowdEnd) => number) => Math.max(...ends.map(of));
	const lit = all.flatMap((verdicts) => verdicts.lit);
	const shorterThan = (ms: number) => lit.filter((one) => one.ms < ms && one.cutBy !== undefined);
	const share = (ms: number) => `${Math.round((100 * shorterThan(ms).length) / Math.max(1, lit.length))} %`;
	const lost = all.flatMap((verdicts) => [...verdicts.lost, ...verdicts.owed]);
	const wrongClears = all.flatMap((verdicts) => verdicts.wrongClears);
	const refused = sum(({ verdicts }) => verdicts.refusedUploads);
	const wrongPictures = sum((end) => end.wrongPictures);
	const litAtEnd = sum(({ isLit }) => Number(isLit));
	const failures = [
		...lost.map((what) => `Lost: ${what}.`),
		...shorterThan(2_500).map(({ what, ms, cutBy }) => `${what} was lit for ${ms} ms only, until the ${cutBy}.`),
		...wrongClears.map((what) => `${what}.`),
		...all.flatMap(({ untrue }) => untrue).map((what) => `${what} is logged as shown, and was not.`),
		...all.flatMap(({ left }) => left).map((what) => `Left lit: ${what}.`),
		...(refused > 0 ? [`${refused} uploads met HTTP 508.`] : []),
		...(wrongPictures > 0 ? [`A picture that the bar cannot load was seen ${wrongPictures} times.`] : []),
		...(litAtEnd > 0 ? ["The bar was lit at the end."] : []),
		...ends.flatMap(({ complaints }) => complaints),
	];
	const cells = [
		name,
		`${sum(({ kills }) => kills)}, ${sum(({ stops }) => stops)}`,
		sum(({ verdicts }) => verdicts.asked),
		`${lit.length}, ${sum(({ verdicts }) => verdicts.late)}`,
		lost.length,
		`${share(2_500)}, ${share(1_000)}`,
		wrongClears.length,
		refused,
		wrongPictures,
		seconds(most(({ verdicts }) => verdicts.longestLeftMs)),
		seconds(most(({ verdicts }) => verdicts.longestWaitMs)),
		litAtEnd === 0 ? "no" : "yes",
		`${most(({ loadPercent }) => loadPercent)} %`,
	];
	return { cells, failures };
}

function seconds(ms: number): string {
	return `${(ms / 1_000).toFixed(1)} s`;
}
