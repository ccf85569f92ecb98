// Chance that can be had again: the same seed, the same numbers.

export class Dice {
	#state: number;

	/** @param name tells apart what is drawn for different things from one seed */
	constructor(seed: number, name: string) {
		this.#state = seed;
		for (const character of name) this.#state = Math.imul(this.#state ^ character.charCodeAt(0), 0x01000193);
	}

	/** From `from` up to, not including, `to`. */
	between(from: number, to: number): number {
		return from + this.#next() * (to - from);
	}

	/** True in `percent` of all cases. */
	chance(percent: number): boolean {
		return this.#next() * 100 < percent;
	}

	of<T>(choices: readonly T[]): T | undefined {
		return choices[Math.floor(this.#next() * choices.length)];
	}

	/** mulberry32 */
	#next(): number {
		this.#state = (this.#state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	}
}
