/** The bar's two displays, in pixels. */

export type Display = "front" | "back";

export const displays: Readonly<Record<Display, { readonly width: number; readonly height: number }>> = {
	front: { width: 72, height: 16 },
	back: { width: 160, height: 80 },
};
