// A small crowd on one bar, in which some are killed or stopped. `npm run faults -- crowd` has the large ones.

import { expect, test } from "vitest";
import { rowOf } from "../faults/crowd.ts";
import { planRun, startLightPi } from "../faults/crowd-lives.ts";
import { playCrowd, type Rhythm } from "../faults/crowd-play.ts";

const QUICK: Rhythm = {
	startsAfter: (dice, previous = 0) => previous + dice.between(0.5, 4),
	plan: (dice) => planRun(dice, 3),
};

test("of six pis on one bar no verdict is lost, cut short or cleared by another, and nothing is left lit", async () => {
	const end = await playCrowd({
		pis: 6,
		startLife: startLightPi,
		startsAtATime: 3,
		rhythm: QUICK,
		seed: 1,
		seconds: 7,
		harmEverySeconds: 2.5,
	});
	expect(rowOf("six pis", [end]).failures).toEqual([]);
	expect(end.verdicts.shown).toBeGreaterThan(3);
	expect(end.kills + end.stops).toBeGreaterThan(1);
});
