/**
 * `alerts.jsonl`: one row per decision, appended in the background, rotated at 1 MiB.
 * Only touches the log's folder. No row ever contains the access key.
 */

import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { appendFile, open, readFile, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import type { FailureKind } from "./cli/failures.ts";
import { makeFolder } from "./files/folder.ts";
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
			/** How long `busybar show` took. Absent if an alert that was already lit only stays longer. */
			readonly ms?: number;
			readonly extended?: true;
			/** Another pi already shows the same picture, and this CLI cannot draw it again. */
			readonly joined?: true;
			/** Time since the bar was first found to be busy or absent. */
			readonly lateMs?: number;
			/** Left to a separate process. Whether the bar accepted it is not known. */
			readonly detached?: true;
	  }
	/** `superseded` and `withdrawn`: before it was drawn, a newer alert replaced it, or nobody needed it any more. */
	| { readonly outcome: "skipped"; readonly gate: Gate | "superseded" | "withdrawn" }
	| { readonly outcome: "error"; readonly kind: FailureKind; readonly error: string }
	/** `detached`: left to a separate process when pi ended. */
	| {
			readonly outcome: "cleared";
			readonly heldMs: number;
			readonly detached?: true;
			/** Another pi's alert is on the bar now. */
			readonly handedOver?: true;
			/** The pid of the pi that died and left it there. */
			readonly leftBy?: number;
	  };

export type LogRow = RowOrigin & LogEvent;

/** The row for what happened to an alert at `nowMs`, in milliseconds since the Unix epoch. */
export function rowOf(asked: Pick<RowOrigin, "alert" | "reason" | "session">, event: LogEvent, nowMs: number): LogRow {
	const { alert, reason, session } = asked;
	return { ts: new Date(nowMs).toISOString(), reason, alert, ...event, pid: process.pid, session };
}

const ROTATE_AT_BYTES = 1024 * 1024;
const LOCK_WAIT_MS = 5_000;
const MOST_REFUSED_ROWS = 200;

export class AlertLog {
	readonly #folder: string;
	readonly #queue: string[] = [];
	/** Handed to the system, which has not yet said that it is written. */
	#writing = "";
	/** What the disk did not take, to be offered to it again with the next row. */
	#refused: readonly string[] = [];
	/** The last row in the file may have been cut off in the middle. */
	#mayBeTorn = true;
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

	/** Queues a row and returns at once. If the log cannot be written, the newest rows are kept in memory. */
	append(row: LogRow): void {
		this.#queue.push(`${JSON.stringify(row)}\n`);
		this.#draining ??= this.#drain().finally(() => {
			this.#draining = undefined;
		});
	}

	/** Resolves when every row so far is written or refused. Never rejects. */
	async flush(): Promise<void> {
		while (this.#draining) await this.#draining;
	}

	/** Writes what is not yet written before the process ends. */
	flushAtExit(): void {
		const queued = [...this.#refused, ...this.#queue.splice(0)].join("");
		this.#refused = [];
		try {
			const lines = this.#isWritten(this.#writing) ? queued : this.#writing + queued;
			if (lines !== "") appendFileSync(this.#path, lines, { mode: 0o600 });
		} catch {
			// The process is ending, and there is nobody left to tell.
		}
	}

	/** All rows, oldest first. Lines that are not rows are left out. */
	async read(): Promise<LogRow[]> {
		await this.flush();
		const texts = await Promise.all(
			[this.#rotatedPath, this.#path].map((path) => readFile(path, "utf8").catch(() => "")),
		);
		return [...texts, ...this.#refused].join("\n").split("\n").flatMap(parseRow);
	}

	#isWritten(lines: string): boolean {
		return lines === "" || (existsSync(this.#path) && readFileSync(this.#path, "utf8").includes(lines));
	}

	async #drain(): Promise<void> {
		// Rows of one decision are written together, after the handler that caused them has returned.
		await new Promise((resolve) => setImmediate(resolve));
		while (this.#queue.length > 0) {
			const rows = [...this.#refused, ...this.#queue.splice(0)];
			this.#refused = [];
			this.#writing = rows.join("");
			try {
				await makeFolder(this.#folder);
				const isTorn = this.#mayBeTorn && (await isCutOff(this.#path));
				await appendFile(this.#path, isTorn ? `\n${this.#writing}` : this.#writing, { mode: 0o600 });
				this.#mayBeTorn = false;
			} catch {
				// A full or read-only disk must affect neither the alert nor pi.
				this.#refused = rows.slice(-MOST_REFUSED_ROWS);
				this.#mayBeTorn = true;
			}
			this.#writing = "";
			// What is too large now is too large at the next row as well.
			await this.#rotate().catch(() => undefined);
		}
	}

	async #rotate(): Promise<void> {
		if ((await stat(this.#path)).size <= ROTATE_AT_BYTES) return;
		await withLock(this.#path, LOCK_WAIT_MS, async () => {
			// Another pi may have rotated the log while we waited.
			if ((await stat(this.#path)).size > ROTATE_AT_BYTES) await rename(this.#path, this.#rotatedPath);
		});
	}
}

/** Whether the file ends in the middle of a line. */
async function isCutOff(path: string): Promise<boolean> {
	const file = await open(path).catch(() => undefined);
	try {
		const { size = 0 } = (await file?.stat()) ?? {};
		if (!file || size === 0) return false;
		const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
		return buffer.toString() !== "\n";
	} finally {
		await file?.close();
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
