// Act: pi is killed while its alert is lit, so nobody is left to clear it.

import { setTimeout as delay } from "node:timers/promises";
import { brightest, Film } from "../pictures/film.ts";
import { untilDark, untilLit } from "../support/pi-desk.ts";
import { seconds } from "./report.ts";
import { eventAt, HOLD_SECONDS, type Stage } from "./stage.ts";

/** How long the bar keeps the alert: the hold time, rounded up, and 5 s. */
const EXPIRY_SECONDS = Math.ceil(HOLD_SECONDS) + 5;
/** How late the film may notice that the bar is dark. */
const LOOK_MS = 500;

export async function killed(stage: Stage): Promise<void> {
	const { bar, report } = stage;
	const before = (await bar.journal()).length;
	const film = new Film(bar);
	const pi = await stage.startPi({ script: [{ text: "It is done." }] });
	const events = await pi.prompt("please");
	await untilLit(bar);
	await delay(1000);
	const killedMs = Date.now();
	pi.terminal.kill("SIGKILL");
	await pi.terminal.exit;
	await untilDark(bar);
	await film.stop();

	const journal = (await bar.journal()).slice(before);
	const draw = journal.find(({ method, path }) => method === "POST" && path === "/api/display/draw");
	if (!draw) throw new Error("The alert was not drawn.");
	const orphaned = brightest(film.shots.filter(({ atMs }) => atMs > killedMs));
	if (orphaned) stage.picture("orphaned", orphaned);
	const darkMs = film.darkAfter(draw.at) ?? Number.POSITIVE_INFINITY;
	const startedMs = eventAt(events, "input");
	report.table(
		[
			[seconds(0), "pi gets the prompt"],
			[seconds(draw.at - startedMs), "the bar is lit"],
			[seconds(killedMs - startedMs), "kill -9"],
			[seconds(darkMs - startedMs), "the bar is dark"],
		],
		[0],
	);
	report.line();
	const clears = journal.filter(({ method }) => method === "DELETE").length;
	report.promise("Nobody had to clear the bar", clears === 0, `${clears} clears`);
	report.promise(
		`Dark within hold time + 5 s (${EXPIRY_SECONDS} s)`,
		darkMs - draw.at < EXPIRY_SECONDS * 1000 + LOOK_MS,
		`${seconds(darkMs - draw.at)} after it was drawn`,
	);
}
