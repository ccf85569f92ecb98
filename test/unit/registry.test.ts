// How extensions find each other: the registry on pi's own event bus.

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

/** One extension's pi in a session; `shutDown` is what pi does at the session's end. */
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

test("extensions are listed in the order in which they were loaded, whoever asks first", () => {
	const events = createEventBus();
	expect(names(events)).toEqual([]);

	registerPiExtension(instance(events).pi, extension("a"));
	expect(names(events)).toEqual(["a"]);
	registerPiExtension(instance(events).pi, extension("b"));
	expect(names(events)).toEqual(["a", "b"]);
});

test("after a reload on a bus that keeps old subscriptions, only the new instance is listed", () => {
	const events = createEventBus();
	const old = instance(events);
	registerPiExtension(old.pi, extension("a", "old"));

	old.shutDown();
	registerPiExtension(instance(events).pi, extension("a", "new"));

	expect(registeredExtensions(events)).toMatchObject({ extensions: [{ name: "new" }], duplicates: [] });
});

test("an extension can take itself out, more than once", () => {
	const events = createEventBus();
	const remove = registerPiExtension(instance(events).pi, extension("a"));
	registerPiExtension(instance(events).pi, extension("b"));

	remove();
	remove();

	expect(names(events)).toEqual(["b"]);
});

test("of two with the same id the first is listed and the clash is named; when the first goes, the second is there", () => {
	const events = createEventBus();
	const remove = registerPiExtension(instance(events).pi, extension("a", "first"));
	registerPiExtension(instance(events).pi, extension("a", "second"));

	expect(registeredExtensions(events)).toMatchObject({ extensions: [{ name: "first" }], duplicates: ["a"] });
	remove();
	expect(registeredExtensions(events)).toMatchObject({ extensions: [{ name: "second" }], duplicates: [] });
});

test("a child session in the same process, which has a bus of its own, neither sees nor changes the list", () => {
	const parent = createEventBus();
	const child = createEventBus();
	registerPiExtension(instance(parent).pi, extension("a"));

	const inChild = instance(child);
	registerPiExtension(inChild.pi, extension("b"));
	expect(names(child)).toEqual(["b"]);
	inChild.shutDown();

	expect(names(parent)).toEqual(["a"]);
});

test("others know whether a screen of /px is open, and none is once the session has ended", () => {
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

test("the second copy of an extension finds its place taken, until the first one's session ends", () => {
	const events = createEventBus();
	const first = instance(events);
	expect(claimPlace(first.pi, "x")).toBe(true);
	expect(claimPlace(instance(events).pi, "x")).toBe(false);
	expect(claimPlace(instance(events).pi, "y")).toBe(true);

	first.shutDown();

	expect(claimPlace(instance(events).pi, "x")).toBe(true);
});
