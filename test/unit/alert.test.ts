import { describe, expect, test } from "vitest";
import { type BarStore, MemoryBarStore } from "../../extensions/busybar-alert/cycle/bar-store.ts";
import { AlertDesk, alertRequest, DeskBar, done, refusal, turn } from "../support/alert-desk.ts";

const backingOff = async (desk: AlertDesk) => (await desk.cycle.look(turn(0).target)).backingOff;

const question = alertRequest({
	alert: "question",
	reason: "question: select",
	pattern: "question",
	fallbackPattern: "question",
	holdSeconds: 1_800,
});

describe("one alert", () => {
	test("is drawn, held and cleared, and the log says so", async () => {
		const desk = new AlertDesk();
		const ticket = desk.cycle.show(turn(0));
		await desk.advance(100);
		expect(desk.shown).toBe("spinner");
		expect(ticket.status).toBe("shown");
		await desk.advance(10_000);
		expect(desk.steps).toEqual(["show spinner", "clear"]);
		expect(desk.story).toEqual(["fired turn 0", "cleared turn 0"]);
		expect(desk.rows[0]).toMatchObject({ outcome: "fired", ms: 60, anim: "/cache/spinner.anim", alert: "turn" });
		expect(desk.rows[1]).toMatchObject({ outcome: "cleared", heldMs: 3_060 });
	});

	test("is locked until its clear is done", async () => {
		const desk = new AlertDesk();
		desk.behaviours.clear.push({ tookMs: 500 });
		desk.cycle.show(turn(0));
		expect(desk.cycle.busy).toBe(true);
		await desk.advance(60 + 3_000 + 499);
		expect(desk.cycle.busy).toBe(true);
		await desk.advance(1);
		expect(desk.cycle.busy).toBe(false);
		expect(desk.clock.pendingTimers).toBe(0);
	});

	test("tells the bar to end it by itself five seconds after its hold, rounded up", async () => {
		const desk = new AlertDesk();
		desk.cycle.show(alertRequest({ holdSeconds: 2.5 }));
		await desk.advance(100);
		expect(desk.drawings[0]?.args).toContain("--expires-after");
		expect(desk.drawings[0]?.args.at(desk.drawings[0].args.indexOf("--expires-after") + 1)).toBe("8");
	});

	test("asks a CLI without the flag for no expiry", async () => {
		const desk = new AlertDesk({ expiresAfter: false });
		desk.cycle.show(turn(0));
		await desk.advance(100);
		expect(desk.drawings[0]?.args).not.toContain("--expires-after");
	});
});

describe("a newer alert", () => {
	test("takes the place of one whose asset is being made", async () => {
		const desk = new AlertDesk();
		desk.assetTookMs = 300;
		const first = desk.cycle.show(turn(0));
		await desk.advance(100);
		desk.cycle.show(done(1));
		await desk.advance(20_000);
		expect(first.status).toBe("superseded");
		expect(desk.steps).toEqual(["show check", "clear"]);
		expect(desk.story).toEqual(["skipped turn 0 superseded", "fired turn 1", "cleared turn 1"]);
	});

	test("is drawn next when one is being drawn", async () => {
		const desk = new AlertDesk();
		desk.cycle.show(turn(0));
		await desk.advance(30);
		desk.cycle.show(done(1));
		await desk.advance(90);
		expect(desk.steps).toEqual(["show spinner", "show check"]);
		await desk.advance(20_000);
		expect(desk.story).toEqual(["fired turn 0", "fired turn 1", "cleared turn 1"]);
	});

	test("is drawn over one that is held, at once and without a clear in between", async () => {
		const desk = new AlertDesk();
		desk.cycle.show(turn(0));
		await desk.advance(1_000);
		desk.cycle.show(done(1));
		await desk.advance(60);
		expect(desk.steps).toEqual(["show spinner", "show check"]);
		await desk.advance(2_999);
		expect(desk.shown).toBe("check");
		await desk.advance(20_000);
		expect(desk.steps).toEqual(["show spinner", "show check", "clear"]);
	});

	test("is drawn after a clear that is under way", async () => {
		const desk = new AlertDesk();
		desk.behaviours.clear.push({ tookMs: 400 });
		desk.cycle.show(turn(0));
		await desk.advance(60 + 3_000 + 200);
		desk.cycle.show(done(1));
		await desk.advance(20_000);
		expect(desk.steps).toEqual(["show spinner", "clear", "show check", "clear"]);
	});

	test("of several that wait, only the newest is shown", async () => {
		const desk = new AlertDesk();
		desk.cycle.show(turn(0));
		await desk.advance(10);
		desk.cycle.show(done(1));
		desk.cycle.show(alertRequest({ alert: "error", reason: "turn 2", pattern: "cross" }));
		await desk.advance(20_000);
		expect(desk.steps).toEqual(["show spinner", "show cross", "clear"]);
		expect(desk.story).toContain("skipped turn 1 superseded");
	});

	test("with the same picture restarts the bar's timer", async () => {
		const desk = new AlertDesk();
		desk.cycle.show(done(0));
		await desk.advance(1_000);
		desk.cycle.show(done(1));
		await desk.advance(20_000);
		expect(desk.steps).toEqual(["show check", "show check", "clear"]);
	});

	test("with the same picture is only a longer hold where the CLI cannot let it expire", async () => {
		const desk = new AlertDesk({ expiresAfter: false });
		desk.cycle.show(done(0));
		await desk.advance(2_000);
		desk.cycle.show(done(1));
		await desk.advance(2_900);
		expect(desk.steps).toEqual(["show check"]);
		expect(desk.shown).toBe("check");
		await desk.advance(1_000);
		expect(desk.steps).toEqual(["show check", "clear"]);
		expect(desk.rows[1]).toMatchObject({
			outcome: "fired",
			reason: "turn 1",
			extended: true,
			anim: "/cache/check.anim",
		});
	});

	test.each([{ display: "back" }, { applicationName: "other" }] as const)(
		"in another place on the bar (%o) clears the first one",
		async (elsewhere) => {
			const desk = new AlertDesk();
			desk.cycle.show(turn(0));
			await desk.advance(1_000);
			desk.cycle.show({ ...done(1), target: { ...done(1).target, ...elsewhere } });
			await desk.advance(1_000);
			expect(desk.steps).toEqual(["show spinner", "clear", "show check"]);
		},
	);

	test("for another bar clears the first one before it is drawn there", async () => {
		const desk = new AlertDesk();
		desk.cycle.show(turn(0));
		await desk.advance(1_000);
		desk.cycle.show(alertRequest({ addr: "10.9.9.9", reason: "turn 1" }));
		await desk.advance(20_000);
		const places = desk.drawings.map(({ step, args }) => `${step} ${args[args.indexOf("--addr") + 1]}`);
		expect(places).toEqual(["show 10.0.4.20", "clear 10.0.4.20", "show 10.9.9.9", "clear 10.9.9.9"]);
	});
});

describe("when its user is back", () => {
	test("an alert ends early, though not before three seconds", async () => {
		const desk = new AlertDesk();
		desk.cycle.show(alertRequest({ holdSeconds: 20 }));
		await desk.advance(1_000);
		desk.cycle.userIsBack();
		await desk.advance(2_059);
		expect(desk.shown).toBe("spinner");
		await desk.advance(62);
		expect(desk.shown).toBeUndefined();
		expect(desk.story).toEqual(["fired turn 0", "cleared turn 0"]);
	});

	test("after three seconds it ends at once", async () => {
		const desk = new AlertDesk();
		desk.cycle.show(alertRequest({ holdSeconds: 20 }));
		await desk.advance(10_000);
		desk.cycle.userIsBack();
		await desk.advance(60);
		expect(desk.shown).toBeUndefined();
	});

	test("a hold of less than three seconds is left as it is", async () => {
		const desk = new AlertDesk();
		desk.cycle.show(alertRequest({ holdSeconds: 1 }));
		await desk.advance(100);
		desk.cycle.userIsBack();
		await desk.advance(959);
		expect(desk.shown).toBe("spinner");
		await desk.advance(62);
		expect(desk.shown).toBeUndefined();
	});

	test("while it is being drawn, it has its three seconds and no more", async () => {
		const desk = new AlertDesk();
		desk.cycle.show(alertRequest({ holdSeconds: 600 }));
		await desk.advance(30);
		desk.cycle.userIsBack();
		await desk.advance(30 + 2_999);
		expect(desk.shown).toBe("spinner");
		await desk.advance(61);
		expect(desk.shown).toBeUndefined();
	});

	test("what is still on its way is shown all the same", async () => {
		const desk = new AlertDesk();
		desk.assetTookMs = 500;
		desk.cycle.show(turn(0));
		await desk.advance(100);
		desk.cycle.userIsBack();
		await desk.advance(500);
		expect(desk.shown).toBe("spinner");
	});

	test("a question stays", async () => {
		const desk = new AlertDesk();
		desk.cycle.show(question);
		await desk.advance(5_000);
		desk.cycle.userIsBack();
		await desk.advance(60_000);
		expect(desk.shown).toBe("question");
	});
});

test("who wants to hear no more has what is lit taken off, and what waits dropped", async () => {
	const desk = new AlertDesk();
	desk.cycle.show(question);
	await desk.advance(5_000);
	desk.cycle.dismiss();
	await desk.advance(60);
	expect(desk.shown).toBeUndefined();
	desk.cycle.show(turn(0));
	await desk.advance(30);
	desk.cycle.show(done(1));
	desk.cycle.dismiss();
	await desk.advance(10_000);
	expect(desk.steps).toEqual(["show question", "clear", "show spinner", "clear"]);
	expect(desk.story).toContain("skipped turn 1 superseded");
});

describe("a question", () => {
	test("goes at once when it is answered", async () => {
		const desk = new AlertDesk();
		const ticket = desk.cycle.show(question);
		await desk.advance(1_000);
		desk.cycle.withdraw(ticket);
		await desk.advance(60);
		expect(desk.shown).toBeUndefined();
		expect(desk.cycle.busy).toBe(false);
	});

	test("that is answered before it is drawn is not drawn", async () => {
		const desk = new AlertDesk();
		desk.assetTookMs = 500;
		const ticket = desk.cycle.show(question);
		await desk.advance(100);
		desk.cycle.withdraw(ticket);
		await desk.advance(10_000);
		expect(desk.steps).toEqual([]);
		expect(desk.story).toEqual(["skipped question: select withdrawn"]);
	});

	test("that is answered while it waits for another draw is not drawn", async () => {
		const desk = new AlertDesk();
		desk.cycle.show(turn(0));
		await desk.advance(30);
		const ticket = desk.cycle.show(question);
		desk.cycle.withdraw(ticket);
		await desk.advance(10_000);
		expect(desk.steps).toEqual(["show spinner", "clear"]);
		expect(desk.story).toEqual(["skipped question: select withdrawn", "fired turn 0", "cleared turn 0"]);
	});

	test("that is answered while it is being drawn goes as soon as it is drawn", async () => {
		const desk = new AlertDesk();
		const ticket = desk.cycle.show(question);
		await desk.advance(30);
		desk.cycle.withdraw(ticket);
		await desk.advance(90);
		expect(desk.steps).toEqual(["show question", "clear"]);
	});

	test("that is answered after a verdict took its place leaves the verdict alone", async () => {
		const desk = new AlertDesk();
		const ticket = desk.cycle.show(question);
		await desk.advance(1_000);
		desk.cycle.show(done(1));
		await desk.advance(100);
		desk.cycle.withdraw(ticket);
		await desk.advance(1_000);
		expect(desk.shown).toBe("check");
	});
});

describe("the user's own picture", () => {
	const own = (reason: string) => alertRequest({ pattern: "/home/me/frames", reason });
	const broken = { ok: false, failure: { kind: "bad_asset", message: "/home/me/frames cannot be read." } } as const;

	test("that breaks is replaced by ours, with one warning and an error row each time", async () => {
		const desk = new AlertDesk();
		for (const reason of ["turn 0", "turn 1"]) {
			desk.assetFailures.push(broken);
			desk.cycle.show(own(reason));
			await desk.advance(10_000);
		}
		expect(desk.steps).toEqual(["show spinner", "clear", "show spinner", "clear"]);
		expect(desk.story.slice(0, 3)).toEqual(["error turn 0 bad_asset", "fired turn 0", "cleared turn 0"]);
		expect(desk.notices).toEqual(["/home/me/frames cannot be read. Until then, turn alerts show `spinner`."]);
		expect(desk.outcomes.problem).toBeUndefined();
	});

	test("that the CLI refuses twice is replaced too", async () => {
		const desk = new AlertDesk();
		const refused = { code: 1, stderr: "Error: frames.anim is truncated" };
		desk.behaviours.show.push(refused, refused);
		desk.cycle.show(own("turn 0"));
		await desk.advance(10_000);
		expect(desk.steps).toEqual(["show spinner", "clear"]);
	});
});

describe("when the draw fails", () => {
	test("a refusal is logged once and nothing is cleared", async () => {
		const desk = new AlertDesk();
		desk.behaviours.show.push(refusal("preempted"));
		const ticket = desk.cycle.show(turn(0));
		await desk.advance(20_000);
		expect(ticket.failure?.kind).toBe("preempted");
		expect(desk.story).toEqual(["error turn 0 preempted"]);
		expect(desk.steps).toEqual([]);
		expect(await backingOff(desk)).toBe(false);
	});

	test("late, a clear follows two seconds later, for the draw may still appear", async () => {
		const desk = new AlertDesk();
		desk.behaviours.show.push({ tookMs: 60_000, killed: true, code: 143, reachesBar: true });
		desk.cycle.show(turn(0));
		await desk.advance(8_000);
		expect(desk.shown).toBe("spinner");
		await desk.advance(2_060);
		expect(desk.shown).toBeUndefined();
		expect(desk.story).toEqual(["error turn 0 unreachable", "cleared turn 0"]);
	});

	test("a CLI that was killed has failed although it exited 0", async () => {
		const desk = new AlertDesk();
		desk.behaviours.show.push({ tookMs: 60_000, killed: true, code: 0 });
		desk.cycle.show(turn(0));
		await desk.advance(8_000);
		expect(desk.story).toEqual(["error turn 0 unreachable"]);
	});

	test("a CLI that died by a signal has failed", async () => {
		const desk = new AlertDesk();
		desk.behaviours.show.push({ signal: "SIGSEGV" });
		desk.cycle.show(turn(0));
		await desk.advance(100);
		expect(desk.story).toEqual(["error turn 0 crashed"]);
	});

	test("late, the next alert of the same picture is drawn, for nobody knows whether it is there", async () => {
		const desk = new AlertDesk({ expiresAfter: false });
		desk.behaviours.show.push({ tookMs: 60_000, killed: true });
		desk.cycle.show(done(0));
		await desk.advance(8_500);
		desk.cycle.show({ ...done(1), isManual: true });
		await desk.advance(60);
		expect(desk.steps).toEqual(["show check"]);
		expect(desk.story).toEqual(["error turn 0 unreachable", "fired turn 1"]);
	});

	test("late, an answered question waits for the draw that may be parked all the same", async () => {
		const desk = new AlertDesk();
		desk.behaviours.show.push({ tookMs: 60_000, killed: true });
		const ticket = desk.cycle.show(question);
		await desk.advance(8_050);
		desk.cycle.withdraw(ticket);
		await desk.advance(1_900);
		expect(desk.steps).toEqual([]);
		await desk.advance(110);
		expect(desk.steps).toEqual(["clear"]);
	});

	test("late, the clear that fails after it does not double the back-off", async () => {
		const desk = new AlertDesk();
		desk.behaviours.show.push({ tookMs: 60_000, killed: true });
		desk.behaviours.clear.push(...Array.from({ length: 3 }, () => refusal("unreachable")));
		desk.cycle.show(turn(0));
		await desk.advance(8_000 + 30_000);
		expect(desk.story).toEqual(["error turn 0 unreachable", "error turn 0 unreachable"]);
		expect(await backingOff(desk)).toBe(false);
	});

	test("because the program is gone, it is looked for anew", async () => {
		const desk = new AlertDesk();
		desk.behaviours.show.push({ spawnError: "ENOENT" });
		desk.cycle.show(alertRequest({ command: "/opt/busybar" }));
		await desk.advance(100);
		expect(desk.forgotten).toEqual(["/opt/busybar"]);
		desk.forgotten.length = 0;
		desk.cycle.show(alertRequest({ command: "/opt/busybar", isManual: true }));
		await desk.advance(100);
		expect(desk.forgotten).toEqual(["/opt/busybar"]);
	});

	test("over a lit alert, that one is cleared", async () => {
		const desk = new AlertDesk();
		desk.behaviours.show.push({}, refusal("device"));
		desk.cycle.show(turn(0));
		await desk.advance(1_000);
		desk.cycle.show(done(1));
		await desk.advance(200);
		expect(desk.steps).toEqual(["show spinner", "clear"]);
		expect(desk.shown).toBeUndefined();
		expect(desk.story).toEqual(["fired turn 0", "error turn 1 device", "cleared turn 0"]);
	});

	test("because the file is bad, it is made anew and drawn, once", async () => {
		const bad = { code: 1, stderr: "Error: the .anim file is truncated" };
		const desk = new AlertDesk();
		desk.behaviours.show.push(bad);
		desk.cycle.show(turn(0));
		await desk.advance(500);
		expect(desk.discarded).toEqual(["/cache/spinner.anim"]);
		expect(desk.story).toEqual(["fired turn 0"]);

		const twice = new AlertDesk();
		twice.behaviours.show.push(bad, bad, bad);
		twice.cycle.show(turn(0));
		await twice.advance(20_000);
		expect(twice.story).toEqual(["error turn 0 bad_asset"]);
		expect(twice.behaviours.show).toHaveLength(1);
	});

	test("an absent bar is left alone for 30 s, 1, 2, then 5 minutes; a manual test ends that", async () => {
		const desk = new AlertDesk();
		for (const backoffMs of [30_000, 60_000, 120_000, 300_000, 300_000]) {
			desk.behaviours.show.push(refusal("unreachable"));
			desk.cycle.show(turn(0));
			await desk.advance(60);
			await desk.advance(backoffMs - 1);
			expect(await backingOff(desk)).toBe(true);
			await desk.advance(1);
			expect(await backingOff(desk)).toBe(false);
		}
		desk.behaviours.show.push(refusal("unreachable"));
		desk.cycle.show(turn(0));
		await desk.advance(100);
		await desk.cycle.forgetOutage(turn(0).target);
		desk.outcomes.forgetFailures();
		expect(await backingOff(desk)).toBe(false);
		expect(desk.outcomes.problem).toBeUndefined();
	});

	test("a verdict that is owed is tried within the back-off of an absent bar, not of what is no BUSY Bar", async () => {
		for (const [kind, tries] of [
			["unreachable", 3],
			["not_a_bar", 2],
		] as const) {
			const desk = new AlertDesk();
			desk.behaviours.show.push(refusal(kind), refusal(kind), refusal(kind));
			desk.cycle.show(done(0));
			await desk.advance(31_000);
			desk.cycle.show(done(1));
			await desk.advance(55_000);
			expect(await backingOff(desk)).toBe(true);
			desk.cycle.show({ ...done(1), owedSinceMs: 0 });
			await desk.advance(1_000);
			expect(3 - desk.behaviours.show.length).toBe(tries);
		}
	});

	test("an asset that cannot be made is one error row, and the next alert goes out", async () => {
		const desk = new AlertDesk();
		desk.assetFailures.push({ ok: false, failure: { kind: "bad_asset", message: "no" } });
		desk.cycle.show(turn(0));
		await desk.advance(100);
		desk.cycle.show(turn(1));
		await desk.advance(100);
		expect(desk.story).toEqual(["error turn 0 bad_asset", "fired turn 1"]);
	});

	test("of a manual test, its asker reads the outcome and gets no notice beside it", async () => {
		const desk = new AlertDesk();
		desk.behaviours.show.push(refusal("forbidden"));
		const ticket = desk.cycle.show(alertRequest({ isManual: true }));
		await desk.advance(100);
		expect(ticket.failure?.kind).toBe("forbidden");
		expect(desk.notices).toEqual([]);
	});

	test("in the same way again, it is told once", async () => {
		const desk = new AlertDesk();
		desk.behaviours.show.push(refusal("forbidden"), refusal("forbidden"));
		for (const index of [0, 1]) {
			desk.cycle.show(turn(index));
			await desk.advance(100);
		}
		expect(desk.story).toEqual(["error turn 0 forbidden", "error turn 1 forbidden"]);
		expect(desk.notices).toHaveLength(1);
	});

	test("between two sessions, nobody is told, and so the next one is", async () => {
		const desk = new AlertDesk();
		desk.behaviours.show.push(refusal("forbidden"), refusal("forbidden"));
		desk.stopListening();
		desk.cycle.show(turn(0));
		await desk.advance(100);
		expect(desk.told).toEqual([]);
	});

	test("the status line names the problem until an alert succeeds", async () => {
		const desk = new AlertDesk();
		desk.behaviours.show.push(refusal("forbidden"));
		desk.cycle.show(turn(0));
		await desk.advance(100);
		expect(desk.outcomes.problem).toBe("forbidden");
		expect(desk.notices).toHaveLength(1);
		desk.cycle.show(turn(1));
		await desk.advance(100);
		expect(desk.outcomes.problem).toBeUndefined();
		expect(desk.told).toEqual(["forbidden", "shown"]);
	});
});

describe("when the clear fails", () => {
	test("it is tried three times, spaced", async () => {
		const desk = new AlertDesk();
		desk.behaviours.clear.push(refusal("unreachable"), refusal("device"));
		desk.cycle.show(turn(0));
		await desk.advance(20_000);
		expect(desk.steps).toEqual(["show spinner", "clear"]);
		expect(desk.story).toEqual(["fired turn 0", "cleared turn 0"]);
		expect(desk.drawings[1]?.atMs).toBe(60 + 3_000 + 60 + 1_000 + 60 + 3_000 + 60);
	});

	test("an HTTP 400 means that nothing of ours is lit: cleared", async () => {
		const desk = new AlertDesk();
		const stderr = "Error: HTTP 400 this application_name is currently not displaying";
		desk.behaviours.clear.push({ code: 1, stderr }, refusal("unreachable"));
		desk.cycle.show(turn(0));
		await desk.advance(20_000);
		expect(desk.story).toEqual(["fired turn 0", "cleared turn 0"]);
		expect(desk.behaviours.clear).toHaveLength(1);
	});

	test("for good, it is owed and paid as soon as the bar answers, where the bar cannot end it by itself", async () => {
		const desk = new AlertDesk({ expiresAfter: false });
		desk.behaviours.clear.push(...Array.from({ length: 4 }, () => refusal("unreachable")));
		desk.cycle.show(turn(0));
		await desk.advance(20_000);
		expect(desk.story).toEqual(["fired turn 0", "error turn 0 unreachable"]);
		expect(desk.shown).toBe("spinner");
		await desk.advance(60_000);
		expect(desk.shown).toBe("spinner");
		await desk.advance(60_000);
		expect(desk.shown).toBeUndefined();
		expect(desk.story.at(-1)).toBe("cleared turn 0");
		expect(desk.clock.pendingTimers).toBe(0);
	});

	test("until the bar has ended the alert by itself, that is told, and nothing is owed", async () => {
		const desk = new AlertDesk();
		desk.behaviours.clear.push(...Array.from({ length: 4 }, () => ({ ...refusal("device"), tookMs: 400 })));
		desk.cycle.show(alertRequest({ holdSeconds: 1 }));
		await desk.advance(120_000);
		expect(desk.story).toEqual(["fired turn 0", "error turn 0 device"]);
		expect(desk.behaviours.clear).toHaveLength(1);
	});

	test("for more than an hour, it is given up", async () => {
		const desk = new AlertDesk({ expiresAfter: false });
		desk.behaviours.clear.push(...Array.from({ length: 100 }, () => refusal("unreachable")));
		desk.cycle.show(turn(0));
		await desk.advance(2 * 3_600_000);
		expect(desk.behaviours.clear).toHaveLength(100 - 3 - 60);
		expect(desk.clock.pendingTimers).toBe(0);
	});

	test("one is owed at a time, however many alerts could not be cleared, and paying it ends the outage", async () => {
		const desk = new AlertDesk({ expiresAfter: false });
		desk.behaviours.clear.push(...Array.from({ length: 20 }, () => refusal("unreachable")));
		for (let index = 0; index < 4; index += 1) {
			desk.cycle.show(alertRequest({ reason: `turn ${index}`, pattern: index % 2 ? "check" : "spinner" }));
			await desk.advance(10_000);
		}
		const tries = 20 - desk.behaviours.clear.length;
		await desk.advance(120_000);
		expect(20 - desk.behaviours.clear.length - tries).toBe(2);
		expect(desk.outcomes.problem).toBe("unreachable");
		desk.behaviours.clear.length = 0;
		await desk.advance(60_000);
		expect(desk.story.at(-1)).toBe("cleared turn 3");
		expect(desk.outcomes.problem).toBeUndefined();
	});

	test("of a manual test, it is told all the same: the command has answered already", async () => {
		const desk = new AlertDesk();
		desk.behaviours.clear.push(...Array.from({ length: 3 }, () => refusal("device")));
		desk.cycle.show(alertRequest({ isManual: true }));
		await desk.advance(20_000);
		expect(desk.notices).toEqual([expect.stringContaining("could not be cleared")]);
	});

	test("an owed clear that is under way is waited for before the next alert is drawn", async () => {
		const desk = new AlertDesk({ expiresAfter: false });
		desk.behaviours.clear.push(...Array.from({ length: 3 }, () => refusal("unreachable")), { tookMs: 2_000 });
		desk.cycle.show(turn(0));
		await desk.advance(60 + 3_000 + 180 + 4_000 + 60_000);
		desk.cycle.show(done(1));
		await desk.advance(3_000);
		expect(desk.steps).toEqual(["show spinner", "clear", "show check"]);
		expect(desk.shown).toBe("check");
	});

	test("the same picture is drawn again when an owed clear is under way: fired means lit", async () => {
		const desk = new AlertDesk({ expiresAfter: false });
		desk.behaviours.clear.push(...Array.from({ length: 3 }, () => refusal("unreachable")), { tookMs: 2_000 });
		desk.cycle.show(done(0));
		await desk.advance(60 + 3_000 + 180 + 4_000 + 60_000);
		desk.cycle.show(done(1));
		await desk.advance(2_500);
		expect(desk.story.at(-1)).toBe("fired turn 1");
		expect(desk.shown).toBe("check");
	});

	test("an owed clear that is under way is the only command until it ends, also when the address changes", async () => {
		const desk = new AlertDesk({ expiresAfter: false });
		desk.behaviours.clear.push(...Array.from({ length: 3 }, () => refusal("unreachable")), { tookMs: 2_000 });
		desk.cycle.show(turn(0));
		await desk.advance(60 + 3_000 + 180 + 4_000 + 60_000);
		desk.cycle.show(alertRequest({ addr: "10.9.9.9", reason: "turn 1" }));
		await desk.advance(2_500);
		expect(desk.most).toBe(1);
		expect(desk.steps).toEqual(["show spinner", "clear", "show spinner"]);
		expect(desk.story.slice(-2)).toEqual(["cleared turn 0", "fired turn 1"]);
	});

	test("pi that ends while an owed clear is under way cuts it off, with a draw that waits behind it", async () => {
		const desk = new AlertDesk({ expiresAfter: false });
		desk.behaviours.clear.push(...Array.from({ length: 3 }, () => refusal("unreachable")), { tookMs: 2_000 });
		desk.cycle.show(turn(0));
		await desk.advance(60 + 3_000 + 180 + 4_000 + 60_000);
		desk.cycle.show(done(1));
		await desk.advance(100);
		expect(desk.part()).toMatchObject({ delayMs: 0 });
		await desk.advance(20_000);
		expect(desk.aborted).toBe(1);
		expect(desk.steps).toEqual(["show spinner"]);
		expect(desk.story.slice(-2)).toEqual(["skipped turn 1 withdrawn", "cleared turn 0"]);
		expect(desk.cycle.busy).toBe(false);
	});

	test("nothing is owed once the bar has ended it by itself", async () => {
		const desk = new AlertDesk();
		desk.behaviours.clear.push(...Array.from({ length: 9 }, () => refusal("unreachable")));
		desk.cycle.show(turn(0));
		await desk.advance(200_000);
		expect(desk.behaviours.clear).toHaveLength(6);
		expect(desk.part()).toBeUndefined();
		expect(desk.clock.pendingTimers).toBe(0);
	});
});

describe("when pi ends", () => {
	test("with nothing on the bar, nothing is left to clear", async () => {
		const desk = new AlertDesk();
		expect(desk.part()).toBeUndefined();
		desk.cycle.show(turn(0));
		await desk.advance(20_000);
		expect(desk.part()).toBeUndefined();
	});

	test("during a hold, one clear is left to do, and the cycle does none of its own", async () => {
		const desk = new AlertDesk();
		desk.cycle.show(turn(0));
		await desk.advance(1_000);
		expect(desk.part()).toMatchObject({ delayMs: 0, target: { applicationName: "pi-turn-alert" } });
		expect(desk.part()).toBeUndefined();
		await desk.advance(20_000);
		expect(desk.steps).toEqual(["show spinner"]);
	});

	test("a draw that still waits for other pis is not drawn afterwards, and has one row", async () => {
		for (const when of ["now", "after_hold"] as const) {
			const desk = new AlertDesk();
			const { promise, resolve } = Promise.withResolvers<void>();
			const { target } = done(0);
			void desk.bar.records.change(target, async (record) => promise.then(() => ({ record, value: undefined })));
			desk.cycle.show(done(0));
			await desk.advance(100);
			expect(desk.part(when)).toBeUndefined();
			resolve();
			await desk.advance(10_000);
			expect(desk.drawings).toEqual([]);
			expect(desk.story).toHaveLength(1);
		}
	});

	test("during a draw, the clear comes two seconds later", async () => {
		const desk = new AlertDesk();
		desk.cycle.show(turn(0));
		await desk.advance(30);
		expect(desk.part()).toMatchObject({ delayMs: 2_000 });
	});

	test("during a draw, that draw is cut off, so that it cannot come after the clear", async () => {
		const desk = new AlertDesk();
		desk.behaviours.show.push({ tookMs: 5_000 });
		desk.cycle.show(turn(0));
		await desk.advance(1_000);
		desk.part();
		await desk.advance(20_000);
		expect(desk.aborted).toBe(1);
		expect(desk.steps).toEqual([]);
		// That is no failure of the bar's.
		expect(desk.story).toEqual(["cleared turn 0"]);
		expect(desk.told).toEqual([]);
		expect(await backingOff(desk)).toBe(false);
		expect(desk.cycle.busy).toBe(false);
	});

	test("soon after a draw that failed late, the clear waits for the parked draw", async () => {
		const desk = new AlertDesk();
		desk.behaviours.show.push({ tookMs: 60_000, killed: true });
		desk.cycle.show(turn(0));
		await desk.advance(8_500);
		expect(desk.part()).toMatchObject({ delayMs: 2_000 });
	});

	test("while the record of the bar is written after a draw or a clear, its row is not lost, and there is no other", async () => {
		for (const [slowFromMs, when, rows] of [
			[0, "now", ["fired turn 0", "cleared turn 0"]],
			[0, "after_hold", ["fired turn 0", "cleared turn 0"]],
			[1_000, "now", ["fired turn 0", "cleared turn 0"]],
		] as const) {
			const { promise: isWritten, resolve: written } = Promise.withResolvers<void>();
			class SlowDisk extends MemoryBarStore {
				isSlow = slowFromMs === 0;
				override async change<T>(...args: Parameters<BarStore["change"]>): Promise<T> {
					const value = (await super.change(...args)) as T;
					if (this.isSlow) await isWritten;
					return value;
				}
			}
			const disk = new SlowDisk();
			const desk = new AlertDesk({}, new DeskBar(disk));
			desk.cycle.show(turn(0));
			await desk.advance(slowFromMs);
			disk.isSlow = true;
			await desk.advance(slowFromMs === 0 ? 500 : 5_000);
			expect(desk.steps).toEqual(slowFromMs === 0 ? ["show spinner"] : ["show spinner", "clear"]);
			expect(desk.part(when)?.redraw).toBeUndefined();
			written();
			await desk.advance(20_000);
			expect(desk.story).toEqual(rows);
			expect(desk.rows.at(-1)).toMatchObject({ detached: true });
		}
	});

	test("during a clear, that one is cut off, and there is one row", async () => {
		const desk = new AlertDesk();
		desk.behaviours.clear.push({ tookMs: 4_000 });
		desk.cycle.show(turn(0));
		await desk.advance(60 + 3_000 + 1_000);
		expect(desk.part()).toMatchObject({ delayMs: 0 });
		await desk.advance(20_000);
		expect(desk.aborted).toBe(1);
		expect(desk.story).toEqual(["fired turn 0", "cleared turn 0"]);
	});

	test("while the picture is being made, the alert is dropped with a row", async () => {
		const desk = new AlertDesk();
		desk.assetTookMs = 1_000;
		desk.cycle.show(turn(0));
		await desk.advance(500);
		expect(desk.part()).toBeUndefined();
		await desk.advance(20_000);
		expect(desk.steps).toEqual([]);
		expect(desk.story).toEqual(["skipped turn 0 withdrawn"]);
	});

	test("what waits is dropped, and both have their row", async () => {
		const desk = new AlertDesk();
		desk.cycle.show(turn(0));
		await desk.advance(30);
		desk.cycle.show(done(1));
		desk.part();
		await desk.advance(20_000);
		expect(desk.story.slice(0, 2)).toEqual(["skipped turn 1 superseded", "cleared turn 0"]);
		expect(desk.rows[1]).toMatchObject({ detached: true });
		expect(desk.clock.pendingTimers).toBe(0);
	});

	test("an alert may have its time first", async () => {
		const desk = new AlertDesk();
		desk.cycle.show(turn(0));
		await desk.advance(1_060);
		expect(desk.part("after_hold")).toMatchObject({ delayMs: 2_000 });
	});

	test("`clearOnShutdown` off leaves the alert to the bar, but not with a CLI that cannot let it expire", async () => {
		const request = alertRequest({ clearOnShutdown: false });
		const expiring = new AlertDesk();
		expiring.cycle.show(request);
		await expiring.advance(1_000);
		expect(expiring.part()).toBeUndefined();
		const lasting = new AlertDesk({ expiresAfter: false });
		lasting.cycle.show(request);
		await lasting.advance(1_000);
		expect(lasting.part()).toBeDefined();
	});
});

test("whatever the CLI does, the cycle never rejects, unlocks, and leaves nothing lit", async () => {
	const outcomes = [
		{},
		{ spawnError: "ENOENT" },
		{ killed: true, code: 0, tookMs: 99_999 },
		{ killed: true, code: 143, tookMs: 99_999, reachesBar: true },
		{ signal: "SIGKILL" as const },
		{ code: 1, stderr: "\x1b[31mError: HTTP 403\x1b[0m\u202e" },
		{ code: 2, stderr: "" },
		refusal("preempted"),
		refusal("unreachable"),
		refusal("device"),
	];
	for (const show of outcomes) {
		for (const clear of outcomes) {
			for (const expiresAfter of [true, false]) {
				const desk = new AlertDesk({ expiresAfter });
				desk.behaviours.show.push(show);
				desk.behaviours.clear.push(clear, clear);
				const ticket = desk.cycle.show(turn(0));
				await desk.advance(60_000);
				await ticket.decided;
				expect(desk.cycle.busy).toBe(false);
				expect(desk.shown).toBeUndefined();
			}
		}
	}
});

test("a bug in a port costs the alert, not pi, and the next alert goes out", async () => {
	const desk = new AlertDesk();
	const { choice } = desk;
	desk.choice = undefined as never;
	const ticket = desk.cycle.show(turn(0));
	await desk.advance(100);
	expect(ticket.status).toBe("failed");
	expect(desk.story).toEqual(["error turn 0 unknown"]);
	desk.choice = choice;
	desk.cycle.show(turn(1));
	await desk.advance(100);
	expect(desk.story.at(-1)).toBe("fired turn 1");
});
