// `pi -p` with alerts: a pi that ends with its run.

import type { Fault } from "./fault.ts";
import { answers, answersLate, DRAW, neverAnswers } from "./wire.ts";

/** One run, to its end. */
function headless(name: string, fault: Pick<Fault, "arrange" | "expect" | "bar">): Fault {
	return {
		name: `pi -p: ${name}`,
		settings: { headless: true },
		play: (scene, options) => scene.print(options),
		...fault,
	};
}

const SHOWN = ["fired agent settled", "cleared agent settled"];

export const HEADLESS_FAULTS: readonly Fault[] = [
	headless("the bar answers", { expect: { log: SHOWN } }),
	headless("the bar answers after 3 s", {
		arrange: (scene) => scene.wire.set(answersLate(3_000)),
		expect: { log: SHOWN },
	}),
	// That it was left to others is all that the log says.
	headless("the bar hangs", { arrange: (scene) => scene.wire.set(neverAnswers), expect: { log: SHOWN, shown: 0 } }),
	headless("the bar is absent", {
		arrange: (scene) => scene.wire.close(),
		expect: { log: ["error agent settled unreachable"] },
	}),
	headless("the bar refuses access", {
		bar: { access: "disabled" },
		expect: { log: ["error agent settled forbidden"] },
	}),
	headless("the bar is busy", {
		arrange: (scene) => scene.bar.bar.busy.start(),
		// The bar answers after pi has gone: what it was asked for again was refused too.
		expect: { log: SHOWN, shown: 0 },
	}),
	headless("the bar refuses the draw", {
		arrange: (scene) => scene.wire.set(answers(400, { error: "Bad Request" }), { on: DRAW }),
		expect: { log: ["error agent settled device"] },
	}),
];
