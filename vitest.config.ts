import { defineConfig } from "vitest/config";

export default defineConfig({
	test: {
		include: ["test/**/*.test.ts"],
		// End-to-end tests mostly wait for the bar's and pi's own timers.
		maxWorkers: 5,
		// No test mocks a module or keeps state in one: a fresh process for each file would only cost time.
		isolate: false,
		testTimeout: 60_000,
		hookTimeout: 30_000,
	},
});
