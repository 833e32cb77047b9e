import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { PATIENCE_MS, TEST_MS_MAX } from "./test/support/patience.ts";

/** Folders with the slowest tests, though their files are short: separate servers, whole markets, a browser. */
const LONG = /\/test\/(chaos|crash|process|sim|web|cli\/alone|docs|http\/collect\/asa)\b/;

/** Slow tests first, so that all workers stay busy to the end. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => LONG.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/shared-server.ts"],
    setupFiles: ["test/support/seed.ts"],
    pool: "forks",
    // Tests wait for a disk, a page or another process: two at a time left half of two cores idle.
    maxWorkers: 3,
    // A worker loads each module once, which saves a third of a second per file and shares one browser (test/web/tabs.ts)
    // and one console server (test/web/browser.ts). No module outside test/web keeps anything from one file to the next.
    isolate: false,
    sequence: { sequencer: LongFirst },
    // A test ends by a condition; only one that hangs reaches these limits.
    testTimeout: TEST_MS_MAX,
    hookTimeout: TEST_MS_MAX,
    teardownTimeout: TEST_MS_MAX,
    expect: { poll: { timeout: PATIENCE_MS } },
    slowTestThreshold: 5_000,
    passWithNoTests: false,
  },
});
