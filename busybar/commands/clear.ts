/** `clear`: takes one application's elements off the bar, never another's. Touches the network. */

import { type BarOptions, BusyBar } from "../bar.ts";
import type { Row } from "../output.ts";

export async function clear({ applicationName }: { applicationName: string }, options: BarOptions): Promise<Row[]> {
	const started = performance.now();
	// In the query: the firmware ignores the name in a body, and then clears everybody's.
	const bar = new BusyBar(options);
	const reply = await bar.request("DELETE", "/api/display/draw", {
		application_name: applicationName,
	});
	bar.accept(reply, `nothing of ${applicationName} is on the bar to clear`);
	return [{ status: "ok", application_name: applicationName, ms: Math.round(performance.now() - started) }];
}
