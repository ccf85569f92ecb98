/**
 * Alerts from a pi that will not wait for them (print and JSON mode): a process of its own draws, and the bar's own timer
 * ends what it drew. Imports nothing from pi.
 */

import { type Cli, CommandLine } from "../busybar.ts";
import type { Failure } from "../cli/failures.ts";
import type { WhichCli } from "../cli/which-cli.ts";
import type { Clock } from "../clock.ts";
import type { Assets } from "../cycle/assets.ts";
import { lifetimeSeconds, PARKED_DRAW_MS } from "../cycle/drawing.ts";
import type { AlertRequest } from "../cycle/request.ts";
import { type AlertLog, type LogEvent, rowOf } from "../log.ts";
import type { Alert } from "../settings.ts";
import { type LaterStep, partingStep, type RunLaterFn } from "./detached-steps.ts";

export interface DetachedPorts {
	/** The processes of these two must not keep pi alive. */
	readonly whichCli: Pick<WhichCli, "choose">;
	readonly assets: Pick<Assets, "ensure">;
	readonly log: Pick<AlertLog, "append">;
	readonly runLater: RunLaterFn;
	readonly env: NodeJS.ProcessEnv;
	readonly clock: Clock;
}

/** pi waits for this at its end, so it must be over before the session's own limit is. */
const READY_WITHIN_MS = 800;

/** What an alert needs, with what failed on the way. */
interface Ready {
	readonly cli: Cli | undefined;
	readonly pattern: string;
	readonly anim: string;
	readonly failures: readonly Failure[];
}

export class DetachedAlerts {
	readonly #ports: DetachedPorts;
	readonly #preparations = new Map<Alert, Promise<Ready>>();

	constructor(ports: DetachedPorts) {
		this.#ports = ports;
	}

	/** Gets ready, while the run goes on, what an alert at its end would have to wait for. Returns at once. */
	prepare(requests: readonly AlertRequest[]): void {
		let last: Promise<unknown> = Promise.resolve();
		for (const request of requests) {
			const preparation = last.then(() => this.#prepare(request));
			this.#preparations.set(request.alert, preparation);
			last = preparation;
		}
	}

	/** Resolves once the process that draws is started, or the log says why there is none. Never rejects. */
	async show(request: AlertRequest): Promise<void> {
		const ready = await this.#inTime(this.#preparations.get(request.alert) ?? this.#prepare(request));
		if (!ready) {
			const error = "The run was over before its alert was ready. This alert was skipped; the next run will show one.";
			return this.#log(request, { outcome: "error", kind: "unknown", error });
		}
		const { cli, pattern, anim, failures } = ready;
		for (const { kind, message } of failures) this.#log(request, { outcome: "error", kind, error: message });
		if (!cli) return;
		const command = new CommandLine(cli, this.#ports.env).show(anim, request.target, lifetimeSeconds(request));
		const steps: LaterStep[] = [{ command, delayMs: 0, tries: 1, always: false }];
		if (!cli.abilities.expiresAfter) {
			// A draw whose answer was lost may be parked at the bar, and nothing else would end it.
			const delayMs = Math.max(PARKED_DRAW_MS, request.holdSeconds * 1_000);
			steps.push(partingStep({ cli, target: request.target, delayMs }));
		}
		if (this.#ports.runLater(steps, cli)) {
			this.#log(request, { outcome: "fired", pattern, anim, detached: true });
		} else {
			const error = 'No Node was found to draw after pi\'s end. Install Node, or set `command` to "bundled".';
			this.#log(request, { outcome: "error", kind: "no_node", error });
		}
	}

	/** Never rejects, as neither of the two ports does. */
	async #prepare(request: AlertRequest): Promise<Ready> {
		const choice = await this.#ports.whichCli.choose(request.command);
		const failures: Failure[] = [];
		const { pattern } = request;
		if (!choice.ok) return { cli: undefined, pattern, anim: "", failures: [choice.failure] };
		const commands = new CommandLine(choice.cli, this.#ports.env);
		for (const candidate of new Set([pattern, request.fallbackPattern])) {
			const asset = await this.#ports.assets.ensure(candidate, request.target.display, commands);
			if (asset.ok) return { cli: choice.cli, pattern: candidate, anim: asset.anim, failures };
			failures.push(asset.failure);
			if (asset.failure.kind !== "bad_asset") break;
		}
		return { cli: undefined, pattern, anim: "", failures };
	}

	/** Undefined if that takes longer than pi is to wait at its end. */
	#inTime(preparation: Promise<Ready>): Promise<Ready | undefined> {
		return new Promise((resolve) => {
			const cancel = this.#ports.clock.after(READY_WITHIN_MS, () => resolve(undefined));
			void preparation.then((ready) => {
				cancel();
				resolve(ready);
			});
		});
	}

	#log(request: AlertRequest, event: LogEvent): void {
		this.#ports.log.append(rowOf(request, event, this.#ports.clock.now()));
	}
}
