// Waiting for a condition with a deadline: the only way tests here wait for another process.

import { setTimeout as delay } from "node:timers/promises";

/** Each question to a simulated bar costs both sides: on two cores, asking faster makes everything slower. */
const POLL_MS = 30;

/**
 * Asks again and again until `check` gives something other than `undefined` or `false`, and returns that.
 * Past the deadline it throws what was awaited and what `seen` says at that time.
 */
export async function waitUntil<T>(
	what: string,
	deadlineMs: number,
	check: () => T | undefined | false | Promise<T | undefined | false>,
	seen: () => string = () => "",
): Promise<T> {
	const end = performance.now() + deadlineMs;
	for (;;) {
		const result = await check();
		if (result !== undefined && result !== false) return result;
		if (performance.now() > end) throw new Error(`${what} did not happen within ${deadlineMs} ms.\n${seen()}`);
		await delay(POLL_MS);
	}
}

/** The end of a long text, for error messages. */
export function tail(text: string, length = 3000): string {
	return text.length > length ? `...${text.slice(-length)}` : text;
}
