// Time that jumps, and processes that stand still in the middle of something.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { RpcPi } from "../support/pi.ts";
import { ASKING, ask, say } from "../support/steps.ts";
import { waitUntil } from "../support/wait.ts";
import { fakeCli } from "./fake-cli.ts";
import type { Fault } from "./fault.ts";
import type { Scene } from "./scene.ts";
import { answersLate, CLEAR, DRAW, neverAnswers } from "./wire.ts";

const UNRULY = fileURLToPath(new URL("./unruly-extension.ts", import.meta.url));
const SHOWN = ["fired agent settled", "cleared agent settled"];
const DRAWN = "POST /api/display/draw";
const CLEARED = "DELETE /api/display/draw";
const DAY_MS = 86_400_000;

/** What pi does in each stage of one alert, and what was seen when it is in it. */
const STAGES = {
	draw: { on: DRAW, request: DRAWN },
	clear: { on: CLEAR, request: CLEARED },
} as const;

/** One alert at a bar that answers late, so that something can happen while pi waits for it. */
function whileWaiting(
	name: string,
	stage: keyof typeof STAGES,
	happens: (scene: Scene, pi: RpcPi) => Promise<void>,
	more: Partial<Fault> = {},
): Fault {
	const { on, request } = STAGES[stage];
	return {
		name,
		arrange: (scene) => scene.wire.set(answersLate(1_000), { on }),
		play: async (scene) => {
			const pi = await scene.start({ extensions: [UNRULY] });
			await scene.prompt(pi);
			await scene.requested(request);
			await happens(scene, pi);
			await scene.logged(2);
		},
		expect: { log: SHOWN, neverSaid: /No BUSY Bar/ },
		...more,
	};
}

function inTheHold(
	name: string,
	happens: (scene: Scene, pi: RpcPi) => Promise<void>,
	more: Partial<Fault> = {},
): Fault {
	return {
		name,
		settings: { holdSeconds: 2 },
		play: async (scene) => {
			const pi = await scene.start({ extensions: [UNRULY] });
			await scene.prompt(pi);
			await scene.logged(1);
			await happens(scene, pi);
			await scene.logged(2);
			// What comes next is as ever.
			await scene.prompt(pi);
			await scene.logged(4);
		},
		expect: { log: [...SHOWN, ...SHOWN] },
		...more,
	};
}

const stopped = (ms: number) => (scene: Scene, pi: RpcPi) => scene.stopFor(pi, ms);
const clockSet = (ms: number) => (_scene: Scene, pi: RpcPi) => pi.prompt(`/clock ${ms}`);

export const TIME_FAULTS: readonly Fault[] = [
	{
		name: "pi is stopped for 5 s while the animation is made",
		isNewMachine: true,
		play: async (scene) => {
			const folder = join(scene.desk.home.dir, "path");
			const flag = join(scene.desk.home.dir, "creates");
			fakeCli(folder, { create: `touch ${flag}; sleep 1` });
			const pi = await scene.start({ pathDirs: [folder] });
			await scene.prompt(pi);
			await waitUntil("The making", 20_000, () => existsSync(flag));
			await scene.stopFor(pi, 5_000);
			await scene.logged(2);
		},
		expect: { log: SHOWN },
	},
	whileWaiting("pi is stopped for 12 s in the draw", "draw", stopped(12_000)),
	whileWaiting("pi is stopped for 8 s in the clear", "clear", stopped(8_000)),
	whileWaiting("pi's event loop is blocked for 10 s in the draw", "draw", (_scene, pi) => pi.prompt("/block 10000")),
	whileWaiting("pi's event loop is blocked for 7 s in the clear", "clear", (_scene, pi) => pi.prompt("/block 7000")),
	whileWaiting("pi is stopped for a minute in the draw", "draw", stopped(60_000), { isSlow: true }),
	inTheHold("pi is stopped for 10 s in the hold", stopped(10_000)),
	inTheHold("pi is stopped for a minute in the hold", stopped(60_000), { isSlow: true }),
	{
		name: "pi is stopped in its hold, and goes on in that of another pi",
		settings: { holdSeconds: 4 },
		play: async (scene) => {
			const [first, second] = await Promise.all([scene.start(), scene.start()]);
			await scene.prompt(first);
			await scene.logged(1);
			first.kill("SIGSTOP");
			await delay(5_000);
			await scene.prompt(second);
			await scene.logged(2);
			first.kill("SIGCONT");
			await scene.logged(4);
			const last = scene.watch.drawn.at(-1);
			const litMs = last ? last.untilMs - last.atMs : 0;
			if (litMs < 3_000) throw new Error(`the other pi's alert was lit for ${litMs} ms`);
		},
		expect: { log: ["fired agent settled", "fired agent settled", "cleared agent settled", "cleared agent settled"] },
	},
	{
		name: "pi is stopped for 12 s in a draw at a black hole",
		arrange: (scene) => scene.wire.set(neverAnswers, { on: DRAW, times: 1 }),
		play: async (scene) => {
			const pi = await scene.start();
			await scene.prompt(pi);
			// The bar itself gets no draw.
			await scene.requested("GET /api/storage/list");
			await delay(500);
			await scene.stopFor(pi, 12_000);
			await scene.logged(2);
		},
		expect: {
			log: ["error agent settled unreachable", "cleared agent settled"],
			logAtEnd: ["skipped agent settled withdrawn"],
			notices: [/no answer in time/],
		},
	},
	{
		name: "pi is stopped for a minute during a question",
		isSlow: true,
		play: async (scene) => {
			const pi = await scene.start({ script: [ask("select"), say("Then left it is.")], extensions: [ASKING] });
			await pi.prompt("please");
			await scene.logged(1);
			await scene.stopFor(pi, 60_000);
			await scene.untilLit();
			const asked = await pi.waitFor(({ method }) => method === "select");
			scene.answeredMs = Date.now();
			pi.send({ type: "extension_ui_response", id: asked.id, value: "left" });
			await scene.logged(3);
		},
		expect: {
			log: ["fired question: select", ...SHOWN],
			or: [{ log: ["fired question: select", "cleared question: select", ...SHOWN] }],
		},
	},
	inTheHold("the clock is set forward by a day in the hold", clockSet(DAY_MS)),
	inTheHold("the clock is set back by a day in the hold", clockSet(-DAY_MS)),
	whileWaiting("the clock is set forward by a day in the draw", "draw", clockSet(DAY_MS)),
	whileWaiting("the clock is set back by a day in the draw", "draw", clockSet(-DAY_MS)),
];
