/** An animation in memory, in the form that everything else converts from and to. */

export type ColorMode = "rgb888" | "gray4" | "argb8888";

/** A named range of display frames; `end` is the last one, not the one after it. */
export interface Section {
	readonly name: string;
	readonly start: number;
	readonly end: number;
}

export interface Animation {
	/** In pixels, 1..255: the file has one byte for each. */
	readonly width: number;
	readonly height: number;
	/** Display frames per second, 1..255. */
	readonly fps: number;
	readonly colorMode: ColorMode;
	/** One for each display frame: `width * height * 4` bytes R, G, B, A, with the top row first. */
	readonly frames: readonly Uint8Array[];
	/** The first one is `default`, and covers all frames. */
	readonly sections: readonly Section[];
}
