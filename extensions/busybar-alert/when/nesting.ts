/**
 * Whether this pi runs inside another pi. Reads and sets our marker in the environment; asks the system about a pid;
 * counts the sessions of this process on `globalThis`.
 */

const MARKER = "PI_BUSYBAR_ALERT_PID";

export type PiMode = "tui" | "rpc" | "json" | "print";

/**
 * True for a subagent, and for a pi without a terminal of its own whose environment names another pi that still lives.
 * A terminal is a person's: a tmux server that an agent started passes the marker on to every later window.
 * Otherwise puts our own pid there, for the pis that this one may start.
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
		// It lives, under another user.
		return (error as NodeJS.ErrnoException).code === "EPERM";
	}
}

/** Outlives this module, which /reload imports anew. */
const SESSIONS = Symbol.for("pi-busybar-alert/sessions");

/**
 * Counts a session of this process until `leave` is called. Beside `others`, one without a user interface is a subagent:
 * pi itself ends a session before it starts the next.
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
