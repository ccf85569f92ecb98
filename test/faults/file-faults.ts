// What can be wrong with the files that pis keep: animations, log, settings, what they know together, and its lock.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, rmSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../extensions/busybar-alert/clock.ts";
import { FileBarStore } from "../../extensions/busybar-alert/cycle/bar-store.ts";
import type { PiOptions } from "../support/pi.ts";
import { waitUntil } from "../support/wait.ts";
import { APPLICATION } from "./bar-watch.ts";
import { fakeCli } from "./fake-cli.ts";
import type { Fault } from "./fault.ts";
import { BEFORE, type Scene } from "./scene.ts";
import { answers, answersLate, DRAW } from "./wire.ts";

const SHOWN = ["fired agent settled", "cleared agent settled"];
const DRAWN = "POST /api/display/draw";
const SIX = 6;
const MIB = 1024 * 1024;

/** What holds without a settings file. */
const DEFAULTS = { alertOn: "turn_end", holdSeconds: 3 } as const;

/** A row of the log that was there before. */
function rowBefore(more = ""): string {
	const row = { ts: new Date().toISOString(), reason: BEFORE, alert: "done", outcome: "skipped", gate: "muted" };
	return JSON.stringify({ ...row, pid: 1, session: more });
}

/** pi looks for its cache here. */
function cacheIn(scene: Scene, folder: string): PiOptions {
	scene.cache = join(folder, "pi-busybar-alert");
	return { env: { XDG_CACHE_HOME: folder } };
}

/** What the pis know of this bar. */
function recordPath(scene: Scene): string {
	return new FileBarStore(scene.cache, systemClock).pathOf({ addr: scene.wire.addr, applicationName: APPLICATION });
}

function writeRecord(scene: Scene, record: object): void {
	mkdirSync(scene.inCache("bars"), { recursive: true });
	const bar = { addr: scene.wire.addr, applicationName: APPLICATION, leases: [] };
	writeFileSync(recordPath(scene), JSON.stringify({ ...bar, ...record }));
}

function animation(scene: Scene): string {
	const name = readdirSync(scene.cache).find((file) => file.startsWith("check_front_"));
	if (name === undefined) throw new Error("There is no animation.");
	return scene.inCache(name);
}

/** The cache is a file system of its own, which only this pi sees. @param prepare runs in it first */
async function mountedCache(scene: Scene, options: string, prepare: string): Promise<PiOptions> {
	const script = `mount -t tmpfs -o ${options} faults "$0" && cd "$0" && ${prepare}; echo ready; exec sleep 600`;
	const holder = spawn("unshare", ["-m", "sh", "-c", script, scene.cache], { stdio: ["ignore", "pipe", "ignore"] });
	scene.atEnd(async () => void holder.kill("SIGKILL"));
	await Promise.race([
		once(holder.stdout, "data"),
		once(holder, "exit").then(() => Promise.reject(new Error("no mount"))),
	]);
	scene.cache = `/proc/${holder.pid}/root${scene.cache}`;
	const enter = ["nsenter", "-m", "-t", String(holder.pid), "sh", "-c", 'cd "$0" && exec "$@"'];
	return { startedBy: [...enter, scene.desk.home.projectDir] };
}

/** A pi that was killed or stopped while the bar had its draw and the others its lock. */
async function whileDrawing(scene: Scene, then: (first: Awaited<ReturnType<Scene["start"]>>) => Promise<void>) {
	scene.wire.set(answersLate(2_000), { on: DRAW, times: 1 });
	const [first, second] = await Promise.all([scene.start(), scene.start()]);
	await scene.prompt(first);
	await scene.requested(DRAWN);
	await then(first);
	const askedMs = performance.now();
	await scene.prompt(second);
	await scene.requested(DRAWN, 2);
	const tookMs = performance.now() - askedMs;
	if (tookMs > 6_000) throw new Error(`the other pi's alert came after ${Math.round(tookMs)} ms`);
	await scene.logged(2);
	return { first, second };
}

export const FILE_FAULTS: readonly Fault[] = [
	{
		name: "cache folder: missing, with the folders above it",
		isNewMachine: true,
		arrange: (scene) => cacheIn(scene, join(scene.desk.home.dir, "not", "yet")),
		expect: { log: SHOWN },
	},
	{
		name: "cache folder: a file is in its place",
		isNewMachine: true,
		readsLogInPi: true,
		arrange: (scene) => {
			writeFileSync(join(scene.desk.home.dir, "file"), "");
			return cacheIn(scene, join(scene.desk.home.dir, "file"));
		},
		expect: { log: SHOWN },
	},
	{
		name: "cache folder: a file is in its place, and the bar refuses twice",
		isNewMachine: true,
		readsLogInPi: true,
		arrange: (scene) => {
			writeFileSync(join(scene.desk.home.dir, "file"), "");
			scene.wire.set(answers(400, { error: "Bad Request" }), { on: DRAW });
			return cacheIn(scene, join(scene.desk.home.dir, "file"));
		},
		play: async (scene, options) => {
			const pi = await scene.start(options);
			await scene.prompt(pi);
			await scene.told(1);
			await scene.prompt(pi);
			await waitUntil("The second draw", 20_000, () => scene.wire.count(DRAW) === 2);
		},
		expect: { log: ["error agent settled device", "error agent settled device"], notices: [/HTTP 400 Bad Request/] },
	},
	{
		name: "cache folder: in /proc, where nothing can be made",
		isNewMachine: true,
		readsLogInPi: true,
		arrange: (scene) => cacheIn(scene, "/proc/nowhere"),
		expect: { log: SHOWN },
	},
	{
		name: "cache folder: read-only",
		needs: "unshare",
		isNewMachine: true,
		readsLogInPi: true,
		arrange: (scene) => mountedCache(scene, "size=1m", "mount -o remount,ro ."),
		expect: { log: SHOWN },
	},
	{
		name: "cache folder: on a full disk",
		needs: "unshare",
		isNewMachine: true,
		readsLogInPi: true,
		arrange: (scene) => mountedCache(scene, "size=64k", "cat /dev/zero > full 2>/dev/null"),
		expect: { log: SHOWN },
	},
	{
		name: "cache folder: deleted in the hold",
		settings: { holdSeconds: 2 },
		play: async (scene) => {
			const pi = await scene.start();
			await scene.prompt(pi);
			await scene.logged(1);
			rmSync(scene.cache, { recursive: true });
			await scene.logged(1);
			await scene.prompt(pi);
			await scene.logged(3);
		},
		expect: { log: ["cleared agent settled", ...SHOWN], shown: 2 },
	},
	{
		name: "animation: cut short",
		arrange: (scene) => truncateSync(animation(scene), 500),
		expect: { log: SHOWN },
	},
	{ name: "animation: empty", arrange: (scene) => truncateSync(animation(scene), 0), expect: { log: SHOWN } },
	{
		name: "animation: cut short while pi runs",
		play: async (scene) => {
			const pi = await scene.start();
			await scene.prompt(pi);
			await scene.logged(2);
			truncateSync(animation(scene), 500);
			await scene.prompt(pi);
			await scene.logged(4);
		},
		expect: { log: [...SHOWN, ...SHOWN] },
	},
	{
		name: "animation: a folder is in its place",
		arrange: (scene) => {
			const path = animation(scene);
			rmSync(path);
			mkdirSync(path);
			writeFileSync(join(path, "inside"), "");
		},
		expect: { log: SHOWN },
	},
	{
		name: "animation: made by two pis at once",
		isNewMachine: true,
		play: async (scene) => {
			const pis = await Promise.all([scene.start(), scene.start()]);
			await Promise.all(pis.map((pi) => scene.prompt(pi)));
			await scene.logged(4);
		},
		expect: { log: [...SHOWN, ...SHOWN], inAnyOrder: true },
	},
	{
		name: "animation: pi is killed while it is made",
		isNewMachine: true,
		play: async (scene) => {
			const folder = join(scene.desk.home.dir, "path");
			const flag = join(scene.desk.home.dir, "creates");
			fakeCli(folder, { create: `touch ${flag}; sleep 1` });
			const first = await scene.start({ pathDirs: [folder] });
			await scene.prompt(first);
			await waitUntil("The making", 20_000, () => existsSync(flag));
			await scene.kill(first);
			await scene.prompt(await scene.start());
			await scene.logged(2);
		},
		expect: { log: SHOWN, killed: 1 },
	},
	{
		name: "the user's own picture does not exist",
		settings: { patternDone: "/nowhere/frames" },
		expect: {
			log: ["error agent settled bad_asset", ...SHOWN],
			notices: [/\/nowhere\/frames does not exist.*done alerts show `check`/],
		},
	},
	{
		name: "the user's own picture is no animation",
		arrange: (scene) => {
			const path = join(scene.desk.home.dir, "own.anim");
			writeFileSync(path, "bicycle0 and nothing else");
			scene.desk.saveSettings({ alertOn: "agent_settled", holdSeconds: 1, patternDone: path });
		},
		expect: {
			log: ["error agent settled bad_asset", ...SHOWN],
			notices: [/own\.anim.*done alerts show `check`/],
		},
	},
	{
		name: "log: a folder is in its place",
		readsLogInPi: true,
		arrange: (scene) => void mkdirSync(scene.inCache("alerts.jsonl")),
		expect: { log: SHOWN },
	},
	{
		name: "log: its last row is torn",
		arrange: (scene) => {
			const row = rowBefore();
			writeFileSync(scene.inCache("alerts.jsonl"), `${row}\n${row.slice(0, 40)}`);
		},
		expect: { log: SHOWN },
	},
	{
		name: "log: six pis make it too large at once",
		play: async (scene) => {
			const row = `${rowBefore("x".repeat(500))}\n`;
			writeFileSync(scene.inCache("alerts.jsonl"), row.repeat(Math.floor((MIB - 200) / row.length)));
			const pis = await Promise.all(Array.from({ length: SIX }, () => scene.start()));
			await Promise.all(pis.map((pi) => scene.prompt(pi)));
			await scene.logged(2 * SIX);
			if (!existsSync(scene.inCache("alerts.1.jsonl"))) throw new Error("the log was not rotated");
		},
		expect: { log: Array(SIX).fill(SHOWN).flat(), inAnyOrder: true },
	},
	{
		name: "settings: not JSON",
		settings: DEFAULTS,
		arrange: (scene) => writeFileSync(join(scene.desk.home.agentDir, "busybar-alert.json"), '{"holdSeconds": 1'),
		expect: { log: ["fired turn 0", "cleared turn 0"], notices: [/busybar-alert\.json is not valid JSON/] },
	},
	{
		name: "settings: a folder is in their place",
		settings: DEFAULTS,
		arrange: (scene) => {
			const path = join(scene.desk.home.agentDir, "busybar-alert.json");
			rmSync(path);
			mkdirSync(path);
		},
		expect: { log: ["fired turn 0", "cleared turn 0"], notices: [/busybar-alert\.json is a folder/] },
	},
	{
		name: "settings: a value nested 6,000 deep",
		arrange: (scene) =>
			writeFileSync(
				join(scene.desk.home.agentDir, "busybar-alert.json"),
				`{"alertOn": "agent_settled", "holdSeconds": ${"[".repeat(6_000)}${"]".repeat(6_000)}}`,
			),
		expect: { log: SHOWN, notices: [/`holdSeconds` must be .*, not a list/] },
	},
	{
		name: "what notices were given: not JSON",
		arrange: (scene) => writeFileSync(scene.inCache("notices.json"), '{"welcomed'),
		expect: { log: SHOWN },
	},
	{
		name: "which CLIs were proven: not JSON",
		arrange: (scene) => {
			const folder = join(scene.desk.home.dir, "path");
			fakeCli(folder, {});
			writeFileSync(scene.inCache("cli.json"), '{"/usr/bin');
			return { pathDirs: [folder] };
		},
		expect: { log: SHOWN },
	},
	{
		name: "record of the bar: a file is in its folder's place",
		arrange: (scene) => writeFileSync(scene.inCache("bars"), ""),
		expect: { log: SHOWN },
	},
	{
		name: "record of the bar: not JSON",
		arrange: (scene) => {
			mkdirSync(scene.inCache("bars"));
			writeFileSync(recordPath(scene), '{"addr": "127.0');
		},
		expect: { log: SHOWN },
	},
	{
		name: "record of the bar: written before the machine started anew",
		arrange: (scene) =>
			writeRecord(scene, { outage: { kind: "unreachable", failures: 9, lastTryMs: 1e12, untilMs: 1e12 + 300_000 } }),
		expect: { log: SHOWN },
	},
	{
		name: "record of the bar: an outage until the year 2100",
		arrange: (scene) =>
			writeRecord(scene, { outage: { kind: "unreachable", failures: 9, lastTryMs: 1, untilMs: 4e12 } }),
		expect: { log: SHOWN },
	},
	{
		name: "lock: from the future, as after the clock was set back",
		arrange: (scene) => {
			const lock = `${recordPath(scene)}.lock`;
			mkdirSync(lock, { recursive: true });
			const tomorrow = new Date(Date.now() + 86_400_000);
			utimesSync(lock, tomorrow, tomorrow);
		},
		expect: { log: SHOWN },
	},
	{
		name: "lock: its pi was killed in the draw",
		play: async (scene) => void (await whileDrawing(scene, (first) => scene.kill(first))),
		expect: { log: SHOWN, killed: 1 },
	},
	{
		name: "lock: its pi is stopped in the draw",
		play: async (scene) => {
			const { first } = await whileDrawing(scene, async (pi) => pi.kill("SIGSTOP"));
			first.kill("SIGCONT");
			await scene.logged(4);
		},
		expect: { log: [...SHOWN, ...SHOWN] },
	},
];
