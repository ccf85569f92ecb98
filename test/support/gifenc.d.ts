// What we use of gifenc, which has no types of its own.

declare module "gifenc" {
	type Color = readonly number[];

	interface GifEncoder {
		/** `delay` is in milliseconds and rounded to hundredths of a second; a palette is needed with the first frame. */
		writeFrame(
			index: Uint8Array,
			width: number,
			height: number,
			options: {
				palette?: readonly Color[];
				delay: number;
				transparent?: boolean;
				transparentIndex?: number;
				dispose?: number;
			},
		): void;
		finish(): void;
		bytes(): Uint8Array;
	}

	const gifenc: {
		GIFEncoder(): GifEncoder;
		quantize(rgba: Uint8Array, maxColors: number): Color[];
		applyPalette(rgba: Uint8Array, palette: readonly Color[]): Uint8Array;
	};
	export default gifenc;
}
