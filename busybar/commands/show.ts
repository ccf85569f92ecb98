/** `show`: puts an `.anim` on the bar, uploading it only if the bar does not have it. Reads one file; touches the network. */

import { basename, extname } from "node:path";
import type { Animation } from "../anim/animation.ts";
import { isZip, openAnimation } from "../anim/open.ts";
import { type BarOptions, BusyBar, isRefusal, notABar } from "../bar.ts";
import { CommandError } from "../command-error.ts";
import { type Display, displays } from "../displays.ts";
import { readInput } from "../files.ts";
import { quote } from "../options.ts";
import type { Row } from "../output.ts";

export interface ShowOptions {
	readonly input: string;
	readonly applicationName: string;
	readonly display: Display;
	readonly priority: number;
	readonly loop: boolean;
	readonly section: string;
	readonly awaitPreviousEnd: boolean;
	/** Seconds; when given, the bar itself removes the element after this time. */
	readonly expiresAfter?: number;
	/** False: the bar has the file already, and is not asked for it. */
	readonly upload: boolean;
}

/** Always the same, so that a second `show` replaces the first and `--await-previous-end` finds it. */
const elementId = "animation";
/** The longest file name that every firmware accepts. */
const maxNameLength = 31;

export async function show(options: ShowOptions, barOptions: BarOptions): Promise<Row[]> {
	const started = performance.now();
	const { input, applicationName, display } = options;
	const file = readInput("--input", input);
	if (isZip(file)) {
		throw new CommandError(`show requires a compiled .anim, and ${quote(input)} is a source zip; run compile first.`);
	}
	const { animation } = await openAnimation(quote(input), file);
	requireShowable(animation, options);

	const bar = new BusyBar(barOptions);
	const path = assetName(input, file);
	const present = !options.upload || (await holds(bar, barOptions.address.text, applicationName, path, file.length));
	if (!present) {
		const query = { application_name: applicationName, file: path };
		const body = { type: "application/octet-stream", bytes: file };
		bar.accept(await bar.request("POST", "/api/assets/upload", query, body));
	}
	const draw = {
		application_name: applicationName,
		priority: options.priority,
		elements: [
			{
				id: elementId,
				type: "animation",
				path,
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
	// What is left for the bar to dislike: another display or type of element under our id.
	bar.accept(await bar.request("POST", "/api/display/draw", {}, body), "clear what this application shows first");
	return [
		{
			status: "ok",
			file: path,
			uploaded: !present,
			bytes: file.length,
			ms: Math.round(performance.now() - started),
		},
	];
}

/** The bar answers 200 to a drawing that it cannot show, so this is the only place to notice. */
function requireShowable(animation: Animation, { input, display, section }: ShowOptions): void {
	const panel = displays[display];
	if (animation.width > panel.width || animation.height > panel.height) {
		throw new CommandError(
			`${quote(input)} is ${animation.width}x${animation.height}, and the ${display} display is ` +
				`${panel.width}x${panel.height}; create it for this display.`,
		);
	}
	const names = animation.sections.map(({ name }) => name);
	if (!names.includes(section)) {
		throw new CommandError(`${quote(input)} has no section ${quote(section)}; it has ${names.map(quote).join(", ")}.`);
	}
}

/** By content, so that another picture never meets an old file: rewriting one fails while it plays. */
function assetName(input: string, file: Uint8Array): string {
	const suffix = `-${process.getBuiltinModule("node:crypto").hash("sha256", file).slice(0, 8)}.anim`;
	const stem = basename(input, extname(input)).replace(/[^A-Za-z0-9._-]+/g, "_");
	return stem.replace(/^\.+/, "").slice(0, maxNameLength - suffix.length) + suffix;
}

/** Compared by size too: an aborted upload leaves a partial file under the right name. */
async function holds(
	bar: BusyBar,
	address: string,
	applicationName: string,
	name: string,
	bytes: number,
): Promise<boolean> {
	const reply = await bar.request("GET", "/api/storage/list", { path: `/ext/user_assets/${applicationName}` });
	// The folder does not exist before the first upload. What is no bar must not get the file, and the key again.
	if ((reply.status === 400 || reply.status === 404) && isRefusal(reply)) return false;
	const { list } = bar.accept(reply);
	if (!Array.isArray(list)) throw notABar(address);
	return list.some((entry: unknown) => Object(entry).name === name && Object(entry).size === bytes);
}
