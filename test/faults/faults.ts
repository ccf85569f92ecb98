// `npm run faults [-- TABLE ...]`: every fault that the design names, with real processes; exits 1 when a promise was not kept.

import { deaths } from "./deaths.ts";
import { everyFault } from "./every-fault.ts";
import { type FaultTable, printTable } from "./report.ts";

const TABLES: Readonly<Record<string, () => Promise<FaultTable>>> = { faults: everyFault, deaths };

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in TABLES));
if (unknown.length > 0) {
	console.error(`Unknown table ${unknown.join(", ")}. Use ${Object.keys(TABLES).join(", ")}.`);
	process.exit(2);
}
let failed = 0;
for (const [name, run] of Object.entries(TABLES)) {
	if (wanted.length === 0 || wanted.includes(name)) failed += printTable(await run());
}
console.log(failed === 0 ? "\nEvery promise was kept." : `\n${failed} rows failed.`);
process.exitCode = failed === 0 ? 0 : 1;
