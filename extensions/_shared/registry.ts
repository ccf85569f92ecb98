/**
 * What an extension declares about itself, and how the /px screen finds it: over `pi.events`, asked anew each time.
 * Keeps no list anywhere; a child session in the same process has its own bus and so its own answers.
 */

import type { EventBus, ExtensionAPI, ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import type { TObject } from "typebox";

export interface PiActionChoice {
	/** What `run` gets; empty for no argument. */
	readonly args: string;
	readonly label: string;
}

/** Something a user can start. Its answer is shown to them; so is the message of what it throws. */
export interface PiAction {
	/** One word, as in `/px EXTENSION ACTION`. */
	readonly id: string;
	readonly label: string;
	readonly description: string;
	/** The user is asked first. */
	readonly dangerous?: boolean;
	/** Arguments to pick from; without them, /px starts it with none. The first is what Enter means. */
	readonly choices?: readonly PiActionChoice[];
	/** May ask the user through `ctx.ui`. Must not replace the session. */
	run(args: string, ctx: ExtensionCommandContext): Promise<string | undefined>;
}

export interface SettingsInForce {
	readonly values: Readonly<Record<string, unknown>>;
	/** By setting: a sentence to show with it, such as which environment variable is overruled. */
	readonly notes: Readonly<Record<string, string>>;
}

export interface PiExtensionSettings {
	/**
	 * One property per setting: boolean, enum, integer, number or string, with its `default`. Shown if there: `title`,
	 * `description`, `group`, `rule` (completes "must be ..."). `secret: true` keeps the value off the screen.
	 */
	readonly schema: TObject;
	load(): Promise<SettingsInForce>;
	/** An undefined value goes back to the default. Rejects with a sentence for the user; the old values then hold. */
	save(changes: Readonly<Record<string, unknown>>): Promise<SettingsInForce>;
}

export interface PiExtension {
	/** One word, unique among extensions. Of two that share it, /px shows the one loaded first, and says so. */
	readonly id: string;
	readonly name: string;
	readonly description: string;
	readonly actions: readonly PiAction[];
	readonly settings?: PiExtensionSettings;
	/** Path of a Markdown file. */
	readonly docs?: string;
}

const WHO_IS_THERE = "px/1/who-is-there";
const SCREEN_OPEN = "px/1/screen-open";

/**
 * Puts the extension into /px, until its session shuts down or the returned function is called.
 * To be called from the extension's factory.
 */
export function registerPiExtension(pi: Pick<ExtensionAPI, "events" | "on">, extension: PiExtension): () => void {
	const remove = answer(pi.events, WHO_IS_THERE, extension);
	removeAtShutdown(pi, remove);
	return remove;
}

export interface RegisteredExtensions {
	/** In the order in which pi loaded them. */
	readonly extensions: readonly PiExtension[];
	/** Ids that more than one extension has. */
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

/** Lets others know whether a screen of /px is open. For the launcher's factory. */
export function announcePxScreen(pi: Pick<ExtensionAPI, "events" | "on">, isOpen: () => boolean): void {
	removeAtShutdown(pi, answer(pi.events, SCREEN_OPEN, isOpen));
}

/** Whether a screen of /px is open: pi announces it as a prompt of kind `custom`, but it is no question. */
export function isPxScreenOpen(events: EventBus): boolean {
	return ask<() => boolean>(events, SCREEN_OPEN).some((isOpen) => isOpen());
}

/**
 * Whether this is the first copy of the extension `name` in its pi; a second one would turn the commands of both into
 * `/command:1` and `/command:2`. To be called from the factory.
 */
export function claimPlace(pi: Pick<ExtensionAPI, "events" | "on">, name: string): boolean {
	const channel = `px/1/place/${name}`;
	if (ask(pi.events, channel).length > 0) return false;
	removeAtShutdown(pi, answer(pi.events, channel, true));
	return true;
}

// pi before 1.0 keeps the subscriptions of an old instance over /reload.
function removeAtShutdown(pi: Pick<ExtensionAPI, "on">, remove: () => void): void {
	pi.on("session_shutdown", () => void remove());
}

// `emit` calls every handler before it returns: the collected answers are complete.
function ask<T>(events: EventBus, channel: string): T[] {
	const answers: T[] = [];
	events.emit(channel, (given: T) => void answers.push(given));
	return answers;
}

function answer<T>(events: EventBus, channel: string, given: T): () => void {
	return events.on(channel, (collect) => (collect as (given: T) => void)(given));
}
