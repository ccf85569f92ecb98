import { describe, expect, test } from "vitest";
import type { AlertRequest } from "../../extensions/busybar-alert/cycle/request.ts";
import { AlertPolicy } from "../../extensions/busybar-alert/policy.ts";
import { resolveSettings } from "../../extensions/busybar-alert/settings-file.ts";
import type { Outcome } from "../../extensions/busybar-alert/when/run.ts";
import { AlertDesk, refusal } from "../support/alert-desk.ts";

/** A pi that plays events to the policy of one extension instance. */
class PlayedPi {
	readonly desk = new AlertDesk();
	readonly policy: AlertPolicy;
	readonly detached: AlertRequest[] = [];
	readonly prepared: AlertRequest[] = [];
	focused = false;
	saved: Record<string, unknown>;

	constructor(saved: Record<string, unknown> = {}, gated: { nested?: boolean; headless?: boolean } = {}) {
		this.saved = saved;
		this.policy = new AlertPolicy({
			settings: { load: async () => resolveSettings(this.saved, {}) },
			log: { append: (row) => void this.desk.rows.push(row) },
			clock: this.desk.clock,
			parts: () => {
				if (gated.nested || gated.headless) throw new Error("a gated instance touched the shared cycle");
				return this.desk;
			},
			session: "session",
			isFocused: () => this.focused,
			isMutedHere: () => false,
			detached: () => ({
				prepare: (requests) => void this.prepared.push(...requests),
				show: async (request) => void this.detached.push(request),
			}),
			nested: gated.nested ?? false,
			headless: gated.headless ?? false,
			onSettings: () => undefined,
		});
	}

	async turn(index: number, outcome: Outcome = "completed", calledTools = false, aborting = false): Promise<void> {
		this.policy.turnEnded({ index, outcome, calledTools }, aborting);
		await this.policy.idle();
	}

	async workingTurn(index: number): Promise<void> {
		await this.turn(index, "completed", true);
	}

	async settled(aborted = false): Promise<void> {
		this.policy.settled(aborted);
		await this.policy.idle();
	}
}

describe("on turn_end", () => {
	test("a run of two turns shows a turn, then done, and settling adds nothing", async () => {
		const pi = new PlayedPi();
		await pi.workingTurn(0);
		await pi.desk.advance(1_500);
		await pi.turn(1);
		await pi.settled();
		await pi.desk.advance(20_000);
		expect(pi.desk.story).toEqual(["fired turn 0", "fired turn 1", "cleared turn 1"]);
		expect(pi.desk.steps).toEqual(["show spinner", "show check", "clear"]);
	});

	test("a turn while an alert is on the bar is logged, not shown", async () => {
		const pi = new PlayedPi();
		await pi.workingTurn(0);
		await pi.desk.advance(1_000);
		await pi.workingTurn(1);
		await pi.desk.advance(20_000);
		expect(pi.desk.story).toEqual(["fired turn 0", "skipped turn 1 in_flight", "cleared turn 0"]);
	});

	test("a turn inside the least interval is logged, not shown", async () => {
		const pi = new PlayedPi({ holdSeconds: 0.5, minIntervalMs: 2_000 });
		await pi.workingTurn(0);
		await pi.desk.advance(1_999);
		await pi.workingTurn(1);
		await pi.desk.advance(1);
		await pi.workingTurn(2);
		await pi.desk.advance(100);
		expect(pi.desk.story).toEqual(["fired turn 0", "cleared turn 0", "skipped turn 1 debounce", "fired turn 2"]);
	});

	test("a failed turn shows nothing by itself, and the retry's success is the one verdict", async () => {
		const pi = new PlayedPi();
		await pi.turn(0, "error");
		await pi.turn(0, "error");
		await pi.turn(0);
		await pi.settled();
		await pi.desk.advance(20_000);
		expect(pi.desk.story).toEqual(["fired turn 0", "cleared turn 0"]);
		expect(pi.desk.steps).toEqual(["show check", "clear"]);
	});

	test("a run that ends in an error shows the error once, when pi settles", async () => {
		const pi = new PlayedPi();
		await pi.turn(0, "error");
		await pi.turn(0, "error");
		expect(pi.desk.rows).toEqual([]);
		await pi.settled();
		await pi.desk.advance(20_000);
		expect(pi.desk.story).toEqual(["fired turn 0 (final)", "cleared turn 0 (final)"]);
		expect(pi.desk.steps).toEqual(["show cross", "clear"]);
	});

	test("an aborted run asks for nothing, also where pi does not say `aborted` when it settles", async () => {
		for (const says of [true, false]) {
			const pi = new PlayedPi();
			await pi.turn(0, "completed", true, true);
			await pi.turn(1, "aborted");
			await pi.settled(says);
			await pi.desk.advance(20_000);
			expect(pi.desk.rows).toEqual([]);
		}
	});

	test("a run whose last turn called a tool is done when pi settles", async () => {
		const pi = new PlayedPi();
		await pi.workingTurn(0);
		await pi.settled();
		await pi.desk.advance(20_000);
		expect(pi.desk.steps).toEqual(["show spinner", "show check", "clear"]);
		expect(pi.desk.story.at(-1)).toBe("cleared turn 0 (final)");
	});
});

test("on agent_settled, a prompt with many turns gives exactly one alert", async () => {
	const pi = new PlayedPi({ alertOn: "agent_settled" });
	for (let index = 0; index < 5; index += 1) await pi.workingTurn(index);
	await pi.turn(5);
	expect(pi.desk.rows).toEqual([]);
	await pi.settled();
	await pi.desk.advance(20_000);
	expect(pi.desk.story).toEqual(["fired agent settled", "cleared agent settled"]);
});

describe("silence", () => {
	test("switched off, nothing happens at all, not even a row", async () => {
		const pi = new PlayedPi({ enabled: false });
		await pi.workingTurn(0);
		await pi.turn(1);
		await pi.settled();
		expect(pi.desk.rows).toEqual([]);
	});

	test.each([
		["nested", { nested: true }],
		["headless", { headless: true }],
		["nested", { nested: true, headless: true }],
	])("a gated pi (%s) logs and never touches the bar", async (gate, gated) => {
		const pi = new PlayedPi({}, gated);
		await pi.workingTurn(0);
		await pi.turn(1);
		await pi.settled();
		expect(pi.desk.story).toEqual([
			`skipped turn 0 ${gate}`,
			`skipped turn 1 ${gate}`,
			`skipped turn 1 (final) ${gate}`,
		]);
	});

	test("a pattern that is off silences its alert alone", async () => {
		const pi = new PlayedPi({ pattern: "off" });
		await pi.workingTurn(0);
		await pi.turn(1);
		await pi.desk.advance(100);
		expect(pi.desk.story).toEqual(["skipped turn 0 pattern_off", "fired turn 1"]);
	});

	test("after an absent bar, the next alerts cost no process", async () => {
		const pi = new PlayedPi();
		pi.desk.behaviours.show.push(refusal("unreachable"));
		await pi.workingTurn(0);
		await pi.desk.advance(100);
		await pi.turn(1);
		await pi.settled();
		await pi.desk.advance(100);
		expect(pi.desk.story).toEqual([
			"error turn 0 unreachable",
			"skipped turn 1 backoff",
			"skipped turn 1 (final) backoff",
		]);
		expect(pi.desk.steps).toEqual([]);
	});

	test("a manual test goes past every gate and ends the back-off", async () => {
		const pi = new PlayedPi({ pattern: "off" });
		pi.desk.behaviours.show.push(refusal("unreachable"));
		await pi.turn(0);
		await pi.desk.advance(100);
		const result = await pi.policy.test("turn");
		await pi.desk.advance(100);
		expect(result.silence).toBe("pattern_off");
		pi.saved = { enabled: false };
		expect((await pi.policy.test("turn")).silence).toBe("off");
		expect(pi.desk.story.at(-1)).toBe("fired manual test");
		expect(pi.desk.shown).toBe("spinner");
		expect(pi.desk.outcomes.backingOff).toBe(false);
	});
});

describe("a question", () => {
	test("in a run is shown until it is answered, then the run goes on", async () => {
		const pi = new PlayedPi();
		pi.policy.runStarted();
		pi.policy.questionAsked("select");
		await pi.policy.idle();
		await pi.desk.advance(600_000);
		expect(pi.desk.shown).toBe("question");
		pi.policy.questionAnswered();
		await pi.policy.idle();
		await pi.desk.advance(100);
		expect(pi.desk.shown).toBeUndefined();
		await pi.turn(0);
		await pi.settled();
		await pi.desk.advance(10_000);
		expect(pi.desk.story).toEqual([
			"fired question: select",
			"cleared question: select",
			"fired turn 0",
			"cleared turn 0",
		]);
	});

	test("outside a run is none of ours", async () => {
		const pi = new PlayedPi();
		pi.policy.questionAsked("confirm");
		await pi.policy.idle();
		expect(pi.desk.rows).toEqual([]);
	});

	test("goes when the run is aborted, and when the session ends", async () => {
		for (const end of [(pi: PlayedPi) => pi.settled(true), (pi: PlayedPi) => pi.policy.end()]) {
			const pi = new PlayedPi();
			pi.policy.runStarted();
			pi.policy.questionAsked("input");
			await pi.policy.idle();
			await pi.desk.advance(1_000);
			await end(pi);
			await pi.desk.advance(100);
			expect(pi.desk.shown).toBeUndefined();
		}
	});

	test("passes the gates of turns and short runs", async () => {
		const pi = new PlayedPi({ minRunSeconds: 60 });
		pi.policy.runStarted();
		await pi.workingTurn(0);
		pi.policy.questionAsked("select");
		await pi.policy.idle();
		await pi.desk.advance(100);
		expect(pi.desk.story).toEqual(["skipped turn 0 short_run", "fired question: select"]);
	});
});

test("nothing of ours runs among pi's own microtasks", async () => {
	const pi = new PlayedPi();
	pi.policy.turnEnded({ index: 0, outcome: "completed", calledTools: false }, false);
	for (let count = 0; count < 1_000; count += 1) await Promise.resolve();
	expect(pi.desk.cycle.busy).toBe(false);
	await pi.policy.idle();
	expect(pi.desk.cycle.busy).toBe(true);
});

test("`clearOnShutdown` goes with the alert", async () => {
	for (const clearOnShutdown of [true, false]) {
		const pi = new PlayedPi({ clearOnShutdown });
		await pi.turn(0);
		await pi.desk.advance(1_000);
		expect(pi.desk.cycle.part() !== undefined).toBe(clearOnShutdown);
	}
});

test("a fault in reading the settings costs the event and a row, not pi or the next event", async () => {
	const pi = new PlayedPi();
	const { saved } = pi;
	Object.defineProperty(pi, "saved", {
		get: () => {
			throw new Error("bug");
		},
		configurable: true,
	});
	await pi.turn(0);
	Object.defineProperty(pi, "saved", { value: saved });
	await pi.turn(1);
	await pi.desk.advance(100);
	expect(pi.desk.story).toEqual(["error internal unknown", "fired turn 1"]);
});

describe("what the user wants to hear nothing of", () => {
	test("a short run, measured from its prompt over all retries", async () => {
		const pi = new PlayedPi({ minRunSeconds: 10 });
		pi.policy.runStarted();
		await pi.desk.advance(6_000);
		await pi.turn(0, "error");
		pi.policy.runStarted();
		await pi.desk.advance(3_999);
		await pi.workingTurn(0);
		await pi.desk.advance(1);
		await pi.turn(1);
		await pi.settled();
		await pi.desk.advance(100);
		expect(pi.desk.story).toEqual(["skipped turn 0 short_run", "fired turn 1"]);
	});

	test("while the terminal has the focus, if asked for", async () => {
		const pi = new PlayedPi({ onlyWhenUnfocused: true });
		pi.focused = true;
		await pi.turn(0);
		pi.focused = false;
		await pi.turn(1);
		await pi.desk.advance(100);
		expect(pi.desk.story).toEqual(["skipped turn 0 focused", "fired turn 1"]);
		const other = new PlayedPi();
		other.focused = true;
		await other.turn(0);
		await other.desk.advance(100);
		expect(other.desk.story).toEqual(["fired turn 0"]);
	});

	test("while muted, until the time is over", async () => {
		const pi = new PlayedPi({ mutedUntil: new Date(60_000).toISOString() });
		await pi.turn(0);
		await pi.desk.advance(60_000);
		await pi.turn(1);
		await pi.desk.advance(100);
		expect(pi.desk.story).toEqual(["skipped turn 0 muted", "fired turn 1"]);
	});
});

test("from print mode, if asked for, one detached alert comes when pi settles", async () => {
	const pi = new PlayedPi({ headless: true, minRunSeconds: 5 }, { headless: true });
	pi.policy.runStarted();
	await pi.desk.advance(6_000);
	await pi.workingTurn(0);
	pi.policy.questionAsked("select");
	await pi.turn(1);
	await pi.settled();
	await pi.policy.idle();
	expect(pi.desk.rows).toEqual([]);
	expect(pi.prepared.map(({ pattern }) => pattern)).toEqual(["check", "cross"]);
	expect(pi.detached.map(({ alert, reason, pattern }) => [alert, reason, pattern])).toEqual([
		["done", "agent settled", "check"],
	]);
});

test("a run that starts while the last verdict is on its way is not ended by it", async () => {
	const pi = new PlayedPi({ alertOn: "agent_settled" });
	pi.policy.turnEnded({ index: 0, outcome: "error", calledTools: false }, false);
	pi.policy.settled(false);
	pi.policy.runStarted();
	pi.policy.turnEnded({ index: 0, outcome: "completed", calledTools: false }, false);
	await pi.policy.idle();
	await pi.desk.advance(100);
	expect(pi.desk.steps).toEqual(["show cross"]);
	await pi.settled();
	await pi.desk.advance(100);
	expect(pi.desk.steps).toEqual(["show cross", "show check"]);
});

describe("whatever the burst, the bar shows a settled run's verdict for its hold time", () => {
	const seeds = Array.from({ length: 300 }, (_, seed) => seed);

	test.each(["turn_end", "agent_settled"] as const)("%s", async (alertOn) => {
		for (const seed of seeds) {
			const random = mulberry32(seed);
			const upTo = (limit: number) => Math.floor(random() * limit);
			const pi = new PlayedPi({ alertOn, minIntervalMs: upTo(4_000) });
			const { desk } = pi;
			const slowness = [20, 60, 400, 1_500][upTo(4)] ?? 60;
			desk.behaviours.show.push(...Array.from({ length: 60 }, () => ({ tookMs: 10 + upTo(slowness) })));
			desk.behaviours.clear.push(...Array.from({ length: 60 }, () => ({ tookMs: 10 + upTo(slowness) })));
			desk.assetTookMs = upTo(300);

			let outcome: Outcome = "completed";
			let settledMs = 0;
			for (let run = 0; run < 1 + upTo(3); run += 1) {
				const turns = 1 + upTo(8);
				for (let index = 0; index < turns; index += 1) {
					await desk.advance(upTo(2) * upTo(3_000));
					const last = index === turns - 1;
					if (index === 0) pi.policy.runStarted();
					if (!last && random() < 0.2) {
						pi.policy.questionAsked("select");
						await pi.policy.idle();
						await desk.advance(upTo(4_000));
						pi.policy.questionAnswered();
					}
					outcome = last && random() < 0.3 ? "error" : "completed";
					await pi.turn(index, outcome, !last || random() < 0.2);
				}
				await pi.settled();
				settledMs = desk.clock.now();
				await desk.advance(upTo(1_000));
			}
			await desk.advance(20_000);

			const context = `seed ${seed}: ${desk.story.join(", ")}`;
			const shows = desk.drawings.filter(({ step }) => step === "show");
			const verdict = shows.at(-1);
			expect(verdict?.pattern, context).toBe(outcome === "error" ? "cross" : "check");
			const shownMs = verdict?.atMs ?? Number.NaN;
			// What is under way when it comes is finished first: at most an asset, a draw and a clear.
			expect(shownMs - settledMs, context).toBeGreaterThanOrEqual(0);
			expect(shownMs - settledMs, context).toBeLessThan(3 * slowness + 600);
			const clears = desk.drawings.filter(({ step, atMs }) => step === "clear" && atMs >= shownMs);
			expect(clears, context).toHaveLength(1);
			expect((clears[0]?.atMs ?? Number.NaN) - shownMs, context).toBeGreaterThanOrEqual(3_000);
			expect(desk.shown, context).toBeUndefined();
			expect(desk.cycle.busy, context).toBe(false);
		}
	});
});

/** A small seeded generator, so that a failing burst can be played again. */
function mulberry32(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
	};
}
