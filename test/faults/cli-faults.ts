// What can be wrong with the program that talks to the bar.

import { readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PiOptions } from "../support/pi.ts";
import { waitUntil } from "../support/wait.ts";
import { AS_BUNDLED, type FakeCli, fakeCli } from "./fake-cli.ts";
import type { Fault } from "./fault.ts";
import type { Scene } from "./scene.ts";

/** Ends only by SIGKILL. */
const HANG = "trap '' TERM INT HUP; while :; do sleep 1; done";
const KEY = "8642097531";
const FOREIGN_HELP = "echo 'Usage: busybar install|cli|wait|clean'; exit 2";

/** On PATH, where nothing has to be set. */
function onPath(scene: Scene, cli: FakeCli): PiOptions {
	const folder = join(scene.desk.home.dir, "path");
	fakeCli(folder, cli);
	return { pathDirs: [folder] };
}

/** In the `command` setting. */
function configured(scene: Scene, cli: FakeCli): void {
	const command = fakeCli(join(scene.desk.home.dir, "own"), cli);
	scene.desk.saveSettings({ alertOn: "agent_settled", holdSeconds: 1, command });
}

const SHOWN = ["fired agent settled", "cleared agent settled"];

export const CLI_FAULTS: readonly Fault[] = [
	{
		name: "show hangs and ignores SIGTERM",
		isSlow: true,
		arrange: (scene) => onPath(scene, { show: HANG }),
		expect: {
			// It may have drawn before it hung.
			log: ["error agent settled unreachable", "cleared agent settled"],
			logAtEnd: ["skipped agent settled withdrawn"],
			notices: [/no answer in time/],
		},
	},
	{
		name: "pi quits while show hangs and ignores SIGTERM",
		isSlow: true,
		arrange: (scene) => onPath(scene, { show: `touch ${join(scene.desk.home.dir, "hangs")}; ${HANG}` }),
		play: async (scene, options) => {
			const pi = await scene.start(options);
			await scene.prompt(pi);
			await waitUntil("The hang", 20_000, () => readdirSync(scene.desk.home.dir).includes("hangs"));
		},
		expect: { log: [], logAtEnd: ["cleared agent settled detached"] },
	},
	{
		name: "clear hangs and ignores SIGTERM",
		isSlow: true,
		arrange: (scene) => onPath(scene, { clear: HANG }),
		expect: { log: SHOWN },
	},
	{
		name: "show dies of SIGSEGV",
		arrange: (scene) => onPath(scene, { show: "kill -SEGV $$" }),
		expect: {
			log: ["error agent settled crashed", "cleared agent settled"],
			notices: [/busybar show.*SIGSEGV/],
			neverSaid: /No BUSY Bar at|cable/,
		},
	},
	{
		name: "show of a configured CLI is killed by someone else",
		arrange: (scene) => configured(scene, { show: "kill -KILL $$" }),
		expect: {
			log: ["error agent settled crashed", "cleared agent settled"],
			notices: [/busybar show.*SIGKILL/],
			neverSaid: /No BUSY Bar at|cable/,
		},
	},
	{
		name: "show fails without a message",
		arrange: (scene) => onPath(scene, { show: "exit 3" }),
		expect: {
			log: ["error agent settled crashed", "cleared agent settled"],
			notices: [/busybar show.*exit code 3/],
			neverSaid: /No BUSY Bar at|cable/,
		},
	},
	{
		name: "show prints without end",
		arrange: (scene) => onPath(scene, { show: "yes 'a long line of nothing'" }),
		expect: {
			log: ["error agent settled unknown", "cleared agent settled"],
			notices: [/printed more than a megabyte/],
			neverSaid: /a long line of nothing/,
		},
	},
	{
		name: "show prints a megabyte of errors, then draws",
		arrange: (scene) => onPath(scene, { show: `head -c 900000 /dev/zero >&2; ${AS_BUNDLED}; exit 0` }),
		expect: { log: SHOWN },
	},
	{
		name: "show fails with escape sequences",
		arrange: (scene) =>
			onPath(scene, {
				show: "printf '\\033]0;owned\\007\\033[2J\\033[31mError: the \\033[1mcable\\033[0m is blue\\n' >&2; exit 1",
			}),
		expect: { log: ["error agent settled unknown"], notices: [/^the cable is blue$/], neverSaid: /[\x1b\x07]|owned/ },
	},
	{
		// Nobody can tell from outside: that it exits 0 is the CLI's own word, and the log has no other.
		name: "show exits 0 without drawing",
		arrange: (scene) => onPath(scene, { show: "echo ok; exit 0" }),
		expect: { log: SHOWN, shown: 0 },
	},
	{
		name: "every command leaves a child that holds its pipes",
		arrange: (scene) => onPath(scene, { show: leavesChild(), clear: leavesChild(), inspect: leavesChild() }),
		play: async (scene, options) => {
			const pi = await scene.start(options);
			await scene.prompt(pi);
			await scene.logged(2);
			const before = pipesOf(pi.pid);
			await scene.prompt(pi);
			await scene.logged(4);
			const after = pipesOf(pi.pid);
			if (after > before) throw new Error(`pi has ${after} pipes open, before the second alert ${before}`);
		},
		expect: { log: [...SHOWN, ...SHOWN] },
	},
	{
		name: "show --help of the busybar on PATH hangs",
		arrange: (scene) => onPath(scene, { help: HANG }),
		expect: { log: SHOWN },
	},
	{
		name: "show --help of the configured CLI hangs",
		arrange: (scene) => configured(scene, { help: HANG }),
		expect: { log: ["error agent settled wrong_cli"], notices: [/did not answer "show --help" within 3 s/] },
	},
	{
		name: "another program named busybar is first on PATH",
		arrange: (scene) => onPath(scene, { help: FOREIGN_HELP }),
		expect: { log: SHOWN },
	},
	{
		name: "the configured CLI is another program",
		arrange: (scene) => configured(scene, { help: FOREIGN_HELP }),
		expect: { log: ["error agent settled wrong_cli"], notices: [/own\/busybar is another program/] },
	},
	{
		name: "the configured CLI does not exist",
		settings: { command: "/nowhere/busybar" },
		play: async (scene, options) => {
			const pi = await scene.start(options);
			await scene.prompt(pi);
			await scene.logged(1);
			await scene.prompt(pi);
			await scene.logged(2);
		},
		expect: {
			log: ["error agent settled not_found", "skipped agent settled backoff"],
			logAtEnd: ["skipped agent settled withdrawn"],
			notices: [/\/nowhere\/busybar does not exist/],
		},
	},
	{
		name: "the CLI repeats the access key in its error",
		settings: { token: KEY },
		arrange: (scene) => onPath(scene, { isPlain: true, show: 'echo "Error: not with the key $5" >&2; exit 1' }),
		expect: {
			log: ["error agent settled unknown"],
			notices: [/^not with the key \[token\]$/],
			neverSaid: new RegExp(KEY),
		},
	},
	{
		name: "create is killed by someone else, once",
		isNewMachine: true,
		arrange: (scene) => onPath(scene, { create: onceIn(scene, "kill -KILL $$") }),
		play: async (scene, options) => {
			const pi = await scene.start(options);
			await scene.prompt(pi);
			await scene.logged(1);
			await scene.prompt(pi);
			await scene.logged(3);
			await scene.untilDark();
		},
		expect: {
			log: ["error agent settled crashed", ...SHOWN],
			notices: [/busybar create.*SIGKILL/],
		},
	},
	{
		name: "inspect hangs and ignores SIGTERM",
		arrange: (scene) => onPath(scene, { inspect: HANG }),
		expect: {
			log: ["error agent settled unknown"],
			notices: [/busybar inspect did not finish within 5 s/],
			neverSaid: /No BUSY Bar at|animation cannot be used/,
		},
	},
	{
		name: "create writes half of the file and succeeds, once",
		isNewMachine: true,
		arrange: (scene) =>
			onPath(scene, {
				create: onceIn(scene, `${AS_BUNDLED}; for last; do :; done; truncate -s 100 "$last"; exit 0`),
			}),
		play: async (scene, options) => {
			const pi = await scene.start(options);
			await scene.prompt(pi);
			await scene.logged(1);
			await scene.prompt(pi);
			await scene.logged(3);
			await scene.untilDark();
		},
		expect: { log: ["error agent settled bad_asset", ...SHOWN], notices: [/animation cannot be used/] },
	},
];

function leavesChild(): string {
	// Of another home: what a CLI starts for itself is none of pi's.
	return `env -i sleep 4 & ${AS_BUNDLED}; exit $?`;
}

/** Only the first time; afterwards as the bundled CLI. */
function onceIn(scene: Scene, body: string): string {
	const flag = join(scene.desk.home.dir, "once");
	writeFileSync(flag, "");
	return `if rm ${flag} 2>/dev/null; then ${body}; fi`;
}

function pipesOf(pid: number): number {
	const folder = `/proc/${pid}/fd`;
	return readdirSync(folder).filter((fd) => {
		try {
			return readlinkSync(join(folder, fd)).startsWith("pipe:");
		} catch {
			return false;
		}
	}).length;
}
