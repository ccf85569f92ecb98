// How /px finds extensions on pi's event bus.

import { createEventBus, type EventBus, type ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { expect, test } from "vitest";
import {
	announcePxScreen,
	claimPlace,
	isPxScreenOpen,
	type PiExtension,
	registeredExtensions,
	registerPiExtension,
} from "../../extensions/_shared/registry.ts";

/** One extension's pi in a session; `shutDown` does what pi does when the session ends. */
function instance(events: EventBus) {
	const handlers: (() => void)[] = [];
	const on = ((type: string, handler: () => void) => {
		if (type === "session_shutdown") handlers.push(handler);
	}) as unknown as ExtensionAPI["on"];
	const shutDown = () => {
		for (const handler of handlers) handler();
	};
	return { pi: { events, on }, shutDown };
}

const extension = (id: string, name = id): PiExtension => ({ id, name, description: "", actions: [] });
const names = (events: EventBus) => registeredExtensions(events).extensions.map(({ name }) => name);

test("extensions are listed in the order that pi loaded them", () => {
	const events = createEventBus();
	expect(names(events)).toEqual([]);

	registerPiExtension(instance(events).pi, extension("a"));
	expect(names(events)).toEqual(["a"]);
	registerPiExtension(instance(events).pi, extension("b"));
	expect(names(events)).toEqual(["a", "b"]);
});

test("after a reload, only the new instance is listed, even if the bus keeps old subscriptions", () => {
	const events = createEventBus();
	const old = instance(events);
	registerPiExtension(old.pi, extension("a", "old"));

	old.shutDown();
	registerPiExtension(instance(events).pi, extension("a", "new"));

	expect(registeredExtensions(events)).toMatchObject({ extensions: [{ name: "new" }], duplicates: [] });
});

test("an extension can remove itself, and removing it twice does no harm", () => {
	const events = createEventBus();
	const remove = registerPiExtension(instance(events).pi, extension("a"));
	registerPiExtension(instance(events).pi, extension("b"));

	remove();
	remove();

	expect(names(events)).toEqual(["b"]);
});

test("of two extensions with the same id the first is listed, and the id is reported; without the first, the second is listed", () => {
	const events = createEventBus();
	const remove = registerPiExtension(instance(events).pi, extension("a", "first"));
	registerPiExtension(instance(events).pi, extension("a", "second"));

	expect(registeredExtensions(events)).toMatchObject({ extensions: [{ name: "first" }], duplicates: ["a"] });
	remove();
	expect(registeredExtensions(events)).toMatchObject({ extensions: [{ name: "second" }], duplicates: [] });
});

test("a child session with its own bus in the same process neither sees nor changes the list", () => {
	const parent = createEventBus();
	const child = createEventBus();
	registerPiExtension(instance(parent).pi, extension("a"));

	const inChild = instance(child);
	registerPiExtension(inChild.pi, extension("b"));
	expect(names(child)).toEqual(["b"]);
	inChild.shutDown();

	expect(names(parent)).toEqual(["a"]);
});

test("others can ask whether /px is open; after the session has ended it is not", () => {
	const events = createEventBus();
	expect(isPxScreenOpen(events)).toBe(false);
	let isOpen = false;
	const launcher = instance(events);
	announcePxScreen(launcher.pi, () => isOpen);

	expect(isPxScreenOpen(events)).toBe(false);
	isOpen = true;
	expect(isPxScreenOpen(events)).toBe(true);
	launcher.shutDown();
	expect(isPxScreenOpen(events)).toBe(false);
});

test("a second copy of an extension is told so until the session of the first ends", () => {
	const events = createEventBus();
	const first = instance(events);
	expect(claimPlace(first.pi, "x")).toBe(true);
	expect(claimPlace(instance(events).pi, "x")).toBe(false);
	expect(claimPlace(instance(events).pi, "y")).toBe(true);

	first.shutDown();

	expect(claimPlace(instance(events).pi, "x")).toBe(true);
});
