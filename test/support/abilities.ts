// What a CLI can do beyond the contract: all of it, as the bundled one, or a part.

import { ABILITY_WORDS, type CliAbilities } from "../../extensions/busybar-alert/busybar.ts";

const abilitiesAre = (has: boolean) =>
	Object.fromEntries(Object.keys(ABILITY_WORDS).map((ability) => [ability, has])) as unknown as CliAbilities;

export const ALL_ABILITIES = abilitiesAre(true);
export const NO_ABILITIES = abilitiesAre(false);
