/**
 * Alerts from a pi that will not wait for them (print and JSON mode): a process of its own draws, and the bar's own timer
 * ends what it drew. Imports nothing from pi.
 */

import { type Cli, CommandLine } from "../busybar.ts";
import type { Failure } from "../cli/failures.ts";
import type { WhichCli } from "../cli/which-cli.ts";
import type { Clock } from "../clock.ts";
import { type Assets, notPrepared } from "../cycle/assets.ts";
import { lifetimeSeconds, PARKED_DRAW_MS } from "../cycle/drawing.ts";
import type { AlertRequest } from "../cycle/request.ts";
import { type AlertLog, type LogEvent, rowOf } from "../log.ts";
import type { Alert } from "../settings.ts";
import { type LaterStep, partingStep, type RunLaterFn } from "./detached-steps.ts";

export interface DetachedPorts {
	/** The processes of these two must not keep pi alive. */
	readonly whichCli: Pick<WhichCli, "choose">;
	readonly assets: Pick<Assets, "ensure" | "plan">;
	readonly log: Pick<AlertLog, "append">;
	readonly runLater: RunLaterFn;
	readonly env: NodeJS.ProcessEnv;
	readonly clock: Clock;
}

const SOON_MS = 200;

/** What an alert needs, with what failed on the way. */
interface Ready {
	readonly cli: Cli | undefined;
	readonly pattern: string;
	readonly anim: string;
	readonly make?: LaterStep["command"];
	readonly failures: readonly Failure[];
}

export class DetachedAlerts {
	readonly #ports: DetachedPorts;
	readonly #ready = new Map<Alert, Ready>();

	constructor(ports: DetachedPorts) {
		this.#ports = ports;
	}

	/** Gets ready, while the run goes on, what an alert at its end would have to wait for. Never rejects. */
	async prepare(requests: readonly AlertRequest[]): Promise<void> {
		for (const request of requests) this.#ready.set(request.alert, await this.#prepare(request));
	}

	/** Resolves once the process that draws is started, or the log says why there is none. */
	async show(request: AlertRequest): Promise<void> {
		const { cli, pattern, anim, make, failures } = this.#ready.get(request.alert) ?? (await this.#improvise(request));
		for (const { kind, message } of failures) this.#log(request, { outcome: "error", kind, error: message });
		if (!cli) return;
		const command = new CommandLine(cli, this.#ports.env).show(anim, request.target, lifetimeSeconds(request));
		const once = { delayMs: 0, tries: 1, always: false };
		const steps: LaterStep[] = [{ command, ...once }];
		if (make) steps.unshift({ command: { ...make, env: command.env }, ...once });
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

	/** The run was over before all was ready: what needs no proof and no check is made and drawn in one go. */
	async #improvise(request: AlertRequest): Promise<Ready> {
		const pattern = request.fallbackPattern;
		const failed = (failure: Failure): Ready => ({ cli: undefined, pattern, anim: "", failures: [failure] });
		const choice = await this.#soon(this.#ports.whichCli.choose(request.command || "bundled"));
		if (!choice) {
			const message = `The run was over before ${request.command} could be checked. The next one has its alert.`;
			return failed({ kind: "unknown", message });
		}
		if (!choice.ok) return failed(choice.failure);
		try {
			const commands = new CommandLine(choice.cli, this.#ports.env);
			const plan = await this.#ports.assets.plan(pattern, request.target.display, commands);
			return { cli: choice.cli, pattern, failures: [], ...plan };
		} catch (error) {
			return failed({ kind: "unknown", message: notPrepared(String(error)) });
		}
	}

	/** What a promise resolves to if it does so before pi would notice. */
	#soon<T>(promise: Promise<T>): Promise<T | undefined> {
		return Promise.race([
			promise,
			new Promise<undefined>((resolve) => void this.#ports.clock.after(SOON_MS, () => resolve(undefined))),
		]);
	}

	#log(request: AlertRequest, event: LogEvent): void {
		this.#ports.log.append(rowOf(request, event, this.#ports.clock.now()));
	}
}
