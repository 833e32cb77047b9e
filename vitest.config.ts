import { defineConfig } from "vitest/config";
import { BaseSequencer, type ProjectConfig, type TestSpecification } from "vitest/node";
import { PATIENCE_MS, TEST_MS_MAX } from "./test/support/patience.ts";

/** Folders with the slowest tests, though their files are short: separate servers, whole markets. */
const LONG = /\/test\/(chaos|crash|process|sim|cli\/alone|docs|http\/collect\/asa)\b/;

/** Slow tests first, so that all workers stay busy to the end. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => LONG.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

/** How every test runs. */
const RUN = {
  setupFiles: ["test/support/seed.ts"],
  pool: "forks",
  // A worker loads each module once, which saves a third of a second per file. No module outside test/web keeps anything
  // from one file to the next.
  isolate: false,
  // Collecting garbage and compiling on more threads, and collecting often, take about 5 % of a worker's processor time.
  execArgv: ["--single-threaded", "--max-semi-space-size=64"],
  // A test ends by a condition; only one that hangs reaches these limits.
  testTimeout: TEST_MS_MAX,
  hookTimeout: TEST_MS_MAX,
  expect: { poll: { timeout: PATIENCE_MS } },
} satisfies ProjectConfig;

export default defineConfig({
  test: {
    globalSetup: ["test/support/shared-server.ts"],
    sequence: { sequencer: LongFirst },
    teardownTimeout: TEST_MS_MAX,
    slowTestThreshold: 5_000,
    passWithNoTests: false,
    projects: [
      {
        test: {
          ...RUN,
          name: "console",
          include: ["test/web/**/*.test.ts"],
          // They share one browser (test/web/tabs.ts) and one console server (test/web/browser.ts). A second worker would
          // start both again, compile the console and check its colours again: 16 s of processor time.
          maxWorkers: 1,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...RUN,
          name: "rest",
          include: ["test/**/*.test.ts"],
          // What only a cluster can show; `npm run test:citus` names one.
          exclude: ["test/web/**", ...(process.env.TEST_CITUS_URL ? [] : ["test/citus/**"])],
          // Tests wait for a disk or another process: two at a time left half of two cores idle.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
