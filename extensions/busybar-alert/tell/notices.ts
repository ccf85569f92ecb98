/**
 * Remembers which notices were already shown, for all pis of this user: `notices.json` in the cache folder.
 * Only touches that file.
 */

import { join } from "node:path";
import type { FailureKind } from "../cli/failures.ts";
import { readJson, writeJson } from "../files/json-file.ts";

interface Memory {
	/** The line that says that alerts are on was shown. */
	readonly welcomed: boolean;
	/** An alert was shown at least once on this machine. */
	readonly everShown: boolean;
	/** The kinds of failure that were shown since the last success. */
	readonly told: readonly string[];
}

/** No promise rejects. If the file cannot be written, each pi remembers for itself. */
export class NoticeMemory {
	readonly #path: string;
	/** What the disk did not take. */
	#refused: Memory | undefined;
	/** Calls come from several places at once, and each one reads before it writes. */
	#turn: Promise<unknown> = Promise.resolve();

	constructor(cacheFolder: string) {
		this.#path = join(cacheFolder, "notices.json");
	}

	/** Whether to show this failure: once per kind and outage, and only once as long as no alert has ever succeeded. */
	failed(kind: FailureKind): Promise<boolean> {
		// The bar shows something more important, which is not a problem for the user.
		if (kind === "preempted") return Promise.resolve(false);
		return this.#update((memory) => {
			const news = memory.everShown ? !memory.told.includes(kind) : memory.told.length === 0;
			return { news, memory: news ? { ...memory, told: [...memory.told, kind] } : memory };
		});
	}

	/** An alert was shown, so any outage is over. */
	async shown(): Promise<void> {
		await this.#update((memory) => {
			const settled = memory.everShown && memory.told.length === 0;
			return { news: false, memory: settled ? memory : { ...memory, everShown: true, told: [] } };
		});
	}

	/** True only the first time ever. */
	welcome(): Promise<boolean> {
		return this.#update((memory) =>
			memory.welcomed ? { news: false, memory } : { news: true, memory: { ...memory, welcomed: true } },
		);
	}

	#update(step: (memory: Memory) => { news: boolean; memory: Memory }): Promise<boolean> {
		const result = this.#turn.then(async () => {
			const before = this.#refused ?? memoryIn(await readJson(this.#path));
			const { news, memory } = step(before);
			if (memory !== before) {
				this.#refused = await writeJson(this.#path, memory).then(
					() => undefined,
					() => memory,
				);
			}
			return news;
		});
		this.#turn = result;
		return result;
	}
}

function memoryIn(json: unknown): Memory {
	const found: Partial<Record<keyof Memory, unknown>> = typeof json === "object" && json !== null ? json : {};
	return {
		welcomed: found.welcomed === true,
		everShown: found.everShown === true,
		told: Array.isArray(found.told) ? found.told.filter((kind) => typeof kind === "string") : [],
	};
}
