/**
 * The endpoints under `/_sim/`, which a real bar does not have: what the bar shows, faults, BUSY timer, buttons. They
 * need no access key, and work in spite of faults.
 */

import { parseObject } from "../json.ts";
import { type Answer, json, ok, pressKey } from "./api.ts";
import type { Bar, Faults } from "./bar.ts";
import type { JournalEntry } from "./journal.ts";
import { isLit, packBack, packFront } from "./picture.ts";

/** Everything there is to see, in one answer. */
export interface LiveView {
	readonly api: string;
	readonly canvas: {
		/** `null` while the canvas is idle. */
		readonly applicationName: string | null;
		readonly priority: number;
		readonly elements: readonly ElementState[];
	};
	/** A refused draw that may still appear. */
	readonly parked: { readonly applicationName: string; readonly priority: number; readonly remainingMs: number } | null;
	readonly loaderPriority: number;
	readonly busy: boolean;
	readonly lit: { readonly front: boolean; readonly back: boolean };
	readonly faults: Faults;
	/** Pixels in base64, as in `/api/screen`. */
	readonly front: string;
	readonly back: string;
	readonly journal: readonly JournalEntry[];
}

interface ElementState {
	readonly id: string;
	readonly type: string;
	readonly display: string;
	/** `null` if the element stays until it is cleared. */
	readonly remainingMs: number | null;
	/** Of an animation or image. */
	readonly file: string | null;
	/** An animation that the bar cannot load. */
	readonly loadError: boolean;
}

export function control(bar: Bar, method: string, url: URL, body: string): Answer {
	switch (`${method} ${url.pathname}`) {
		case "GET /_sim/live":
			return json(liveView(bar, Number(url.searchParams.get("after") ?? 0)));
		case "POST /_sim/faults":
			return setFaults(bar, body);
		case "POST /_sim/busy":
			if (url.searchParams.get("on") === "true") bar.busy.start();
			else bar.busy.stop();
			return ok();
		case "POST /_sim/key":
			return pressKey(bar, url.searchParams.get("key") ?? "");
		default:
			return json({ error: `The simulated bar has no ${method} ${url.pathname}` }, 404);
	}
}

function liveView(bar: Bar, afterRevision: number): LiveView {
	const { canvas, clock, decoder, storage } = bar;
	const now = clock.now();
	const [front, back] = [bar.screen("front"), bar.screen("back")];
	return {
		api: bar.model.apiSemver,
		canvas: {
			applicationName: canvas.applicationName ?? null,
			priority: canvas.priority,
			elements: canvas.elements.map(({ element, expiresAtMs }) => ({
				id: element.id,
				type: element.type,
				display: element.display,
				remainingMs: expiresAtMs === undefined ? null : expiresAtMs - now,
				file: "file" in element ? element.file : null,
				loadError: element.type === "animation" && decoder.animation(storage.read(element.file)) === undefined,
			})),
		},
		parked: canvas.parked
			? {
					applicationName: canvas.parked.request.applicationName,
					priority: canvas.parked.request.priority,
					remainingMs: canvas.parked.refusedAtMs - now,
				}
			: null,
		loaderPriority: canvas.loaderPriority,
		busy: bar.busy.isActive,
		lit: { front: isLit(front), back: isLit(back) },
		faults: bar.faults,
		front: Buffer.from(packFront(front)).toString("base64"),
		back: Buffer.from(packBack(back)).toString("base64"),
		journal: bar.journal.entries(afterRevision),
	};
}

/** The body replaces all faults; `{}` ends them. */
function setFaults(bar: Bar, body: string): Answer {
	const wanted = parseObject(body);
	if (wanted === undefined) return json({ error: "Send the faults as a JSON object" }, 400);
	const faults: Record<string, number | boolean> = {};
	for (const [name, value] of Object.entries(wanted)) {
		const isCount = name === "slowMs" || name === "wedgeAfterWrites";
		const isSwitch = name === "hang" || name === "reset" || name === "loseReplies";
		if (isCount && typeof value === "number" && value >= 0) faults[name] = value;
		else if (isSwitch && typeof value === "boolean") faults[name] = value;
		else return json({ error: `There is no fault "${name}" with the value ${JSON.stringify(value)}` }, 400);
	}
	bar.faults = faults;
	return json(bar.faults);
}
