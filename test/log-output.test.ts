import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { LogOutput } from "../src/log-output.ts";

const LOG = new URL("../dist/src/log.js", import.meta.url).href;
/** Logs each line of its standard input, and five times "the end" when that is closed. */
const SCRIPT = `
  import { createInterface } from "node:readline";
  import { createLog } from ${JSON.stringify(LOG)};
  const log = createLog("info");
  createInterface({ input: process.stdin })
    .on("line", (line) => log.info(line))
    .on("close", () => {
      for (let count = 0; count < 5; count++) log.fatal("the end");
      process.exit(0);
    });`;

/** Runs the script with standard output in a file. One that may not grow fails as a full disk does. */
function run(file: string, { blocksMax }: { blocksMax: number }): ChildProcess & { said: () => string } {
  const fd = openSync(file, "a");
  const limited = `ulimit -f ${blocksMax}; exec "$@"`;
  const args = ["-c", limited, "sh", process.execPath, "--input-type=module", "-e", SCRIPT];
  const child = spawn("sh", args, { stdio: ["pipe", fd, "pipe"] });
  closeSync(fd);
  let said = "";
  child.stderr!.on("data", (chunk) => {
    said += chunk;
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return Object.assign(child, { said: () => said });
}

function emptyFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "touchpoint-log-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, "log");
}

test("a process whose log is on a full disk goes on, and ends when it wants to", async () => {
  const child = run(emptyFile(), { blocksMax: 0 });
  child.stdin!.end("one\ntwo\nthree\n");
  const [code] = await once(child, "close");
  expect({ code, said: child.said() }).toEqual({ code: 0, said: "" });
});

test("the log goes on when there is space again, and begins a line of its own", async () => {
  const file = emptyFile();
  // A block is 512 or 1024 bytes, and ends within a line.
  const child = run(file, { blocksMax: 1 });
  const lines = () => readFileSync(file, "utf8").trimEnd().split("\n");
  child.stdin!.write("before\n".repeat(50));
  await expect.poll(() => statSync(file).size % 512 === 0 && statSync(file).size > 0).toBe(true);
  expect(lines().at(-1)).not.toMatch(/}$/);
  // Lines that were still under way may fill the file once more.
  await expect
    .poll(() => {
      if (statSync(file).size % 512 === 0) truncateSync(file, 10);
      if (!lines().at(-1)!.includes("after")) child.stdin!.write("after\n");
      return lines().at(-1);
    })
    .toMatch(/^{.+"msg":"after"}$/);
  expect(lines()[0]).toMatch(/^{"level":"/);
  expect(lines().length).toBeGreaterThan(1);
  child.stdin!.end();
  expect((await once(child, "close"))[0]).toBe(0);
  expect(child.said()).toBe("");
});

test("a reader that is far behind misses lines, and memory stays bounded", async () => {
  const pipe = emptyFile();
  execFileSync("mkfifo", [pipe]);
  const fd = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
  onTestFinished(() => closeSync(fd));
  const output = new LogOutput(fd);
  for (let mib = 0; mib < 8; mib += 1) output.write(`${"x".repeat(1_048_575)}\n`);
  const bytes = Buffer.alloc(65_536);
  let received = 0;
  let last = "";
  const read = () => {
    try {
      const count = readSync(fd, bytes);
      received += count;
      last = bytes.toString("latin1", 0, count);
    } catch {
      // Nothing is there at the moment.
    }
    return received;
  };
  // The line that was being written when the others came, and the one that waited.
  await expect.poll(read, { interval: 1 }).toBe(2 * 1_048_576);
  output.write("after\n");
  await expect.poll(() => read() && last, { interval: 1 }).toBe("after\n");
});
