/** `compile`: turns a source zip into an `.anim`. Reads and writes files. */

import { encodeBicycle0 } from "../anim/bicycle0.ts";
import { isZip, openAnimation } from "../anim/open.ts";
import { CommandError } from "../command-error.ts";
import { checkOutputs, readInput, writeOutputs } from "../files.ts";
import { quote } from "../options.ts";
import type { Row } from "../output.ts";

export async function compile({ input, output }: { input: string; output: string }): Promise<Row[]> {
	const file = readInput("--input", input);
	if (!isZip(file))
		throw new CommandError(
			`compile requires a source zip, but ${quote(input)} is not one; use the zip that create wrote.`,
		);
	const target = { flag: "--output", path: output };
	checkOutputs([target], [{ flag: "--input", path: input }]);
	const { animation } = await openAnimation(quote(input), file);
	const bytes = encodeBicycle0(animation);
	writeOutputs([{ ...target, bytes }]);
	return [
		{
			output,
			width: animation.width,
			height: animation.height,
			fps: animation.fps,
			color_mode: animation.colorMode,
			frames: animation.frames.length,
			bytes: bytes.length,
		},
	];
}
