// The pictures of a terminal's screen in the documentation.

import { expect, test } from "vitest";
import { screenSvg } from "../support/screen-picture.ts";
import type { Cell } from "../support/terminal.ts";

const cells = (text: string, style: Partial<Cell> = {}): Cell[] =>
	Array.from(text, (char) => ({ char, fg: "#d8d8d8", bg: "#101014", bold: false, ...style }));

test("every word is in its column and in its colours, and markup in it stays text", () => {
	const wide = [...cells("好"), ...cells("", {}), { ...(cells(" ")[0] as Cell), char: "" }];
	const svg = screenSvg([[...cells(" a<b  "), ...cells("&", { fg: "#ff0000", bg: "#00ff00", bold: true })], wide]);

	expect(svg).toContain('width="56" height="34"');
	expect(svg).toContain('<text x="8" y="13" textLength="24" fill="#d8d8d8">a&lt;b</text>');
	expect(svg).toContain('<rect x="48" y="0" width="8" height="17" fill="#00ff00"/>');
	expect(svg).toContain('<text x="48" y="13" textLength="8" fill="#ff0000" font-weight="bold">&amp;</text>');
	expect(svg).toContain('<text x="0" y="30" textLength="16" fill="#d8d8d8">好</text>');
});
