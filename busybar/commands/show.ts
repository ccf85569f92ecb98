/** `show`: puts an `.anim` on the bar, and uploads it if the bar does not have it. Reads one file; uses the network. */

import type { Animation } from "../anim/animation.ts";
import { isZip, openAnimation } from "../anim/open.ts";
import { assetName, provideAsset } from "../asset.ts";
import { type BarOptions, BusyBar } from "../bar.ts";
import { CommandError } from "../command-error.ts";
import { type Display, displays } from "../displays.ts";
import { readInput } from "../files.ts";
import { quote } from "../options.ts";
import type { Row } from "../output.ts";
import { isProcessAlive } from "../process-alive.ts";

export interface ShowOptions {
	readonly input: string;
	readonly applicationName: string;
	readonly display: Display;
	readonly priority: number;
	readonly loop: boolean;
	readonly section: string;
	readonly awaitPreviousEnd: boolean;
	/** Seconds after which the bar itself removes the drawing. */
	readonly expiresAfter?: number;
	/** False: the bar has the file already, and is not asked for it. */
	readonly upload: boolean;
	/** The process without which nothing is drawn. */
	readonly whilePid?: number;
}

/** What `show` needs of this machine. */
export interface Machine {
	readonly isAlive: (pid: number) => boolean;
	readonly sleep: (ms: number) => Promise<void>;
}

const thisMachine: Machine = {
	isAlive: isProcessAlive,
	sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};

/** Always the same, so that a second `show` replaces the first and `--await-previous-end` finds it. */
const elementId = "animation";

export async function show(options: ShowOptions, barOptions: BarOptions, machine = thisMachine): Promise<Row[]> {
	const started = performance.now();
	const { input, applicationName, display, whilePid } = options;
	const file = readInput("--input", input);
	if (isZip(file)) {
		throw new CommandError(`show requires a compiled .anim, but ${quote(input)} is a source zip; run compile first.`);
	}
	const { animation } = await openAnimation(quote(input), file);
	requireShowable(animation, options);

	const bar = new BusyBar(barOptions);
	const name = assetName(input, file);
	const asset = { applicationName, name, bytes: file };
	const uploaded = options.upload && (await provideAsset(bar, asset, machine.sleep));
	const draw = {
		application_name: applicationName,
		priority: options.priority,
		elements: [
			{
				id: elementId,
				type: "animation",
				path: name,
				x: 0,
				y: 0,
				display,
				section: options.section,
				loop: options.loop,
				await_previous_end: options.awaitPreviousEnd,
				...(options.expiresAfter === undefined ? {} : { timeout: options.expiresAfter }),
			},
		],
	};
	const body = { type: "application/json", bytes: new TextEncoder().encode(JSON.stringify(draw)) };
	// A draw that outlives the process it was for must not appear.
	const objection = () =>
		whilePid === undefined || machine.isAlive(whilePid)
			? undefined
			: new CommandError(`process ${whilePid} has ended, so nothing was drawn.`);
	const reply = await bar.request("POST", "/api/display/draw", {}, body, objection);
	// Only one reason for HTTP 400 is left: our id is in use on the other display or for another type of element.
	bar.confirm(reply, "clear the drawing of this application first");
	return [
		{
			status: "ok",
			file: name,
			uploaded,
			bytes: file.length,
			ms: Math.round(performance.now() - started),
		},
	];
}

/** The bar answers 200 even if it cannot show the animation, so this is the only place to find out. */
function requireShowable(animation: Animation, { input, display, section }: ShowOptions): void {
	const panel = displays[display];
	if (animation.width > panel.width || animation.height > panel.height) {
		throw new CommandError(
			`${quote(input)} is ${animation.width}x${animation.height}, but the ${display} display is ` +
				`${panel.width}x${panel.height}; create an animation for that display.`,
		);
	}
	const names = animation.sections.map(({ name }) => name);
	if (!names.includes(section)) {
		throw new CommandError(`${quote(input)} has no section ${quote(section)}; it has ${names.map(quote).join(", ")}.`);
	}
}
