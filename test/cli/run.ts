import { expect } from "vitest";
import { runCommand } from "../../src/cli/program.ts";
import { Attempt, CLI, environment } from "../process/launch.ts";

export type Result = { code: number | null; stdout: string; stderr: string };
type Environment = Record<string, string>;

/**
 * Runs a command on the data folder of a running server: through the parser and the code of the executable, but in this
 * process, because to load it anew takes longer than nearly everything that it is asked to do.
 */
export function cli(dataDir: string, args: readonly string[], env: Environment = {}): Promise<Result> {
  const running = before.then(() => inThisProcess(args, environment({ DATA_DIR: dataDir, ...env })));
  before = running.catch(() => {});
  return running;
}

/** One command at a time: the environment and the output are those of the process. */
let before: Promise<unknown> = Promise.resolve();

async function inThisProcess(args: readonly string[], env: Environment): Promise<Result> {
  const { env: ownEnv, exitCode: ownExitCode } = process;
  const [stdout, stderr] = [intercept(process.stdout), intercept(process.stderr)];
  process.env = env;
  process.exitCode = undefined;
  try {
    const failed = await runCommand(args);
    return { code: failed || Number(process.exitCode ?? 0), stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    process.env = ownEnv;
    process.exitCode = ownExitCode;
    stdout.restore();
    stderr.restore();
  }
}

/** What is written to a stream of this process, as if it led into a pipe. */
function intercept(stream: NodeJS.WriteStream): { text(): string; restore(): void } {
  const { write, isTTY } = stream;
  let text = "";
  stream.isTTY = false;
  stream.write = (chunk: string | Uint8Array): boolean => {
    text += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
    return true;
  };
  return { text: () => text, restore: () => void Object.assign(stream, { write, isTTY }) };
}

/** Runs the executable, as a person would: without a server, or for what only a process of its own can show. */
export async function cliProcess(dataDir: string, args: readonly string[], env: Environment = {}): Promise<Result> {
  const attempt = new Attempt(process.execPath, [CLI, ...args], { env: environment({ DATA_DIR: dataDir, ...env }) });
  const code = await attempt.ended();
  return { code, stdout: attempt.stdout, stderr: attempt.stderr };
}

/** The `--json` of a command that must succeed. */
export async function cliJson(dataDir: string, args: readonly string[], env: Environment = {}) {
  return printed(await cli(dataDir, [...args, "--json"], env), args);
}

export async function cliProcessJson(dataDir: string, args: readonly string[], env: Environment = {}) {
  return printed(await cliProcess(dataDir, [...args, "--json"], env), args);
}

function printed(result: Result, args: readonly string[]) {
  expect(result.code, `${args.join(" ")}: ${result.stderr}`).toBe(0);
  return JSON.parse(result.stdout) as any;
}

/** Failures: exit code 1, one sentence for a person, no stack, nothing on standard output. */
export function expectFailure(result: Result, sentence: RegExp): void {
  expect(result).toMatchObject({ code: 1, stdout: "" });
  expect(result.stderr).toMatch(sentence);
  expect(result.stderr.trimEnd().split("\n"), "one line").toHaveLength(1);
  expect(result.stderr).not.toMatch(/ {4}at |node:internal/);
}

/** Wrong arguments: exit code 2, and the words that are wrong or missing. */
export function expectWrongArguments(result: Result, words: RegExp): void {
  expect(result).toMatchObject({ code: 2, stdout: "" });
  expect(result.stderr).toMatch(words);
  expect(result.stderr).not.toMatch(/ {4}at |node:internal/);
}
