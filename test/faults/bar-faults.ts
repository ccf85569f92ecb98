// What can be wrong with the bar, or with the way to it.

import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ASKING, ask, say } from "../support/steps.ts";
import { fakeCli } from "./fake-cli.ts";
import type { Fault } from "./fault.ts";
import type { Scene } from "./scene.ts";
import {
	answers,
	answersLate,
	breaksOff,
	CLEAR,
	DRAW,
	drips,
	hangsUp,
	losesReply,
	neverAnswers,
	neverEnds,
	resets,
	speaksSsh,
	UPLOAD,
	type WireFault,
} from "./wire.ts";

const SHOWN = ["fired agent settled", "cleared agent settled"];
const WITHDRAWN = ["skipped agent settled withdrawn"];
/** A verdict that is owed is shown within a minute. */
const OWED_LIMIT_MS = 65_000;
const ACCESS_KEY = "8642097531";

/** The bar refuses a request, for good. */
function refused(name: string, on: RegExp, status: number, body: object, said: RegExp): Fault {
	return {
		name,
		arrange: (scene) => scene.wire.set(answers(status, body), { on }),
		expect: { log: ["error agent settled device"], notices: [said], neverSaid: /No BUSY Bar at/ },
	};
}

/** No answer of a bar, however long one waits. */
function unreachable(name: string, fault: WireFault, why: RegExp, { isLate }: { isLate: boolean }): Fault {
	return {
		name,
		arrange: (scene) => scene.wire.set(fault, { on: DRAW }),
		expect: {
			log: ["error agent settled unreachable", ...(isLate ? ["cleared agent settled"] : [])],
			logAtEnd: WITHDRAWN,
			notices: [why],
		},
	};
}

/** Something answers that is no BUSY Bar. */
function notABar(name: string, fault: WireFault): Fault {
	return {
		name,
		settings: { token: ACCESS_KEY },
		bar: { token: ACCESS_KEY },
		arrange: (scene) => scene.wire.set(fault),
		expect: {
			log: ["error agent settled not_a_bar"],
			notices: [/127\.0\.0\.1:\d+.*not a BUSY Bar/],
			neverSaid: new RegExp(`${ACCESS_KEY}|set .token|power-cycle|No BUSY Bar at`),
		},
	};
}

function otherApplication({ bar }: Scene, priority: number): void {
	const element = {
		id: "theirs",
		type: "text",
		display: "front",
		x: 0,
		y: 0,
		align: "top_left",
		timeoutSeconds: 0,
		text: "theirs",
		font: "small",
		color: [255, 255, 255, 255],
	};
	// Only what the canvas looks at.
	const request = { applicationName: "other", priority, elements: [element] } as unknown as Parameters<
		typeof bar.bar.canvas.draw
	>[0];
	bar.bar.canvas.draw(request, () => undefined);
}

const PORTAL = "<html><body>Please log in to the hotel's network</body></html>";

export const BAR_FAULTS: readonly Fault[] = [
	refused("400 to the draw", DRAW, 400, { error: "Bad Request" }, /HTTP 400 Bad Request/),
	refused("408 to the upload", UPLOAD, 408, { error: "Upload timeout" }, /HTTP 408 Upload timeout/),
	refused("413 to the upload", UPLOAD, 413, { error: "Payload Too Large" }, /HTTP 413 Payload Too Large/),
	refused("503 to the draw", DRAW, 503, { error: "Storage error" }, /HTTP 503 Storage error/),
	refused(
		"508 to every upload",
		UPLOAD,
		508,
		{ error: "Failed to open file for writing" },
		/HTTP 508 Failed to open file for writing/,
	),
	refused("508 to the draw", DRAW, 508, { error: "Resource Limit Reached" }, /HTTP 508 Resource Limit Reached/),
	refused("200 with an error in it", DRAW, 200, { error: "Nothing to display" }, /Nothing to display/),
	{
		name: "508 to the first upload",
		arrange: (scene) =>
			scene.wire.set(answers(508, { error: "Failed to open file for writing" }), { on: UPLOAD, times: 1 }),
		expect: { log: SHOWN },
	},
	{
		name: "403: access over Wi-Fi is off",
		bar: { access: "disabled" },
		expect: {
			log: ["error agent settled forbidden"],
			notices: [/refused access \(HTTP 403\).*Wi-Fi is off.*access key is missing or wrong/],
		},
	},
	{
		name: "403: a wrong access key",
		settings: { token: ACCESS_KEY },
		bar: { access: "key", token: "1234567" },
		expect: {
			log: ["error agent settled forbidden"],
			notices: [/refused access \(HTTP 403\).*Wi-Fi is off.*access key is missing or wrong/],
			neverSaid: new RegExp(ACCESS_KEY),
		},
	},
	{
		name: "the bar repeats the access key in its refusal",
		settings: { token: ACCESS_KEY },
		bar: { token: ACCESS_KEY },
		arrange: (scene) => scene.wire.set(answers(400, { error: `Not with ${ACCESS_KEY}` }), { on: DRAW }),
		expect: {
			log: ["error agent settled device"],
			notices: [/HTTP 400 Not with \[token\]/],
			neverSaid: new RegExp(ACCESS_KEY),
		},
	},
	{
		name: "409 after 1.5 s: a higher priority is on the bar",
		arrange: (scene) => otherApplication(scene, 90),
		expect: { log: ["error agent settled preempted"], logAtEnd: WITHDRAWN },
	},
	{
		name: "409: a BUSY timer, which ends",
		isSlow: true,
		play: async (scene) => {
			scene.bar.bar.busy.start();
			const pi = await scene.start();
			await scene.prompt(pi);
			await scene.logged(1);
			await delay(10_000);
			scene.bar.bar.busy.stop();
			const endedMs = Date.now();
			await scene.logged(3, OWED_LIMIT_MS);
			const [fired] = (await scene.rows()).filter(({ outcome }) => outcome === "fired");
			const lateMs = Date.parse(fired?.ts ?? "") - endedMs;
			if (lateMs > 60_000) throw new Error(`shown ${lateMs} ms after the timer's end`);
		},
		expect: { log: ["error agent settled preempted", ...SHOWN] },
	},
	{
		name: "a BUSY timer begins in the hold",
		settings: { holdSeconds: 4 },
		play: async (scene) => {
			const pi = await scene.start();
			await scene.prompt(pi);
			await scene.untilLit();
			scene.bar.bar.busy.start();
			await scene.logged(2);
		},
		expect: { log: SHOWN },
	},
	{
		name: "another application takes the bar in the hold",
		settings: { holdSeconds: 3 },
		play: async (scene) => {
			const pi = await scene.start();
			await scene.prompt(pi);
			await scene.untilLit();
			otherApplication(scene, 90);
			await scene.logged(2);
			if (scene.bar.bar.canvas.applicationName !== "other")
				throw new Error("what another application shows was cleared");
		},
		expect: { log: SHOWN },
	},
	{
		name: "the alert is dismissed at the bar",
		settings: { holdSeconds: 3 },
		play: async (scene) => {
			const pi = await scene.start();
			await scene.prompt(pi);
			await scene.untilLit();
			scene.bar.bar.canvas.clear();
			await scene.logged(2);
		},
		expect: { log: SHOWN },
	},
	{
		name: "refused, and again in the back-off",
		arrange: (scene) => scene.wire.close(),
		play: async (scene, options) => {
			const pi = await scene.start(options);
			await scene.prompt(pi);
			await scene.logged(1);
			await scene.prompt(pi);
			await scene.logged(3);
		},
		expect: {
			log: ["error agent settled unreachable", ...WITHDRAWN, "skipped agent settled backoff"],
			logAtEnd: WITHDRAWN,
			notices: [/No BUSY Bar at 127\.0\.0\.1:\d+: connection refused/],
		},
	},
	unreachable("reset", resets, /connection lost/, { isLate: true }),
	unreachable("hung up without an answer", hangsUp, /connection lost/, { isLate: true }),
	unreachable("an answer that breaks off", breaksOff, /connection lost/, { isLate: true }),
	unreachable("black hole: taken, never answered", neverAnswers, /no answer in time/, { isLate: true }),
	unreachable("a dripping answer", drips, /no answer in time/, { isLate: true }),
	{
		name: "black hole for every request, until pi has ended",
		isSlow: true,
		arrange: (scene) => scene.wire.set(neverAnswers),
		play: async (scene, options) => {
			const pi = await scene.start(options);
			await scene.prompt(pi);
			await scene.logged(1);
		},
		expect: {
			log: ["error agent settled unreachable"],
			logAtEnd: ["skipped agent settled withdrawn", "cleared agent settled detached"],
			inAnyOrder: true,
			notices: [/no answer in time/],
		},
	},
	{
		name: "the draw takes effect, its answer is lost",
		arrange: (scene) => scene.wire.set(losesReply, { on: DRAW, times: 1 }),
		expect: {
			log: ["error agent settled unreachable", "cleared agent settled"],
			logAtEnd: WITHDRAWN,
			notices: [/connection lost/],
			shown: 1,
		},
	},
	{
		name: "the draw takes effect, its answer comes after 3 s",
		arrange: (scene) => scene.wire.set(answersLate(3_000), { on: DRAW }),
		expect: { log: SHOWN },
	},
	{
		name: "every answer comes after 2 s",
		arrange: (scene) => scene.wire.set(answersLate(2_000)),
		expect: { log: SHOWN },
	},
	notABar("an endless answer", neverEnds),
	notABar("another protocol", speaksSsh),
	notABar("a portal: 200 with HTML", answers(200, PORTAL)),
	notABar("a portal: 302 with HTML", answers(302, PORTAL)),
	notABar("a proxy: 403 with HTML", answers(403, PORTAL)),
	notABar("a proxy: 502 with HTML", answers(502, PORTAL)),
	notABar("another service: 404 with JSON of its own", answers(404, { message: "no such route" })),
	{
		name: "the clear is answered 503, once",
		arrange: (scene) => scene.wire.set(answers(503, { error: "busy" }), { on: CLEAR, times: 1 }),
		expect: { log: SHOWN },
	},
	{
		name: "the clear is answered 503, always",
		arrange: (scene) => scene.wire.set(answers(503, { error: "busy" }), { on: CLEAR }),
		play: async (scene) => {
			const pi = await scene.start();
			await scene.prompt(pi);
			await scene.logged(2);
			await scene.untilDark();
			// Only the bar knows exactly when its timer ends.
			await delay(2_000);
		},
		expect: {
			log: ["fired agent settled", "error agent settled device"],
			notices: [/could not be cleared.*HTTP 503/],
			or: [{ log: SHOWN, notices: [] }],
		},
	},
	{
		name: "the bar goes away in the hold, and is back after 3 s",
		settings: { holdSeconds: 2 },
		play: async (scene) => {
			const pi = await scene.start();
			await scene.prompt(pi);
			await scene.logged(1);
			await scene.wire.close();
			await delay(4_000);
			await scene.wire.open();
			await scene.logged(2);
		},
		expect: { log: SHOWN },
	},
	{
		name: "the bar goes away in the hold for longer than its timer",
		settings: { holdSeconds: 1 },
		play: async (scene) => {
			const pi = await scene.start();
			await scene.prompt(pi);
			await scene.logged(1);
			await scene.wire.close();
			await scene.logged(2);
			await scene.untilDark();
			await scene.wire.open();
			await scene.prompt(pi);
			await scene.logged(4);
		},
		expect: {
			log: ["fired agent settled", "error agent settled unreachable", ...SHOWN],
			notices: [/could not be cleared\. No BUSY Bar at/],
			// The tries took until the bar's timer had ended it.
			or: [{ log: [...SHOWN, ...SHOWN], notices: [] }],
		},
	},
	{
		name: "the bar goes away in the hold, with a CLI that cannot let an alert expire",
		isSlow: true,
		play: async (scene) => {
			const folder = join(scene.desk.home.dir, "path");
			fakeCli(folder, { isPlain: true });
			const pi = await scene.start({ pathDirs: [folder] });
			await scene.prompt(pi);
			await scene.logged(1);
			await scene.wire.close();
			await scene.logged(2);
			await scene.wire.open();
			await scene.logged(3, OWED_LIMIT_MS);
		},
		expect: {
			log: ["fired agent settled", "error agent settled unreachable", "cleared agent settled"],
			notices: [/could not be cleared/],
			// Three tries in 4 s, and then one a minute.
			beyondLimitSeconds: 70,
		},
	},
	{
		name: "the bar is away at the verdict, and back after 10 s",
		isSlow: true,
		arrange: (scene) => scene.wire.close(),
		play: async (scene) => {
			const pi = await scene.start();
			await scene.prompt(pi);
			await scene.logged(1);
			await delay(10_000);
			await scene.wire.open();
			await scene.logged(3, OWED_LIMIT_MS);
		},
		expect: { log: ["error agent settled unreachable", ...SHOWN], notices: [/connection refused/] },
	},
	{
		name: "the bar reboots during a question",
		isSlow: true,
		play: async (scene) => {
			const script = [ask("select"), say("Then left it is.")];
			const pi = await scene.start({ script, extensions: [ASKING] });
			await pi.prompt("please");
			await scene.untilLit();
			await delay(1_000);
			await scene.wire.close();
			scene.bar.bar.canvas.clear();
			const bootedMs = Date.now();
			await delay(3_000);
			await scene.wire.open();
			await scene.untilLit();
			const darkMs = Date.now() - bootedMs;
			if (darkMs > 30_500) throw new Error(`shown again only after ${darkMs} ms`);
			const asked = await pi.waitFor(({ method }) => method === "select");
			scene.answeredMs = Date.now();
			pi.send({ type: "extension_ui_response", id: asked.id, value: "left" });
			await scene.logged(3);
			await scene.untilDark();
		},
		expect: {
			log: ["fired question: select", ...SHOWN],
			// The answer's clear was faster than the verdict.
			or: [{ log: ["fired question: select", "cleared question: select", ...SHOWN] }],
		},
	},
	{
		name: "a bar whose HTTP server dies after two uploads",
		isSlow: true,
		bar: { faults: { wedgeAfterWrites: 1 } },
		isNewMachine: true,
		play: async (scene) => {
			const pi = await scene.start();
			await scene.prompt(pi);
			await scene.logged(1);
		},
		expect: {
			log: ["error agent settled unreachable"],
			logAtEnd: ["skipped agent settled withdrawn", "cleared agent settled detached"],
			inAnyOrder: true,
			notices: [/no answer in time/],
		},
	},
];
