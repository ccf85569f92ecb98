// Watches the bar's front display while something happens. Asks the simulated bar, nothing else.

import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { decodeBicycle0 } from "../../busybar/anim/bicycle0.ts";
import type { Screen } from "../support/led-picture.ts";
import type { SimulatedBar } from "../support/simulated-bar.ts";

const INTERVAL_MS = 40;

/** One look at the display. */
interface Shot {
	/** Milliseconds since the Unix epoch. */
	readonly atMs: number;
	readonly screen: Screen;
}

export class Film {
	readonly shots: Shot[] = [];
	readonly #bar: SimulatedBar;
	#isRunning = true;
	readonly #end: Promise<void>;

	constructor(bar: SimulatedBar) {
		this.#bar = bar;
		this.#end = this.#roll();
		// Whoever stops the film hears of it.
		this.#end.catch(() => undefined);
	}

	async stop(): Promise<void> {
		this.#isRunning = false;
		await this.#end;
	}

	/** The shots that show a frame of the animation. */
	showing(anim: string): Shot[] {
		const frames = decodeBicycle0(readFileSync(anim)).frames.map((frame) =>
			Buffer.from(frame.filter((_, at) => at % 4 !== 3)),
		);
		return this.shots.filter(({ screen }) => isLit(screen) && frames.some((frame) => frame.equals(screen.rgb)));
	}

	/** When the display was dark for the first time after it had been lit at or after `atMs`. */
	darkAfter(atMs: number): number | undefined {
		const lit = this.shots.findIndex((shot) => shot.atMs >= atMs && isLit(shot.screen));
		return lit < 0 ? undefined : this.shots.slice(lit).find(({ screen }) => !isLit(screen))?.atMs;
	}

	async #roll(): Promise<void> {
		while (this.#isRunning) {
			await this.#shoot();
			await delay(INTERVAL_MS);
		}
		// What made somebody stop the film is to be seen on it.
		await this.#shoot();
	}

	async #shoot(): Promise<void> {
		const screen = await this.#bar.screen("front");
		this.shots.push({ atMs: Date.now(), screen });
	}
}

/** The shot that shows most of an animation that comes and goes. */
export function brightest(shots: readonly Shot[]): Screen | undefined {
	const light = ({ screen }: Shot) => screen.rgb.reduce((sum, value) => sum + value, 0);
	return shots.toSorted((a, b) => light(b) - light(a))[0]?.screen;
}

function isLit({ rgb }: Screen): boolean {
	return rgb.some((value) => value > 0);
}
