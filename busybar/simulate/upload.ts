/**
 * `POST /api/assets/upload` as in the firmware: the old file is deleted first, the new one grows as it arrives, and an
 * aborted upload leaves a partial file. Reads the request's stream.
 */

import type { Readable } from "node:stream";
import { type Answer, ok, refusal } from "./api.ts";
import type { Bar } from "./bar.ts";
import { uploadPath } from "./storage.ts";

const IDLE_LIMIT_MS = 3000;

export interface Upload {
	readonly query: URLSearchParams;
	/** From the Content-Length header. A chunked upload has none, and the file stays empty. */
	readonly length: number;
	readonly content: Readable;
}

/** Never settles if the client disconnects: then there is nobody to answer. */
export async function receiveUpload(bar: Bar, { query, length, content }: Upload): Promise<Answer> {
	const closing = (answer: Answer): Answer => ({ ...answer, closes: true });
	const path = uploadPath(query.get("application_name") ?? "", query.get("file") ?? "");
	if (path === undefined) return closing(refusal(bar, 400, "Bad Request"));
	if (bar.isOpen(path)) return closing(refusal(bar, 508, "Failed to open file for writing"));
	bar.storage.truncate(path);
	bar.countWrite();
	if (length === 0) return closing(ok());
	bar.uploading.set(content, path);
	const isComplete = await new Promise<boolean>((resolve) => {
		let missing = length;
		const giveUp = () => resolve(false);
		let cancelGiveUp = bar.clock.after(IDLE_LIMIT_MS, giveUp);
		content.on("data", (chunk: Buffer) => {
			cancelGiveUp();
			bar.storage.append(path, chunk);
			missing -= chunk.length;
			if (missing <= 0) resolve(true);
			else cancelGiveUp = bar.clock.after(IDLE_LIMIT_MS, giveUp);
		});
		content.on("close", () => {
			cancelGiveUp();
			bar.uploading.delete(content);
		});
	});
	bar.uploading.delete(content);
	return closing(isComplete ? ok() : refusal(bar, 408, "Upload timeout"));
}
