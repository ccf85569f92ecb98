import { defineConfig } from "vitest/config";

export default defineConfig({
	test: {
		// No test mocks a module or keeps state in one: a fresh process for each file would only cost time.
		isolate: false,
		// End-to-end tests mostly wait for the bar's and pi's own timers.
		maxWorkers: 5,
		testTimeout: 60_000,
		hookTimeout: 30_000,
		projects: [
			{ extends: true, test: { name: "unit", include: ["test/unit/*.test.ts"] } },
			{ extends: true, test: { name: "e2e", include: ["test/e2e/*.test.ts"] } },
		],
	},
});
