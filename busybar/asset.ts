/** An animation's file on the bar: uploaded once, under a name that tells its content. Uses the network. */

import { basename, extname } from "node:path";
import { type BusyBar, isRefusal, type Reply } from "./bar.ts";

export interface Asset {
	readonly applicationName: string;
	readonly name: string;
	readonly bytes: Uint8Array;
}

/** The longest file name that every firmware version accepts. */
const maxNameLength = 31;
/** How long another process may take to upload the same file. */
const busyFileWaitMs = 1000;

/** With a hash of the content, so that a file on the bar is never replaced: that fails while it is playing. */
export function assetName(input: string, file: Uint8Array): string {
	const suffix = `-${process.getBuiltinModule("node:crypto").hash("sha256", file).slice(0, 8)}.anim`;
	const stem = basename(input, extname(input)).replace(/[^A-Za-z0-9._-]+/g, "_");
	return stem.replace(/^\.+/, "").slice(0, maxNameLength - suffix.length) + suffix;
}

/**
 * Uploads the file if the bar does not have it. Returns whether it did.
 * @throws CommandError if the bar does not have the file in the end
 */
export async function provideAsset(bar: BusyBar, asset: Asset, sleep: (ms: number) => Promise<void>): Promise<boolean> {
	if (await isPresent(bar, asset)) return false;
	let reply = await upload(bar, asset);
	// The file is open: another process may be uploading it.
	if (reply.status === 508 && bar.timeLeftMs > busyFileWaitMs) {
		await sleep(busyFileWaitMs);
		if (await isPresent(bar, asset)) return false;
		reply = await upload(bar, asset);
	}
	bar.confirm(reply);
	return true;
}

/** Compares the size too: an aborted upload leaves a partial file. */
async function isPresent(bar: BusyBar, { applicationName, name, bytes }: Asset): Promise<boolean> {
	const reply = await bar.request("GET", "/api/storage/list", { path: `/ext/user_assets/${applicationName}` });
	// The folder does not exist before the first upload. What is not a bar must get neither the file nor, once more, the
	// access key.
	if ((reply.status === 400 || reply.status === 404) && isRefusal(reply)) return false;
	const { list } = bar.accept(reply);
	if (!Array.isArray(list)) throw bar.notABar();
	return list.some((entry: unknown) => Object(entry).name === name && Object(entry).size === bytes.length);
}

function upload(bar: BusyBar, { applicationName, name, bytes }: Asset): Promise<Reply> {
	const query = { application_name: applicationName, file: name };
	return bar.request("POST", "/api/assets/upload", query, { type: "application/octet-stream", bytes });
}
