import { expect } from "vitest";
import { Attempt, CLI, environment } from "../process/launch.ts";

export type Result = { code: number | null; stdout: string; stderr: string };

/** Runs a command as a person would, on a data folder. */
export async function cli(dataDir: string, args: readonly string[], env: Record<string, string> = {}): Promise<Result> {
  const attempt = new Attempt(process.execPath, [CLI, ...args], { env: environment({ DATA_DIR: dataDir, ...env }) });
  const code = await attempt.ended();
  return { code, stdout: attempt.stdout, stderr: attempt.stderr };
}

/** The `--json` of a command that must succeed. */
export async function cliJson(dataDir: string, args: readonly string[], env: Record<string, string> = {}) {
  const result = await cli(dataDir, [...args, "--json"], env);
  expect(result, args.join(" ")).toMatchObject({ code: 0 });
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
