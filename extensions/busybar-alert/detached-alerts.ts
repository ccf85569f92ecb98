/**
 * Alerts from a pi that will not wait for them (print and JSON mode): a process of its own draws, and the bar's own timer
 * ends what it drew. Imports nothing from pi.
 */

import type { Assets } from "./assets.ts";
import { CommandLine, type Failure } from "./busybar.ts";
import { lifetimeSeconds, type PartingClear } from "./drawing.ts";
import type { SpawnDetachedFn } from "./exec.ts";
import type { AlertLog, LogEvent } from "./log.ts";
import type { AlertRequest } from "./ticket.ts";
import type { WhichCli } from "./which-cli.ts";

export interface DetachedPorts {
	readonly whichCli: Pick<WhichCli, "choose">;
	/** Its processes must not keep pi alive. */
	readonly assets: Pick<Assets, "ensure">;
	readonly log: Pick<AlertLog, "append">;
	readonly spawnDetached: SpawnDetachedFn;
	readonly spawnPartingClear: (parting: PartingClear) => void;
	readonly env: NodeJS.ProcessEnv;
}

export class DetachedAlerts {
	readonly #ports: DetachedPorts;

	constructor(ports: DetachedPorts) {
		this.#ports = ports;
	}

	/** Gets ready, while the run goes on, what an alert at its end would have to wait for. Never rejects. */
	async prepare(requests: readonly AlertRequest[]): Promise<void> {
		for (const request of requests) await this.#ready(request);
	}

	/** Resolves once the process that draws is started, or the log says why there is none. Never rejects. */
	async show(request: AlertRequest): Promise<void> {
		const ready = await this.#ready(request, (failure) => this.#logFailure(request, failure));
		if (!ready) return;
		const { cli, pattern, anim } = ready;
		const show = new CommandLine(cli, this.#ports.env).show(anim, request.target, lifetimeSeconds(request));
		this.#ports.spawnDetached(show.file, show.args, show.env);
		this.#log(request, { outcome: "fired", pattern, anim, detached: true });
		if (cli.abilities.expiresAfter) return;
		this.#ports.spawnPartingClear({ cli, target: request.target, delayMs: request.holdSeconds * 1_000 });
	}

	async #ready(request: AlertRequest, onFailure: (failure: Failure) => void = () => undefined) {
		const choice = await this.#ports.whichCli.choose(request.command);
		if (!choice.ok) {
			onFailure(choice.failure);
			return undefined;
		}
		const { cli } = choice;
		const commands = new CommandLine(cli, this.#ports.env);
		for (const pattern of new Set([request.pattern, request.fallbackPattern])) {
			const asset = await this.#ports.assets.ensure(pattern, request.target.display, commands);
			if (asset.ok) return { cli, pattern, anim: asset.anim };
			onFailure(asset.failure);
			if (asset.failure.kind !== "bad_asset") return undefined;
		}
		return undefined;
	}

	#logFailure(request: AlertRequest, { kind, message }: Failure): void {
		this.#log(request, { outcome: "error", kind, error: message });
	}

	#log({ alert, reason, session }: AlertRequest, event: LogEvent): void {
		this.#ports.log.append({ ts: new Date().toISOString(), reason, alert, ...event, pid: process.pid, session });
	}
}
