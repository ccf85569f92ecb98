/** The one in-memory form of an animation, between PNG frames, source zips, `.anim` files and a panel's pixels. */

export type ColorMode = "rgb888" | "gray4" | "argb8888";

/** A named stretch of display frames; `start` and `end` are inclusive indices. */
export interface Section {
	readonly name: string;
	readonly start: number;
	readonly end: number;
}

export interface Animation {
	/** Pixels, 1..255: the container stores them in one byte each. */
	readonly width: number;
	readonly height: number;
	/** Display frames per second, 1..255. */
	readonly fps: number;
	readonly colorMode: ColorMode;
	/** One per display frame: `width * height * 4` bytes R, G, B, A, rows from the top. */
	readonly frames: readonly Uint8Array[];
	/** The first is `default` and spans all frames. */
	readonly sections: readonly Section[];
}
