/** `inspect`: validates and summarizes a source zip or an `.anim`. Reads one file. */

import { encodeBicycle0 } from "../anim/bicycle0.ts";
import { openAnimation } from "../anim/open.ts";
import { readInput } from "../files.ts";
import { quote } from "../options.ts";
import type { Row } from "../output.ts";

export async function inspect({ input }: { input: string }): Promise<Row[]> {
	const file = readInput("--input", input);
	const { animation, format } = await openAnimation(quote(input), file);
	// A source zip is valid only if it can be compiled.
	if (format === "zip") encodeBicycle0(animation);
	return [
		{
			file: input,
			format,
			width: animation.width,
			height: animation.height,
			fps: animation.fps,
			color_mode: animation.colorMode,
			frames: animation.frames.length,
			sections: animation.sections.map((section) => section.name),
			bytes: file.length,
		},
	];
}
