/**
 * What an extension tells /px about itself, and how /px finds it: by asking on `pi.events` each time it opens.
 * There is no list to keep. A child session in the same process has its own event bus, and so its own extensions.
 */

import type { EventBus, ExtensionAPI, ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import type { TObject } from "typebox";

export interface PiActionChoice {
	/** Passed to `run`; empty for no arguments. */
	readonly args: string;
	readonly label: string;
}

/** Something the user can run. /px shows what it returns, or the message of what it throws. */
export interface PiAction {
	/** One word, as in `/px EXTENSION ACTION`. */
	readonly id: string;
	readonly label: string;
	readonly description: string;
	/** The user is asked for confirmation first. */
	readonly dangerous?: boolean;
	/** Arguments to choose from; Enter takes the first. Without choices, /px runs the action with no arguments. */
	readonly choices?: readonly PiActionChoice[];
	/** May ask the user through `ctx.ui`. Must not replace the session. */
	run(args: string, ctx: ExtensionCommandContext): Promise<string | undefined>;
}

export interface SettingsInForce {
	readonly values: Readonly<Record<string, unknown>>;
	/** A sentence to show with a setting, such as `From the environment variable LAMP_COLOUR.` */
	readonly notes: Readonly<Record<string, string>>;
}

export interface PiExtensionSettings {
	/**
	 * One property per setting: boolean, enum, integer, number or string, with its `default`. /px shows its `title`,
	 * `description`, `group` and `rule` (completes "must be ..."). `secret: true` keeps the value off the screen.
	 */
	readonly schema: TObject;
	load(): Promise<SettingsInForce>;
	/** `undefined` resets a setting. Rejects with a sentence for the user; the old values then stay in force. */
	save(changes: Readonly<Record<string, unknown>>): Promise<SettingsInForce>;
}

export interface PiExtension {
	/** One word, unique among extensions. If two share it, /px shows the one that pi loaded first, and says so. */
	readonly id: string;
	readonly name: string;
	readonly description: string;
	readonly actions: readonly PiAction[];
	readonly settings?: PiExtensionSettings;
	/** The path of a Markdown file. */
	readonly docs?: string;
}

const WHO_IS_THERE = "px/1/who-is-there";
const SCREEN_OPEN = "px/1/screen-open";

/**
 * Adds the extension to /px until its session shuts down or the returned function is called.
 * Call it in the extension's factory.
 */
export function registerPiExtension(pi: Pick<ExtensionAPI, "events" | "on">, extension: PiExtension): () => void {
	const remove = answer(pi.events, WHO_IS_THERE, extension);
	removeAtShutdown(pi, remove);
	return remove;
}

export interface RegisteredExtensions {
	/** In the order that pi loaded them. */
	readonly extensions: readonly PiExtension[];
	/** Ids that more than one extension uses. */
	readonly duplicates: readonly string[];
}

export function registeredExtensions(events: EventBus): RegisteredExtensions {
	const extensions = new Map<string, PiExtension>();
	const duplicates = new Set<string>();
	for (const extension of ask<PiExtension>(events, WHO_IS_THERE)) {
		if (extensions.has(extension.id)) duplicates.add(extension.id);
		else extensions.set(extension.id, extension);
	}
	return { extensions: [...extensions.values()], duplicates: [...duplicates] };
}

/** Lets other extensions know whether /px is open. For the factory of /px. */
export function announcePxScreen(pi: Pick<ExtensionAPI, "events" | "on">, isOpen: () => boolean): void {
	removeAtShutdown(pi, answer(pi.events, SCREEN_OPEN, isOpen));
}

/** Whether /px is open. pi reports it as a prompt of kind `custom`, although it asks the user nothing. */
export function isPxScreenOpen(events: EventBus): boolean {
	return ask<() => boolean>(events, SCREEN_OPEN).some((isOpen) => isOpen());
}

/**
 * Whether this is the first copy of the extension `name` in this pi. A second copy must not register commands, because
 * pi would then call both of them `/command:1` and `/command:2`. Call it in the factory.
 */
export function claimPlace(pi: Pick<ExtensionAPI, "events" | "on">, name: string): boolean {
	const channel = `px/1/place/${name}`;
	if (ask(pi.events, channel).length > 0) return false;
	removeAtShutdown(pi, answer(pi.events, channel, true));
	return true;
}

// pi before 1.0 keeps the subscriptions of an old instance after /reload.
function removeAtShutdown(pi: Pick<ExtensionAPI, "on">, remove: () => void): void {
	pi.on("session_shutdown", () => void remove());
}

// `emit` calls every handler before it returns, so the answers are complete.
function ask<T>(events: EventBus, channel: string): T[] {
	const answers: T[] = [];
	events.emit(channel, (given: T) => void answers.push(given));
	return answers;
}

function answer<T>(events: EventBus, channel: string, given: T): () => void {
	return events.on(channel, (collect) => (collect as (given: T) => void)(given));
}
