// Makes the README's pictures of /px from a real pi in a pseudo-terminal. Writes to docs/pictures.

import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { PiHome, startTerminalPi } from "../support/pi.ts";
import { EXTENSION } from "../support/pi-desk.ts";
import { screenSvg } from "../support/screen-picture.ts";
import { type Cell, KEY } from "../support/terminal.ts";

const LAUNCHER = fileURLToPath(new URL("../../extensions/launcher/index.ts", import.meta.url));

/** Each step is what to type, and what the screen shows when it has worked. */
const SHOTS = [
	{ name: "px", columns: 80, rows: 24, steps: [["/px", "type to filter"]] },
	{
		name: "px-settings",
		columns: 80,
		rows: 24,
		steps: [
			["/px busybar-alert", "type to filter"],
			["Settings", "Hold time (s)"],
		],
	},
	{ name: "px-small", columns: 36, rows: 14, steps: [["/px busybar-alert", "filter"]] },
] as const;

/** /px and pi's footer, without what pi says when it starts. */
function fromFirstBorder(cells: readonly (readonly Cell[])[]): readonly (readonly Cell[])[] {
	const border = cells.findIndex((row) => row.every(({ char }) => char === "─"));
	if (border < 0) throw new Error("/px is not on the screen. Check the steps that lead to it.");
	return cells.slice(border);
}

/** The screens ask no bar anything; a bar on the network is out of reach in any case. */
const env = { BUSYBAR_ADDR: "localhost" };

const home = new PiHome();
try {
	for (const { name, columns, rows, steps } of SHOTS) {
		const pi = await startTerminalPi(home, { extensions: [LAUNCHER, EXTENSION], env, columns, rows });
		// The status line comes after the start; without it, /px would be one row lower.
		await pi.waitForText("busybar:on");
		for (const [keys, shows] of steps) {
			pi.write(keys + KEY.enter);
			await pi.waitForText(shows);
		}
		const path = fileURLToPath(new URL(`../../docs/pictures/${name}.svg`, import.meta.url));
		writeFileSync(path, screenSvg(fromFirstBorder(pi.cells())));
		process.stdout.write(`${path}\n`);
		pi.kill("SIGTERM");
		await pi.exit;
	}
} finally {
	await home.close();
}
