import { expect } from "vitest";
import { runCommand } from "../../src/cli/program.ts";
import { Attempt, CLI, environment } from "../process/launch.ts";

export type Result = { code: number | null; stdout: string; stderr: string };
type Environment = Record<string, string>;

/**
 * Runs a command on the data folder of a running server: with the executable's parser and code, but in this process, because
 * loading them takes longer than almost any command.
 */
export function cli(dataDir: string, args: readonly string[], env: Environment = {}): Promise<Result> {
  const running = before.then(() => inThisProcess(args, environment({ DATA_DIR: dataDir, ...env })));
  before = running.catch(() => {});
  return running;
}

/** One command at a time, because environment and output belong to the process. */
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

/** Captures what is written to a stream of this process, as if it were a pipe. */
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

/** Runs the executable as a person would: without a server, or for what only a separate process can show. */
export async function cliProcess(dataDir: string, args: readonly string[], env: Environment = {}): Promise<Result> {
  const attempt = new Attempt(process.execPath, [CLI, ...args], { env: environment({ DATA_DIR: dataDir, ...env }) });
  const code = await attempt.ended();
  return { code, stdout: attempt.stdout, stderr: attempt.stderr };
}

/** The `--json` output of a command that must succeed. */
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

/** Checks a failure: exit code 1, one sentence, no stack trace, nothing on standard output. */
export function expectFailure(result: Result, sentence: RegExp): void {
  expect(result).toMatchObject({ code: 1, stdout: "" });
  expect(result.stderr).toMatch(sentence);
  expect(result.stderr.trimEnd().split("\n"), "one line").toHaveLength(1);
  expect(result.stderr).not.toMatch(/ {4}at |node:internal/);
}

/** Checks wrong arguments: exit code 2, and the wrong or missing words. */
export function expectWrongArguments(result: Result, words: RegExp): void {
  expect(result).toMatchObject({ code: 2, stdout: "" });
  expect(result.stderr).toMatch(words);
  expect(result.stderr).not.toMatch(/ {4}at |node:internal/);
}
