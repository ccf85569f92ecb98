// `npm run demo`: checks promises with the real pi, both extensions, the bundled CLI and a simulated bar.
// Ends all processes that it starts. Leaves pictures in demo-output/ and nothing else.

import { relative } from "node:path";
import { parseArgs } from "node:util";
import { killed } from "./act-killed.ts";
import { question } from "./act-question.ts";
import { twoTurns } from "./act-two-turns.ts";
import { unplugged } from "./act-unplugged.ts";
import { logTable } from "./log-rows.ts";
import { openPi } from "./open.ts";
import { seconds } from "./report.ts";
import { Closers, Stage } from "./stage.ts";

const HELP = `npm run demo             Plays short acts with pi, its alerts and a simulated BUSY Bar, in a minute or so. Needs no
                         key, no network and no bar. The exit code is 1 if a promise is not kept. Saves pictures in
                         demo-output/.
npm run demo -- --open   Starts pi's own interface in this terminal, with the bar above the editor, for you to type in.
npm run demo -- --help   Shows this text.
`;

interface Act {
	readonly title: string;
	readonly play: (stage: Stage) => Promise<void>;
}

const ACTS: readonly Act[] = [
	{ title: "One prompt, two turns", play: twoTurns },
	{ title: "pi asks you", play: question },
	{ title: "The bar is unplugged", play: unplugged },
	{ title: "kill -9 during an alert", play: killed },
];

async function play(closers: Closers): Promise<number> {
	const startedMs = performance.now();
	const stage = await Stage.open(closers);
	const { report, desk, pictures } = stage;
	for (const [at, { title, play }] of ACTS.entries()) {
		report.heading(`${at + 1}  ${title}`);
		await play(stage);
	}
	report.heading("The log");
	report.table(logTable(desk.log()));
	report.line();
	report.line(`Pictures of the bar: ${relative(process.cwd(), pictures) || "."}/`);
	report.line("To try it yourself:  npm run demo -- --open");
	report.line();
	const { broken } = report;
	const time = seconds(performance.now() - startedMs);
	if (broken.length === 0) report.line(`All promises kept, in ${time}.`);
	else report.line(`${broken.length === 1 ? "This promise was" : "These promises were"} not kept, in ${time}:`);
	for (const promise of broken) report.line(`✗ ${promise}`);
	return broken.length === 0 ? 0 : 1;
}

/** What the command line asks for, or a complaint. */
function wanted(): "acts" | "open" | "help" | { readonly complaint: string } {
	try {
		const { values } = parseArgs({ options: { open: { type: "boolean" }, help: { type: "boolean", short: "h" } } });
		return values.help ? "help" : values.open ? "open" : "acts";
	} catch (error) {
		const message = error instanceof Error ? error.message : String(error);
		return { complaint: message.replace(/[^.]$/, "$&.") };
	}
}

async function main(): Promise<number> {
	const mode = wanted();
	if (typeof mode === "object") {
		process.stderr.write(`Error: ${mode.complaint} Run npm run demo -- --help to see what you can use.\n`);
		return 1;
	}
	if (mode === "help") {
		process.stdout.write(HELP);
		return 0;
	}
	const closers = new Closers();
	const endWith = (status: number) => void closers.closeAll().finally(() => process.exit(status));
	process.once("SIGINT", () => endWith(130));
	process.once("SIGTERM", () => endWith(143));
	process.once("SIGHUP", () => endWith(129));
	// Nobody reads the output any more: the terminal is closed, or `| head` has stopped reading.
	for (const stream of [process.stdout, process.stderr]) stream.on("error", () => endWith(1));
	try {
		return mode === "open" ? await openPi(closers) : await play(closers);
	} catch (error) {
		// An error while everything is being closed does not matter.
		if (!closers.areClosing)
			process.stderr.write(`\nError: ${error instanceof Error ? error.message : String(error)}\n`);
		return 1;
	} finally {
		await closers.closeAll();
	}
}

process.exitCode = await main();
