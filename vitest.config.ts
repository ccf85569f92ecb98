import { defineConfig } from "vitest/config";

export default defineConfig({
	test: {
		include: ["test/**/*.test.ts"],
		// End-to-end tests mostly wait for the bar's and pi's own timers.
		maxWorkers: 5,
		testTimeout: 60_000,
		hookTimeout: 30_000,
	},
});
