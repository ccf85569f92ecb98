/**
 * Runs steps at a bar one after the other, in this process and among all pis: a late clear would otherwise remove a newer
 * drawing. Ends the command that is under way when the process ends. Runs the CLI through the exec port.
 */

import type { Command, Target } from "../busybar.ts";
import type { ExecFn, ExecResult } from "../cli/exec.ts";
import type { Processes, ProcessIdentity } from "../processes.ts";
import type { BarRecord } from "./bar-record.ts";
import type { BarStore, Changed, Keep } from "./bar-store.ts";

export interface BarStepPorts {
	readonly exec: ExecFn;
	readonly bars: BarStore;
	readonly processes: Processes;
}

const LOCK_LOST = new Error("Another process has taken the lock.");

export class BarSteps {
	readonly #ports: BarStepPorts;
	/** Settles when all steps so far are done. */
	#last: Promise<unknown> = Promise.resolve();
	/** Ends the command that is under way. */
	#running: AbortController | undefined;
	/** That of the current step. Undefined if the step may go on although another process has. */
	#keep: Keep | undefined;
	#cutOffs = 0;
	/** As it was when the current step was asked for. */
	#cutOffsBefore = 0;
	#self: ProcessIdentity | undefined;

	constructor(ports: BarStepPorts) {
		this.#ports = ports;
	}

	/** This process; undefined before the first step. */
	get self(): ProcessIdentity | undefined {
		return this.#self;
	}

	/** Ends the command that is under way. All steps so far resolve to undefined and change nothing more. Synchronous. */
	cutOff(): void {
		this.#cutOffs += 1;
		this.#running?.abort();
	}

	/** Runs `step` alone with the bar's record, and keeps the record that it returns. Rejects only if `step` does. */
	change<T>(
		bar: Target,
		step: (record: BarRecord, self: ProcessIdentity) => Promise<Changed<T | undefined>>,
	): Promise<T | undefined> {
		const cutOffs = this.#cutOffs;
		const result = this.#last.then(async () => {
			const self = await this.#ports.processes.self();
			this.#self = self;
			const attempt = (isLast: boolean) =>
				this.#ports.bars.change<T | undefined>(bar, async (record, keep) => {
					if (cutOffs !== this.#cutOffs) return { record, value: undefined };
					this.#keep = isLast ? undefined : keep;
					this.#cutOffsBefore = cutOffs;
					const changed = await step(record, self);
					return cutOffs === this.#cutOffs ? changed : { record, value: undefined };
				});
			// The record that it saw may be out of date.
			return attempt(false).catch((error: unknown) => {
				if (error !== LOCK_LOST) throw error;
				return attempt(true);
			});
		});
		this.#last = result.catch(() => undefined);
		return result;
	}

	/**
	 * Runs a command as part of a step. Undefined if it was cut off: another process then cleans up. Rejects, for `change`
	 * to try the step again, if this process was stopped for so long that another has gone on.
	 * @param meanwhile the record that the others see until the step is done, or if this process dies in it
	 */
	async run(
		command: Command,
		meanwhile: BarRecord,
		onStart: () => void = () => undefined,
	): Promise<ExecResult | undefined> {
		const isCutOff = () => this.#cutOffsBefore !== this.#cutOffs;
		// The record is that of whoever has cut it off.
		if (isCutOff()) return undefined;
		if ((await this.#keep?.(meanwhile)) === false) throw LOCK_LOST;
		if (isCutOff()) return undefined;
		const ending = new AbortController();
		this.#running = ending;
		onStart();
		try {
			const result = await this.#ports.exec(command.file, command.args, { ...command, signal: ending.signal });
			return ending.signal.aborted ? undefined : result;
		} finally {
			this.#running = undefined;
		}
	}
}
