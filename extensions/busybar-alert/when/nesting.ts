/**
 * Whether this pi runs inside another pi. Reads and sets our marker in the environment, checks whether a process is alive,
 * and counts the sessions of this process on `globalThis`.
 */

const MARKER = "PI_BUSYBAR_ALERT_PID";

export type PiMode = "tui" | "rpc" | "json" | "print";

/**
 * True for a subagent, and for a pi that has no terminal and whose environment names another pi that is still alive.
 * A pi in a terminal belongs to a person, even with a marker: a tmux server that an agent started passes it on to every
 * later window. If this pi is not nested, sets the marker to our own pid, for the pis that this one may start.
 */
export function isNested(mode: PiMode, env: NodeJS.ProcessEnv, pid: number, isAlive = processIsAlive): boolean {
	if (env.PI_SUBAGENT_CHILD) return true;
	const marked = Number(env[MARKER]);
	const other = Number.isInteger(marked) && marked > 0 && marked !== pid && isAlive(marked);
	if (mode !== "tui" && other) return true;
	env[MARKER] = String(pid);
	return false;
}

function processIsAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		// It is alive, but belongs to another user.
		return (error as NodeJS.ErrnoException).code === "EPERM";
	}
}

/** Kept outside this module, because /reload imports it again. */
const SESSIONS = Symbol.for("pi-busybar-alert/sessions");

/**
 * Counts a session of this process until `leave` is called. If there are `others`, one without a user interface is a
 * subagent, because pi itself ends one session before it starts the next.
 */
export function joinSessions(): { readonly others: number; readonly leave: () => void } {
	const holder = globalThis as { [SESSIONS]?: Set<object> };
	holder[SESSIONS] ??= new Set();
	const sessions = holder[SESSIONS];
	const others = sessions.size;
	const session = {};
	sessions.add(session);
	return { others, leave: () => void sessions.delete(session) };
}
