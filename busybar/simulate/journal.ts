/** The requests to the simulated bar, in order: kept in memory, limited in number, and without access keys. */

const KEPT_ENTRIES = 2000;

export interface JournalEntry {
	readonly seq: number;
	/** Increases with every change to any entry. */
	readonly revision: number;
	/** When the head of the request arrived, in milliseconds since the Unix epoch. */
	readonly at: number;
	readonly method: string;
	readonly path: string;
	readonly query: Readonly<Record<string, string>>;
	readonly applicationName?: string;
	/** Whether the request had an X-API-Token. */
	readonly token: boolean;
	/** The bytes of the body that have arrived so far. */
	readonly bytes: number;
	/** The parsed body of a draw or clear. */
	readonly body?: unknown;
	/** Absent until the bar answers. With the faults `hang` and `reset` it never does. */
	readonly status?: number;
	/** From the head of the request to the answer. */
	readonly ms?: number;
	/** The client had disconnected before the answer. */
	readonly unheard?: true;
}

export type JournalUpdate = Partial<
	Pick<JournalEntry, "applicationName" | "bytes" | "body" | "status" | "ms" | "unheard">
>;

export class Journal {
	readonly #entries: JournalEntry[] = [];
	#nextSeq = 1;
	#revision = 0;

	/** Returns the `seq` of the new entry. */
	open(at: number, method: string, url: URL, hasToken: boolean): number {
		const query = Object.fromEntries(
			[...url.searchParams].filter(([name]) => name !== "x-api-token" && name !== "key" && name !== "token"),
		);
		// Here `key` is a button; elsewhere it may be an access key.
		if (url.pathname === "/api/input") query.key = url.searchParams.get("key") ?? "";
		const name = url.searchParams.get("application_name");
		const seq = this.#nextSeq++;
		this.#entries.push({
			seq,
			revision: ++this.#revision,
			at,
			method,
			path: url.pathname,
			query,
			...(name === null ? {} : { applicationName: name }),
			token: hasToken,
			bytes: 0,
		});
		if (this.#entries.length > KEPT_ENTRIES) this.#entries.shift();
		return seq;
	}

	update(seq: number, update: JournalUpdate): void {
		const index = this.#entries.findIndex((entry) => entry.seq === seq);
		const entry = this.#entries[index];
		if (entry !== undefined) this.#entries[index] = { ...entry, ...update, revision: ++this.#revision };
	}

	/** The entries that changed after that revision; by default all. */
	entries(afterRevision = 0): readonly JournalEntry[] {
		return this.#entries.filter(({ revision }) => revision > afterRevision);
	}
}
