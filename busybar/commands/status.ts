/** `status`: shows what answers at an address. Uses the network; changes nothing on the bar. */

import { type BarOptions, BusyBar } from "../bar.ts";
import { clean } from "../options.ts";
import type { Row } from "../output.ts";

export interface StatusOptions {
	/** If given, the row also says whether a draw would be shown. */
	readonly priority?: number;
	readonly applicationName: string;
}

export async function status({ priority, applicationName }: StatusOptions, options: BarOptions): Promise<Row[]> {
	const started = performance.now();
	const bar = new BusyBar(options);
	// The version needs no access key, so that a bar is recognised even if it refuses everything else.
	const version = await bar.request("GET", "/api/version");
	const apiVersion = version.json?.api_semver;
	if (version.status !== 200 || typeof apiVersion !== "string") throw bar.notABar();
	const ms = Math.round(performance.now() - started);
	const { firmware } = bar.accept(await bar.request("GET", "/api/status"));
	const { name } = bar.accept(await bar.request("GET", "/api/name"));
	const draw = priority === undefined ? {} : { draw: await drawAnswer(bar, apiVersion, priority, applicationName) };
	return [
		{
			address: options.address.text,
			device: "BUSY Bar",
			name: word(name),
			firmware: word(Object(firmware).version),
			api_version: word(apiVersion),
			...draw,
			ms,
		},
	];
}

/** The priority of the clock and of other ordinary applications on the bar: a lower one may be refused. */
const ordinaryPriority = 10;
/** No application draws an element with this id. */
const noElement = "pi-busybar.status";

/**
 * Whether the bar would show a draw now. `ok`: no BUSY timer is running, and no other application has drawn. `unknown`:
 * it depends on a priority that the bar does not tell.
 */
async function drawAnswer(
	bar: BusyBar,
	apiVersion: string,
	priority: number,
	applicationName: string,
): Promise<"ok" | "busy_timer" | "unknown"> {
	const { snapshot } = bar.accept(await bar.request("GET", "/api/busy/snapshot"));
	const timer: unknown = Object(snapshot).type;
	if (timer !== "NOT_STARTED") return typeof timer === "string" ? "busy_timer" : "unknown";
	if (priority < ordinaryPriority || !canClearElements(apiVersion)) return "unknown";
	// The bar does not clear an element that does not exist, but says so unless another application has drawn.
	const query = { application_name: applicationName };
	const bytes = new TextEncoder().encode(JSON.stringify({ element_ids: [noElement] }));
	const reply = await bar.request("DELETE", "/api/display/draw", query, { type: "application/json", bytes });
	return reply.json?.error === "one of element_ids is non-existent" ? "ok" : "unknown";
}

/** A bar with an older API would clear everything of the application. */
function canClearElements(apiVersion: string): boolean {
	const [major = 0, minor = 0] = apiVersion.split(".").map(Number);
	return major > 27 || (major === 27 && minor >= 5);
}

function word(value: unknown): string {
	return typeof value === "string" ? clean(value, 60) : "unknown";
}
