// The desk of a test: it is cleared away when the test is over.

import { onTestFinished } from "vitest";
import { PiDesk } from "./pi-desk.ts";

export { DEAD_ADDRESS, EXTENSION, requests, TWO_TURNS, untilDark, untilLit } from "./pi-desk.ts";

export class Desk extends PiDesk {
	constructor() {
		super(onTestFinished);
	}
}
