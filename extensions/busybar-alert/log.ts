/**
 * `alerts.jsonl`: one line per decision, appended in the background, rotated once at 1 MiB.
 * Touches the log's folder only. Rows never hold the token.
 */

import { appendFileSync } from "node:fs";
import { appendFile, mkdir, readFile, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import type { FailureKind } from "./cli/failures.ts";
import { withLock } from "./files/lock.ts";
import type { Alert } from "./settings.ts";
import type { Gate } from "./when/gates.ts";

interface RowOrigin {
	/** ISO 8601, UTC. */
	readonly ts: string;
	readonly reason: string;
	readonly alert: Alert;
	readonly pid: number;
	readonly session: string;
}

/** What happened to an alert. */
export type LogEvent =
	| {
			readonly outcome: "fired";
			readonly pattern: string;
			readonly anim: string;
			/** From the start of `busybar show` to its end. Absent where an alert that was already lit only stays longer. */
			readonly ms?: number;
			readonly extended?: true;
			/** Another pi shows the very picture, and the CLI cannot draw it again. */
			readonly joined?: true;
			/** Since the bar was first found busy or absent. */
			readonly lateMs?: number;
			/** Left to a process of its own; whether the bar took it is not known. */
			readonly detached?: true;
	  }
	/** Before it was drawn: a newer alert took its place, or its question was answered, or its user wanted no more alerts. */
	| { readonly outcome: "skipped"; readonly gate: Gate | "superseded" | "withdrawn" }
	| { readonly outcome: "error"; readonly kind: FailureKind; readonly error: string }
	/** `detached`: left to a process of its own while pi ended. */
	| {
			readonly outcome: "cleared";
			readonly heldMs: number;
			readonly detached?: true;
			/** Another pi's alert is on the bar now. */
			readonly handedOver?: true;
			/** The pid of the pi that had left it there when it died. */
			readonly leftBy?: number;
	  };

export type LogRow = RowOrigin & LogEvent;

/** The row of an event that befell an alert at `nowMs`, in milliseconds since the Unix epoch. */
export function rowOf(asked: Pick<RowOrigin, "alert" | "reason" | "session">, event: LogEvent, nowMs: number): LogRow {
	const { alert, reason, session } = asked;
	return { ts: new Date(nowMs).toISOString(), reason, alert, ...event, pid: process.pid, session };
}

const ROTATE_AT_BYTES = 1024 * 1024;
const LOCK_WAIT_MS = 5_000;

export class AlertLog {
	readonly #folder: string;
	readonly #queue: string[] = [];
	#draining: Promise<void> | undefined;

	constructor(folder: string) {
		this.#folder = folder;
	}

	get #path(): string {
		return join(this.#folder, "alerts.jsonl");
	}

	get #rotatedPath(): string {
		return join(this.#folder, "alerts.1.jsonl");
	}

	/** Queues a row and returns at once. A log that cannot be written costs the row, nothing else. */
	append(row: LogRow): void {
		this.#queue.push(`${JSON.stringify(row)}\n`);
		this.#draining ??= this.#drain().finally(() => {
			this.#draining = undefined;
		});
	}

	/** Resolves when every row so far is written or given up. Never rejects. */
	async flush(): Promise<void> {
		while (this.#draining) await this.#draining;
	}

	/** Writes what is still queued before the process ends. */
	flushAtExit(): void {
		const lines = this.#queue.splice(0).join("");
		try {
			if (lines !== "") appendFileSync(this.#path, lines, { mode: 0o600 });
		} catch {
			// The process is ending: there is nobody left to tell.
		}
	}

	/** All rows, oldest first, without lines that are not rows. */
	async read(): Promise<LogRow[]> {
		await this.flush();
		const texts = await Promise.all(
			[this.#rotatedPath, this.#path].map((path) => readFile(path, "utf8").catch(() => "")),
		);
		return texts.join("").split("\n").flatMap(parseRow);
	}

	async #drain(): Promise<void> {
		// The rows of one decision leave together, and the caller's handler has returned before the first is written.
		await new Promise((resolve) => setImmediate(resolve));
		while (this.#queue.length > 0) {
			const lines = this.#queue.splice(0).join("");
			try {
				await mkdir(this.#folder, { recursive: true, mode: 0o700 });
				await appendFile(this.#path, lines, { mode: 0o600 });
				if ((await stat(this.#path)).size > ROTATE_AT_BYTES) await this.#rotate();
			} catch {
				// A full or read-only disk must not cost the alert or pi anything.
			}
		}
	}

	async #rotate(): Promise<void> {
		await withLock(this.#path, LOCK_WAIT_MS, async () => {
			// Another pi may have rotated while we waited.
			if ((await stat(this.#path)).size > ROTATE_AT_BYTES) await rename(this.#path, this.#rotatedPath);
		});
	}
}

function parseRow(line: string): LogRow[] {
	try {
		const row = JSON.parse(line) as Partial<LogRow> | null;
		const words = [row?.outcome, row?.reason, row?.alert];
		if (!words.every((word) => typeof word === "string") || Number.isNaN(Date.parse(row?.ts ?? ""))) return [];
		return [row as LogRow];
	} catch {
		return [];
	}
}
