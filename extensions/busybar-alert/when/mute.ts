/** How long `/busybar-alert-mute` mutes, and how a mute is described. Pure. */

const UNIT_MS = { m: 60_000, h: 3_600_000 } as const;
const LONGEST_HOURS = 24 * 7;

/** When a mute of `30m` or `2h` ends if it begins now, in milliseconds since the Unix epoch; undefined if not valid. */
export function muteEnd(duration: string, nowMs: number): number | undefined {
	const match = /^(\d{1,4})(m|h)$/.exec(duration);
	if (!match) return undefined;
	const lengthMs = Number(match[1]) * UNIT_MS[match[2] === "h" ? "h" : "m"];
	return lengthMs > 0 && lengthMs <= LONGEST_HOURS * UNIT_MS.h ? nowMs + lengthMs : undefined;
}

/** As in `muted until 14:30`; undefined if alerts are not muted. */
export function muteText(mutedUntilMs: number | undefined, isMutedHere: boolean, nowMs: number): string | undefined {
	if (mutedUntilMs !== undefined && mutedUntilMs > nowMs) {
		if (mutedUntilMs === Number.POSITIVE_INFINITY) return "muted until you run /busybar-alert-mute off";
		const end = new Date(mutedUntilMs);
		const day = end.toDateString() === new Date(nowMs).toDateString() ? "" : `${end.toDateString().slice(0, 10)} `;
		return `muted until ${day}${String(end.getHours()).padStart(2, "0")}:${String(end.getMinutes()).padStart(2, "0")}`;
	}
	return isMutedHere ? "muted in this pi" : undefined;
}
