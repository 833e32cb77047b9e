import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/shared-server.ts"],
    pool: "forks",
    maxWorkers: 2,
    // Nothing here keeps anything in a module, and to load every module anew for each file takes a third of a second.
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    slowTestThreshold: 5_000,
    passWithNoTests: false,
  },
});
