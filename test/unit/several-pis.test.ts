import { describe, expect, test } from "vitest";
import { type BarName, MemoryBarStore, type Step } from "../../extensions/busybar-alert/cycle/bar-store.ts";
import { AlertDesk, alertRequest, DeskBar, done, refusal, turn } from "../support/alert-desk.ts";

const question = (reason = "question: select") =>
	alertRequest({ alert: "question", reason, pattern: "question", fallbackPattern: "question", holdSeconds: 1_800 });
const error = (index: number) =>
	alertRequest({ alert: "error", reason: `turn ${index}`, pattern: "cross", fallbackPattern: "cross" });

/** Pis with one bar between them. */
function pis(
	count: number,
	abilities: Partial<AlertDesk["abilities"]> = {},
	bar = new DeskBar(),
): readonly [DeskBar, ...AlertDesk[]] {
	return [bar, ...Array.from({ length: count }, () => new AlertDesk(abilities, bar))];
}

/** Gives out, once, what the record was before another pi took the lock and drew. */
class StaleRecords extends MemoryBarStore {
	areStale = false;

	override async change<T>(bar: BarName, step: Step<T>): Promise<T> {
		if (!this.areStale) return super.change(bar, step);
		this.areStale = false;
		const before = { ...bar, leases: [], wishes: [], shown: undefined, outage: undefined };
		return (await step(before, async () => false)).value;
	}
}

/** What the bar showed from when to when, in milliseconds. */
function shownTimes(bar: DeskBar): [pattern: string, ms: number][] {
	return bar.drawings.flatMap(({ pattern, atMs }, index) => {
		const endMs = bar.drawings[index + 1]?.atMs ?? bar.clock.now();
		return pattern ? [[pattern, endMs - atMs] as [string, number]] : [];
	});
}

describe("two pis on one bar", () => {
	test("a verdict is lit for three seconds before the other pi's takes its place", async () => {
		const [bar, one, other] = pis(2);
		one?.cycle.show(done(0));
		await bar.clock.advanceAsync(500);
		other?.cycle.show(error(0));
		await bar.clock.advanceAsync(20_000);
		expect(shownTimes(bar).map(([pattern]) => pattern)).toEqual(["check", "cross"]);
		for (const [, ms] of shownTimes(bar)) expect(ms).toBeGreaterThanOrEqual(2_990);
		expect(bar.shown).toBeUndefined();
	});

	test("a verdict is lit for three seconds also when it took two to draw", async () => {
		const [bar, one, other] = pis(2);
		one?.behaviours.show.push({ tookMs: 2_000 });
		one?.cycle.show(done(0));
		await bar.clock.advanceAsync(2_100);
		other?.cycle.show(error(0));
		await bar.clock.advanceAsync(20_000);
		expect(shownTimes(bar).map(([pattern]) => pattern)).toEqual(["check", "cross"]);
		for (const [, ms] of shownTimes(bar)) expect(ms).toBeGreaterThanOrEqual(2_990);
	});

	test("a clear leaves alone what the other pi has drawn since", async () => {
		const [bar, one, other] = pis(2);
		one?.cycle.show(done(0));
		await bar.clock.advanceAsync(3_050);
		other?.cycle.show(error(0));
		await bar.clock.advanceAsync(2_900);
		expect(bar.shown).toBe("cross");
		expect(bar.drawings.filter(({ step }) => step === "clear")).toHaveLength(0);
		expect(one?.rows.at(-1)).toMatchObject({ outcome: "cleared" });
		await bar.clock.advanceAsync(10_000);
		expect(bar.shown).toBeUndefined();
	});

	test("the same verdict twice is drawn again, and goes with the last of the two", async () => {
		const [bar, one, other] = pis(2);
		one?.cycle.show(done(0));
		await bar.clock.advanceAsync(2_000);
		other?.cycle.show(done(0));
		await bar.clock.advanceAsync(2_900);
		expect(bar.drawings.map(({ step }) => step)).toEqual(["show", "show"]);
		expect(bar.shown).toBe("check");
		expect(one?.rows.at(-1)).toMatchObject({ outcome: "cleared", handedOver: true });
		await bar.clock.advanceAsync(1_000);
		expect(bar.shown).toBeUndefined();
	});

	test("a verdict that the other pi has drawn again is seen, too, before that one's newer verdict", async () => {
		const [bar, one, other] = pis(2);
		one?.cycle.show(done(0));
		await bar.clock.advanceAsync(500);
		other?.cycle.show(done(0));
		await bar.clock.advanceAsync(500);
		other?.cycle.show(error(1));
		await bar.clock.advanceAsync(20_000);
		expect(bar.drawings.map(({ pattern }) => pattern)).toEqual(["check", "check", "cross", undefined]);
		expect((bar.drawings[2]?.atMs ?? 0) - (bar.drawings[0]?.atMs ?? 0)).toBeGreaterThanOrEqual(3_000);
	});

	test("with a CLI that cannot let it expire, the second one joins, and the last one out clears", async () => {
		const [bar, one, other] = pis(2, { expiresAfter: false });
		one?.cycle.show(done(0));
		await bar.clock.advanceAsync(2_000);
		other?.cycle.show(done(0));
		await bar.clock.advanceAsync(2_500);
		expect(other?.rows).toMatchObject([{ outcome: "fired", joined: true }]);
		expect(bar.drawings.map(({ step }) => step)).toEqual(["show"]);
		expect(bar.shown).toBe("check");
		await bar.clock.advanceAsync(2_000);
		expect(bar.drawings.map(({ step }) => step)).toEqual(["show", "clear"]);
	});

	test("a question comes back when the other pi's verdict has had its time", async () => {
		const [bar, one, other] = pis(2);
		const asked = one?.cycle.show(question());
		await bar.clock.advanceAsync(10_000);
		other?.cycle.show(done(0));
		await bar.clock.advanceAsync(1_000);
		expect(bar.shown).toBe("check");
		await bar.clock.advanceAsync(3_000);
		expect(bar.shown).toBe("question");
		expect(other?.rows.at(-1)).toMatchObject({ outcome: "cleared", handedOver: true });
		await bar.clock.advanceAsync(200_000);
		expect(bar.shown).toBe("question");
		if (asked) one?.cycle.withdraw(asked);
		await bar.clock.advanceAsync(100);
		expect(bar.shown).toBeUndefined();
	});

	test("a question that is answered while the other pi's verdict is lit leaves that alone", async () => {
		const [bar, one, other] = pis(2);
		const asked = one?.cycle.show(question());
		await bar.clock.advanceAsync(10_000);
		other?.cycle.show(done(0));
		await bar.clock.advanceAsync(500);
		if (asked) one?.cycle.withdraw(asked);
		await bar.clock.advanceAsync(2_000);
		expect(bar.shown).toBe("check");
		await bar.clock.advanceAsync(2_000);
		expect(bar.shown).toBeUndefined();
	});

	test("a question or an error outranks the other pi's turns, a verdict does not, and a dead pi does not", async () => {
		const [bar, one, other] = pis(2);
		const looks = async () => (await other?.cycle.look(turn(0).target))?.outranked;
		expect(await looks()).toBe(false);
		one?.cycle.show(error(0));
		await bar.clock.advanceAsync(100);
		expect(await looks()).toBe(true);
		expect((await one?.cycle.look(turn(0).target))?.outranked).toBe(false);
		bar.dead.add(one?.pid ?? 0);
		expect(await looks()).toBe(false);
		bar.dead.clear();
		one?.cycle.show(done(1));
		await bar.clock.advanceAsync(100);
		expect(await looks()).toBe(false);
	});

	test("the others know of a draw, and of an answered question, before the bar has answered", async () => {
		const [bar, one] = pis(1);
		const { target } = question();
		one?.behaviours.show.push({ tookMs: 1_000 });
		const asked = one?.cycle.show(question());
		await bar.clock.advanceAsync(500);
		const owner = { pid: one?.pid };
		expect(await bar.records.read(target)).toMatchObject({
			leases: [{ owner, alert: "question" }],
			shown: { owner, alert: "question", isConfirmed: false },
		});
		await bar.clock.advanceAsync(10_000);
		one?.behaviours.clear.push({ tookMs: 1_000 });
		if (asked) one?.cycle.withdraw(asked);
		await bar.clock.advanceAsync(500);
		expect(await bar.records.read(target)).toMatchObject({ leases: [], shown: { owner, isConfirmed: true } });
	});

	test("a pi that was stopped right before it drew looks again at what the other has on the bar", async () => {
		const records = new StaleRecords();
		const [bar, one, other] = pis(2, {}, new DeskBar(records));
		one?.cycle.show(done(0));
		await bar.clock.advanceAsync(100);
		records.areStale = true;
		other?.cycle.show(error(0));
		await bar.clock.advanceAsync(20_000);
		expect(records.areStale).toBe(false);
		expect(shownTimes(bar).map(([pattern]) => pattern)).toEqual(["check", "cross"]);
		for (const [, ms] of shownTimes(bar)) expect(ms).toBeGreaterThanOrEqual(2_990);
	});

	test("an alert on the other display clears the bar first, for the bar refuses an element that moves", async () => {
		const [bar, one, other] = pis(2);
		one?.cycle.show(done(0));
		await bar.clock.advanceAsync(3_000);
		const { target } = turn(0);
		other?.cycle.show({ ...turn(0), target: { ...target, display: "back" } });
		await bar.clock.advanceAsync(500);
		expect(bar.drawings.map(({ step }) => step).slice(0, 3)).toEqual(["show", "clear", "show"]);
	});
});

describe("many pis on one bar", () => {
	test("an error gets its turn although the others never stop showing done", async () => {
		const [bar, one, ...others] = pis(8);
		for (let round = 0; round < 15; round += 1) {
			others[round % others.length]?.cycle.show(done(round));
			if (round === 2) one?.cycle.show(error(0));
			await bar.clock.advanceAsync(1_000);
		}
		const times = bar.drawings.filter(({ pattern }) => pattern === "cross").map(({ atMs }) => atMs);
		expect(times[0]).toBeLessThan(6_500);
		await bar.clock.advanceAsync(30_000);
		expect(others.flatMap(({ rows }) => rows.filter(({ outcome }) => outcome === "fired"))).toHaveLength(15);
		for (const [, ms] of shownTimes(bar).filter(([pattern]) => pattern === "cross"))
			expect(ms).toBeGreaterThanOrEqual(2_990);
		expect(bar.shown).toBeUndefined();
	});

	test("a question goes before an error that waits", async () => {
		const [bar, one, other, third] = pis(3);
		one?.cycle.show(done(0));
		await bar.clock.advanceAsync(500);
		other?.cycle.show(error(0));
		await bar.clock.advanceAsync(500);
		third?.cycle.show(question());
		await bar.clock.advanceAsync(20_000);
		expect(shownTimes(bar).map(([pattern]) => pattern)).toEqual(["check", "question", "cross", "question"]);
	});

	test("done gets its turn although the others never stop asking", async () => {
		const [bar, one, ...others] = pis(21);
		for (const [index, pi] of others.entries()) {
			pi.cycle.show(question());
			if (index === 2) one?.cycle.show(done(0));
			await bar.clock.advanceAsync(1_000);
		}
		expect(bar.drawings.find(({ pattern }) => pattern === "check")?.atMs).toBeLessThan(15_000);
	});

	test("those that wait for the same picture share a turn", async () => {
		const [bar, one, ...waiting] = pis(4);
		one?.cycle.show(error(0));
		await bar.clock.advanceAsync(200);
		for (const [index, pattern] of ["check", "pulse", "check"].entries()) {
			waiting[index]?.cycle.show({ ...done(0), pattern });
			await bar.clock.advanceAsync(200);
		}
		await bar.clock.advanceAsync(20_000);
		expect(shownTimes(bar).map(([pattern]) => pattern)).toEqual(["cross", "check", "check", "pulse"]);
	});

	test("a question that comes back may be replaced after a second", async () => {
		const [bar, one, other] = pis(2);
		one?.cycle.show(question());
		await bar.clock.advanceAsync(10_000);
		other?.cycle.show(done(0));
		await bar.clock.advanceAsync(3_500);
		expect(bar.shown).toBe("question");
		other?.cycle.show(error(1));
		await bar.clock.advanceAsync(1_000);
		expect(shownTimes(bar).map(([pattern]) => pattern)).toEqual(["question", "check", "question", "cross"]);
		expect(shownTimes(bar)[2]?.[1]).toBeGreaterThanOrEqual(990);
	});

	test("nobody waits long for the turn of a pi that is dead, or no longer wants it", async () => {
		const [bar, one, other, third] = pis(3);
		one?.cycle.show(done(0));
		await bar.clock.advanceAsync(500);
		const asked = other?.cycle.show(question());
		await bar.clock.advanceAsync(500);
		third?.cycle.show(error(0));
		await bar.clock.advanceAsync(500);
		if (asked) other?.cycle.withdraw(asked);
		await bar.clock.advanceAsync(20_000);
		const [, cross] = bar.drawings.filter(({ step }) => step === "show");
		expect(cross?.pattern).toBe("cross");
		expect(cross?.atMs).toBeLessThan(4_000);
	});
});

describe("a bar that is away", () => {
	test("is noticed by one pi for all: the others run nothing", async () => {
		const [bar, ...all] = pis(20);
		all[0]?.behaviours.show.push({ tookMs: 60_000, killed: true });
		for (const pi of all) pi.cycle.show(done(0));
		await bar.clock.advanceAsync(30_000);
		expect(all.flatMap(({ rows }) => rows.filter(({ outcome }) => outcome === "error"))).toHaveLength(1);
		expect(
			all.flatMap(({ rows }) => rows.filter((row) => row.outcome === "skipped" && row.gate === "backoff")),
		).toHaveLength(19);
		expect(bar.drawings.filter(({ step }) => step === "show")).toHaveLength(0);
	});

	test("does not stay away for a manual test, and its success ends the back-off of all", async () => {
		const [bar, one, other] = pis(2);
		one?.behaviours.show.push(refusal("unreachable"));
		one?.cycle.show(done(0));
		await bar.clock.advanceAsync(100);
		expect((await other?.cycle.look(turn(0).target))?.backingOff).toBe(true);
		other?.cycle.show({ ...done(0), isManual: true });
		await bar.clock.advanceAsync(100);
		expect(bar.shown).toBe("check");
		expect((await one?.cycle.look(turn(0).target))?.backingOff).toBe(false);
	});
});

describe("a pi that is killed", () => {
	test("during a question: the bar is dark within 45 seconds, and the next pi clears it sooner", async () => {
		const [bar, one, next] = pis(2, { expiresAfter: false });
		one?.cycle.show(question());
		await bar.clock.advanceAsync(1_000);
		if (one) kill(bar, one);
		const { choice } = next ?? {};
		if (choice?.ok) await settle(bar, next?.cycle.clearLeftOvers(choice.cli, turn(0).target));
		expect(bar.shown).toBeUndefined();
		expect(next?.rows).toMatchObject([{ outcome: "cleared", alert: "question", leftBy: one?.pid }]);

		const [alone, asking] = pis(1);
		asking?.cycle.show(question());
		await alone.clock.advanceAsync(100_000);
		expect(alone.shown).toBe("question");
		if (asking) kill(alone, asking);
		await alone.clock.advanceAsync(45_000);
		expect(alone.shown).toBeUndefined();
	});

	test("in its hold keeps the rest of it, and the next alert takes its place", async () => {
		const [bar, one, next] = pis(2, { expiresAfter: false });
		one?.cycle.show({ ...done(0), holdSeconds: 60 });
		await bar.clock.advanceAsync(1_000);
		if (one) kill(bar, one);
		const { choice } = next ?? {};
		if (choice?.ok) await settle(bar, next?.cycle.clearLeftOvers(choice.cli, turn(0).target));
		expect(bar.shown).toBe("check");
		next?.cycle.show(turn(0));
		await bar.clock.advanceAsync(5_100);
		expect(bar.shown).toBeUndefined();
	});

	test("in its hold is cleared after it by a pi that started meanwhile", async () => {
		const [bar, one, next] = pis(2, { expiresAfter: false });
		one?.cycle.show({ ...done(0), holdSeconds: 60 });
		await bar.clock.advanceAsync(1_000);
		if (one) kill(bar, one);
		const { choice } = next ?? {};
		if (choice?.ok) await settle(bar, next?.cycle.clearLeftOvers(choice.cli, turn(0).target));
		await bar.clock.advanceAsync(58_000);
		expect(bar.shown).toBe("check");
		await bar.clock.advanceAsync(2_000);
		expect(bar.shown).toBeUndefined();
		expect(next?.rows).toMatchObject([{ outcome: "cleared", alert: "done", leftBy: one?.pid }]);
	});
});

test("a question is renewed every 30 seconds while pi lives, with one request and no upload", async () => {
	const [bar, pi] = pis(1);
	pi?.cycle.show(question());
	await bar.clock.advanceAsync(10 * 60_000);
	const [first, ...renewed] = bar.drawings;
	expect(first?.args).not.toContain("--no-upload");
	expect(renewed.every(({ step, args }) => step === "show" && args.includes("--no-upload"))).toBe(true);
	expect(renewed.length).toBeGreaterThanOrEqual(19);
	expect(renewed.length).toBeLessThanOrEqual(20);
	expect(bar.shown).toBe("question");
	expect(pi?.rows).toHaveLength(1);
});

test("a question shows again within 30 seconds when the bar was away meanwhile", async () => {
	const [bar, pi] = pis(1);
	pi?.cycle.show(question());
	await bar.clock.advanceAsync(1_000);
	pi?.behaviours.show.push(refusal("unreachable"));
	await bar.clock.advanceAsync(60_000);
	bar.shown = undefined;
	await bar.clock.advanceAsync(60_000);
	expect(bar.shown).toBe("question");
});

test("draws carry our pid, so that none appears after our death", async () => {
	const [bar, pi] = pis(1);
	pi?.cycle.show(turn(0));
	await bar.clock.advanceAsync(100);
	const { args = [] } = bar.drawings[0] ?? {};
	expect(args[args.indexOf("--while-pid") + 1]).toBe(String(process.pid));
});

/** From now on nothing of this pi happens any more. */
function kill(bar: DeskBar, pi: AlertDesk): void {
	bar.dead.add(pi.pid);
	pi.isDead = true;
}

async function settle(bar: DeskBar, promise: Promise<unknown> | undefined): Promise<void> {
	await bar.clock.advanceAsync(1_000);
	await promise;
}
