/** `status`: shows what answers at an address. Uses the network; changes nothing on the bar. */

import { type BarOptions, BusyBar } from "../bar.ts";
import { clean } from "../options.ts";
import type { Row } from "../output.ts";

export async function status(options: BarOptions): Promise<Row[]> {
	const started = performance.now();
	const bar = new BusyBar(options);
	// The version needs no access key, so that a bar is recognised even if it refuses everything else.
	const version = await bar.request("GET", "/api/version");
	const apiVersion = version.json?.api_semver;
	if (version.status !== 200 || typeof apiVersion !== "string") throw bar.notABar();
	const ms = Math.round(performance.now() - started);
	const { firmware } = bar.accept(await bar.request("GET", "/api/status"));
	const { name } = bar.accept(await bar.request("GET", "/api/name"));
	const busyTimer = await busyTimerState(bar);
	return [
		{
			address: options.address.text,
			device: "BUSY Bar",
			name: word(name),
			firmware: word(Object(firmware).version),
			api_version: word(apiVersion),
			busy_timer: busyTimer,
			ms,
		},
	];
}

/** While one is running or paused, the bar refuses every draw, whatever its priority. */
async function busyTimerState(bar: BusyBar): Promise<"none" | "running" | "paused" | "unknown"> {
	const { snapshot } = bar.accept(await bar.request("GET", "/api/busy/snapshot"));
	const { type, is_paused: isPaused } = Object(snapshot);
	if (typeof type !== "string") return "unknown";
	return type === "NOT_STARTED" ? "none" : isPaused === true ? "paused" : "running";
}

function word(value: unknown): string {
	return typeof value === "string" ? clean(value, 60) : "unknown";
}
