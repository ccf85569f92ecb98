import { expect, test } from "vitest";
import { isNested, joinSessions } from "../../extensions/busybar-alert/when/nesting.ts";

const alive = () => true;
const dead = () => false;
const OTHER = "4711";

test("a pi that a person starts is not nested, and marks the environment for the pis that it may start", () => {
	const env: NodeJS.ProcessEnv = {};
	expect(isNested("tui", env, 100, alive)).toBe(false);
	expect(isNested("print", { ...env }, 200, alive)).toBe(true);
	expect(isNested("rpc", { ...env }, 200, alive)).toBe(true);
});

test("the same pi after /new or /reload is not nested in itself", () => {
	const env: NodeJS.ProcessEnv = {};
	isNested("rpc", env, 100, alive);
	expect(isNested("rpc", env, 100, alive)).toBe(false);
});

test("a pi in a tmux server that an agent once started is not nested, and sets its own marker", () => {
	const env: NodeJS.ProcessEnv = { PI_BUSYBAR_ALERT_PID: OTHER };
	expect(isNested("tui", env, 100, alive)).toBe(false);
	expect(env.PI_BUSYBAR_ALERT_PID).toBe("100");
});

test("a stale or damaged marker is replaced", () => {
	for (const marker of [OTHER, "", "x", "-1", "1.5"]) {
		const env: NodeJS.ProcessEnv = { PI_BUSYBAR_ALERT_PID: marker };
		expect(isNested("rpc", env, 100, dead)).toBe(false);
		expect(env.PI_BUSYBAR_ALERT_PID).toBe("100");
	}
});

test("a nested pi leaves the marker to the pi that set it", () => {
	const env: NodeJS.ProcessEnv = { PI_BUSYBAR_ALERT_PID: OTHER };
	expect(isNested("json", env, 100, alive)).toBe(true);
	expect(env.PI_BUSYBAR_ALERT_PID).toBe(OTHER);
});

test("a subagent is nested, whatever its mode", () => {
	expect(isNested("tui", { PI_SUBAGENT_CHILD: "1" }, 100, dead)).toBe(true);
});

test("a session knows how many others there are in its process, until they leave", () => {
	const [one, other] = [joinSessions(), joinSessions()];
	expect(other.others).toBe(one.others + 1);
	one.leave();
	other.leave();
	const next = joinSessions();
	expect(next.others).toBe(one.others);
	next.leave();
});

test("a pi that was started by a living process with that pid is nested", () => {
	expect(isNested("rpc", { PI_BUSYBAR_ALERT_PID: String(process.ppid) }, process.pid)).toBe(true);
});
