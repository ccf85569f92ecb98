/** `clear`: removes one application's drawing from the bar, never another's. Uses the network. */

import { type BarOptions, BusyBar } from "../bar.ts";
import type { Row } from "../output.ts";

export async function clear({ applicationName }: { applicationName: string }, options: BarOptions): Promise<Row[]> {
	const started = performance.now();
	// The name must be in the query: the firmware ignores one in the body, and then clears all applications.
	const bar = new BusyBar(options);
	const reply = await bar.request("DELETE", "/api/display/draw", {
		application_name: applicationName,
	});
	bar.confirm(reply, `there is no drawing of ${applicationName} to clear`);
	return [{ status: "ok", application_name: applicationName, ms: Math.round(performance.now() - started) }];
}
