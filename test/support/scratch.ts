// A folder of the test's own, gone when the test is over.

import { mkdtempSync, realpathSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export function scratchFolder(): string {
	const folder = mkdtempSync(join(realpathSync(tmpdir()), "busybar-alert-test-"));
	onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }));
	return folder;
}
