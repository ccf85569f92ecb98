/** What was asked of the simulated bar, in order. In memory, bounded, and never with a key or token in it. */

const KEPT_ENTRIES = 2000;

export interface JournalEntry {
	readonly seq: number;
	/** Grows with every change to any entry. */
	readonly revision: number;
	/** Milliseconds since the Unix epoch, when the request's head had arrived. */
	readonly at: number;
	readonly method: string;
	readonly path: string;
	readonly query: Readonly<Record<string, string>>;
	readonly applicationName?: string;
	/** Whether an X-API-Token came along. */
	readonly token: boolean;
	/** Bytes of the request's body so far. */
	readonly bytes: number;
	/** The parsed body of a draw or clear. */
	readonly body?: unknown;
	/** Absent until the bar has answered; for good after a hang or a reset. */
	readonly status?: number;
	/** From the request's head to the answer. */
	readonly ms?: number;
	/** The answer was for nobody: the client had gone. */
	readonly unheard?: true;
}

export type JournalUpdate = Partial<
	Pick<JournalEntry, "applicationName" | "bytes" | "body" | "status" | "ms" | "unheard">
>;

export class Journal {
	readonly #entries: JournalEntry[] = [];
	#nextSeq = 1;
	#revision = 0;

	/** Returns the entry's number. */
	open(at: number, method: string, url: URL, hasToken: boolean): number {
		const query = Object.fromEntries(
			[...url.searchParams].filter(([name]) => name !== "x-api-token" && name !== "key" && name !== "token"),
		);
		// A pressed key is worth reading; an access key is a secret.
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

	/** Those changed after that revision; all by default. */
	entries(afterRevision = 0): readonly JournalEntry[] {
		return this.#entries.filter(({ revision }) => revision > afterRevision);
	}
}
