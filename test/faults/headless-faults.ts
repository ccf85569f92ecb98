// `pi -p` with alerts: a pi that ends with its run.

import type { Fault } from "./fault.ts";
import { answers, answersLate, DRAW, neverAnswers } from "./wire.ts";

/** pi waits for the bar for a second at most; what is not done by then is left to a process of its own. */
const LEFT = ["fired agent settled detached", "cleared agent settled detached"];

/** One run, to its end. */
function headless(name: string, fault: Pick<Fault, "arrange" | "expect" | "bar" | "isSlow">): Fault {
	// What a model needs to think is enough to get ready for the alert.
	const script = [{ text: "It is done.", delayMs: 1_500 }];
	return { name: `pi -p: ${name}`, settings: { headless: true }, play: (scene) => scene.print({ script }), ...fault };
}

/** The bar says no; a busy machine may hear of it too late. */
const failed = (kind: string) => ({ log: [`error agent settled ${kind}`], orLog: LEFT, shown: 0 });

export const HEADLESS_FAULTS: readonly Fault[] = [
	headless("the bar answers", {
		expect: { log: ["fired agent settled", "cleared agent settled detached"], orLog: LEFT, shown: 1 },
	}),
	headless("the bar answers after 3 s", {
		arrange: (scene) => scene.wire.set(answersLate(3_000), { on: DRAW }),
		expect: { log: LEFT },
	}),
	headless("the bar hangs", {
		isSlow: true,
		arrange: (scene) => scene.wire.set(neverAnswers),
		expect: { log: LEFT, shown: 0 },
	}),
	headless("the bar is absent", { arrange: (scene) => scene.wire.close(), expect: failed("unreachable") }),
	headless("the bar refuses access", { bar: { access: "disabled" }, expect: failed("forbidden") }),
	// It takes the bar 1.5 s to say so.
	headless("a BUSY timer runs", { arrange: (scene) => scene.bar.bar.busy.start(), expect: { log: LEFT, shown: 0 } }),
	headless("the bar refuses the draw", {
		arrange: (scene) => scene.wire.set(answers(400, { error: "Bad Request" }), { on: DRAW }),
		expect: failed("device"),
	}),
];
