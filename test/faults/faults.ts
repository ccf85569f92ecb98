// `npm run faults [-- TABLE ...] [SEED]`: every fault that the design names, with real processes; exits 1 when a promise was not kept.

import { crowdTable } from "./crowd.ts";
import { deaths } from "./deaths.ts";
import { everyFault } from "./every-fault.ts";
import { type FaultTable, printTable } from "./report.ts";
import { soakTable } from "./soak.ts";

/** What is left to chance follows from the seed. */
const TABLES: Readonly<Record<string, (seed: number | undefined) => Promise<FaultTable>>> = {
	faults: everyFault,
	deaths,
	crowd: crowdTable,
	soak: soakTable,
};

const words = process.argv.slice(2);
const seed = words.find((word) => /^\d+$/.test(word));
const wanted = words.filter((word) => word !== seed);
const unknown = wanted.filter((name) => !(name in TABLES));
if (unknown.length > 0) {
	console.error(`Unknown table ${unknown.join(", ")}. Use ${Object.keys(TABLES).join(", ")}.`);
	process.exit(2);
}
let failed = 0;
for (const [name, run] of Object.entries(TABLES)) {
	if (wanted.length === 0 || wanted.includes(name))
		failed += printTable(await run(seed === undefined ? undefined : Number(seed)));
}
console.log(failed === 0 ? "\nEvery promise was kept." : `\n${failed} rows failed.`);
process.exitCode = failed === 0 ? 0 : 1;
