// The table `deaths`: every way in which pi ends or its session is replaced, at every stage of an alert.

import { spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KEY } from "../support/terminal.ts";
import type { Death, DyingPi, Stage } from "./deaths-pi.ts";
import { die, makeAnimations } from "./deaths-row.ts";
import { COLUMNS, emptyRow } from "./deaths-verdict.ts";
import type { FaultTable } from "./report.ts";
import { sideBySide } from "./side-by-side.ts";

const AT_A_TIME = 4;
const CONTAINER = ["unshare", "-pf", "--mount-proc", "--kill-child"];

type End = (pi: DyingPi) => Promise<void>;

const typed =
	(keys: string): End =>
	async ({ terminal }) =>
		terminal.write(keys);

/** A dialog takes all keys. */
const typedAfterEscape =
	(keys: string): End =>
	async ({ terminal }) => {
		terminal.write(KEY.escape);
		await terminal.waitForScreen("The end of the dialog", (screen) => !screen.includes("Which one?"));
		terminal.write(keys);
	};

const signalled =
	(signal: NodeJS.Signals): End =>
	async (pi) =>
		pi.kill(signal);

const hungUp: End = async ({ terminal }) => terminal.hangUp();

/** Types a command that asks which one, and takes the first: that of the prompt before. */
const chosen =
	(command: string): End =>
	async ({ terminal }) => {
		terminal.write(`${command}${KEY.enter}`);
		await terminal.waitForText("› please");
		terminal.write(KEY.enter);
	};

const WITHOUT_QUESTION: readonly Stage[] = ["asset", "draw", "sent", "hold", "clear"];
const EVERY_STAGE: readonly Stage[] = [...WITHOUT_QUESTION, "question"];

/** Those of a terminal, with a hold that tells apart who made the bar dark. */
function at(
	stages: readonly Stage[],
	death: Omit<Death, "stage" | "mode" | "holdSeconds"> & Partial<Pick<Death, "mode" | "holdSeconds">>,
): Death[] {
	return stages.map((stage) => ({ mode: "terminal", holdSeconds: holdSeconds(stage, death), ...death, stage }));
}

function holdSeconds(stage: Stage, { isReplaced, isSudden, container }: Partial<Death>): number {
	// The clear comes after the hold.
	if (stage === "clear") return 1;
	// The shortest that can be set.
	if (stage === "question") return 5;
	// A key that is pressed lets an alert have 3 s.
	if (isReplaced) return 3;
	// Often nobody clears, and the bar's timer adds 5 s.
	return isSudden || container ? 2 : 10;
}

const newByRpc: End = async ({ rpc }) => rpc.send({ type: "new_session" });

const resumedByRpc: End = async ({ rpc }) => {
	rpc.send({ type: "get_state" });
	const { data } = await rpc.waitFor((record) => record.type === "response" && record.command === "get_state");
	rpc.send({ type: "switch_session", sessionPath: (data as { sessionFile: string }).sessionFile });
};

const forkedByRpc: End = async ({ rpc }) => {
	rpc.send({ type: "get_fork_messages" });
	const { data } = await rpc.waitFor((record) => record.type === "response" && record.command === "get_fork_messages");
	const [message] = (data as { messages: { entryId: string }[] }).messages;
	rpc.send({ type: "fork", entryId: message?.entryId });
};

const closed: End = async ({ rpc }) => void (await rpc.close());

const QUIT = typed(`/quit${KEY.enter}`);
const QUIT_AFTER_ESCAPE = typedAfterEscape(`/quit${KEY.enter}`);
const HALF_AN_HOUR = 1_800;

/** The longest rows first, so that none is waited for alone. */
export const DEATHS: readonly Death[] = [
	...at(["question"], {
		how: "SIGKILL, a question of half an hour",
		isSudden: true,
		holdSeconds: HALF_AN_HOUR,
		end: signalled("SIGKILL"),
	}),
	...at(["question"], {
		how: "SIGKILL, next pi at once",
		isSudden: true,
		holdSeconds: HALF_AN_HOUR,
		nextPi: "at once",
		end: signalled("SIGKILL"),
	}),
	...(["at once", "after the hold"] as const).flatMap((nextPi) =>
		at(["hold"], {
			how: `SIGKILL, CLI without --expires-after, next pi ${nextPi}`,
			isSudden: true,
			hasPlainCli: true,
			nextPi,
			end: signalled("SIGKILL"),
		}),
	),
	...at([...EVERY_STAGE, "parked"], { how: "SIGKILL", isSudden: true, end: signalled("SIGKILL") }),
	...at(EVERY_STAGE, { how: "SIGINT", isSudden: true, end: signalled("SIGINT") }),
	...at(WITHOUT_QUESTION, { how: "/quit", end: QUIT }),
	...at(["question"], { how: "Esc, /quit", end: QUIT_AFTER_ESCAPE }),
	...at(WITHOUT_QUESTION, { how: "Ctrl+D", end: typed(KEY.ctrlD) }),
	...at(["question"], { how: "Esc, Ctrl+D", end: typedAfterEscape(KEY.ctrlD) }),
	...at(["question"], { how: "input closed (RPC)", mode: "rpc", end: closed }),
	...at([...EVERY_STAGE, "parked"], { how: "SIGTERM", end: signalled("SIGTERM") }),
	...at(["hold", "question"], { how: "SIGTERM (RPC)", mode: "rpc", end: signalled("SIGTERM") }),
	...at(EVERY_STAGE, { how: "SIGHUP", end: signalled("SIGHUP") }),
	// A pi with an open question is at work.
	...at(WITHOUT_QUESTION, { how: "terminal closed, pi idle", end: hungUp }),
	...at(EVERY_STAGE, { how: "terminal closed, pi at work", isWorking: true, end: hungUp }),
	...at([...EVERY_STAGE, "parked"], { how: "exception in another extension", end: signalled("SIGUSR2") }),
	...at(WITHOUT_QUESTION, { how: "/new", isReplaced: true, end: typed(`/new${KEY.enter}`) }),
	...at(["question"], { how: "/new (RPC)", mode: "rpc", isReplaced: true, end: newByRpc }),
	...at(WITHOUT_QUESTION, { how: "/resume", isReplaced: true, end: chosen("/resume") }),
	...at(["question"], { how: "/resume (RPC)", mode: "rpc", isReplaced: true, end: resumedByRpc }),
	...at(WITHOUT_QUESTION, { how: "/fork", isReplaced: true, end: chosen("/fork") }),
	...at(["question"], { how: "/fork (RPC)", mode: "rpc", isReplaced: true, end: forkedByRpc }),
	// pi refuses it while a question is open.
	...at(WITHOUT_QUESTION, { how: "/reload", isReplaced: true, end: typed(`/reload${KEY.enter}`) }),
	...at(WITHOUT_QUESTION, { how: "container, /quit", container: CONTAINER, end: QUIT }),
	...at(["question"], { how: "container, Esc, /quit", container: CONTAINER, end: QUIT_AFTER_ESCAPE }),
	...at(["question"], { how: "container, input closed (RPC)", mode: "rpc", container: CONTAINER, end: closed }),
	...at([...EVERY_STAGE, "parked"], { how: "container, SIGTERM", container: CONTAINER, end: signalled("SIGTERM") }),
	...at(["asset", "draw", "sent", "hold"], { how: "container, end of pi -p", mode: "print", container: CONTAINER }),
];

/** Whether this machine can have a row's container. */
export function canContain({ container: [program, ...args] = [] }: Death): boolean {
	return program === undefined || spawnSync(program, [...args, "true"]).status === 0;
}

export async function deaths(): Promise<FaultTable> {
	const folder = mkdtempSync(join(tmpdir(), "busybar-deaths-"));
	try {
		await makeAnimations(folder);
		const rows = await sideBySide(DEATHS, AT_A_TIME, async (death) =>
			canContain(death) ? die(death, folder) : emptyRow(death, { failures: [], notRun: "needs unshare" }),
		);
		return { title: "Deaths: how pi ended, and when the bar went dark", columns: COLUMNS, rows };
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
}
