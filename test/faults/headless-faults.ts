// `pi -p` with alerts: a pi that ends with its run.

import { join } from "node:path";
import { bash, say } from "../support/steps.ts";
import { AS_BUNDLED, fakeCli } from "./fake-cli.ts";
import type { Fault } from "./fault.ts";
import { answers, answersLate, DRAW, neverAnswers } from "./wire.ts";

/** pi waits for the bar for a second at most; what is not done by then is left to a process of its own. */
const LEFT = ["fired agent settled detached", "cleared agent settled detached"];
/** And what has not begun by then, on a very busy machine, is given up. */
const NOT_READY = { log: ["error agent settled unknown"], shown: 0 };

/** One run, to its end. */
function headless(name: string, fault: Pick<Fault, "arrange" | "expect" | "bar" | "isSlow">): Fault {
	return {
		name: `pi -p: ${name}`,
		settings: { headless: true },
		play: async (scene) => {
			const folder = join(scene.desk.home.dir, "path");
			const seen = join(scene.desk.home.dir, "inspected");
			fakeCli(folder, { inspect: `${AS_BUNDLED}; code=$?; echo >> ${seen}; exit $code` });
			// pi gets ready for `done` and `error` while the model thinks.
			const ready = bash(`until [ "$(cat ${seen} | wc -l)" -ge 2 ]; do sleep 0.05; done`);
			await scene.print({ script: [ready, say("It is done.")], pathDirs: [folder] });
		},
		...fault,
	};
}

/** The bar says no; a busy machine may hear of it too late. */
const failed = (kind: string) => ({ log: [`error agent settled ${kind}`], or: [{ log: LEFT }, NOT_READY], shown: 0 });

export const HEADLESS_FAULTS: readonly Fault[] = [
	headless("the bar answers", {
		expect: {
			log: ["fired agent settled", "cleared agent settled detached"],
			or: [{ log: LEFT }],
			shown: 1,
		},
	}),
	headless("the bar answers after 3 s", {
		arrange: (scene) => scene.wire.set(answersLate(3_000), { on: DRAW }),
		expect: { log: LEFT, or: [NOT_READY] },
	}),
	headless("the bar hangs", {
		isSlow: true,
		arrange: (scene) => scene.wire.set(neverAnswers),
		expect: { log: LEFT, or: [NOT_READY], shown: 0 },
	}),
	headless("the bar is absent", { arrange: (scene) => scene.wire.close(), expect: failed("unreachable") }),
	headless("the bar refuses access", { bar: { access: "disabled" }, expect: failed("forbidden") }),
	// It takes the bar 1.5 s to say so.
	headless("a BUSY timer runs", {
		arrange: (scene) => scene.bar.bar.busy.start(),
		expect: { log: LEFT, or: [NOT_READY], shown: 0 },
	}),
	headless("the bar refuses the draw", {
		arrange: (scene) => scene.wire.set(answers(400, { error: "Bad Request" }), { on: DRAW }),
		expect: failed("device"),
	}),
];
