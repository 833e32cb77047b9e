import { type ParseArgsConfig, parseArgs } from "node:util";
import { UsageError } from "../../src/errors.ts";

type Texts = Readonly<Record<string, string | boolean | undefined>>;

/** Options as texts, or the help and the end. */
export function readArguments(options: NonNullable<ParseArgsConfig["options"]>, help: string): Texts {
  try {
    const { values } = parseArgs({ options: { ...options, help: { type: "boolean", short: "h" } } });
    const texts = values as Texts;
    if (texts.help !== true) return texts;
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${help}`);
  }
  process.stdout.write(help);
  process.exit(0);
}

export function wholeOf(texts: Texts, name: string, range: { min: number; max: number }): number {
  const value = Number(texts[name]);
  if (Number.isInteger(value) && value >= range.min && value <= range.max) return value;
  throw new UsageError(`--${name} must be a whole number from ${range.min} to ${range.max}.`);
}

export function instantOf(texts: Texts, name: string): number {
  const ms = Date.parse(String(texts[name]));
  if (Number.isFinite(ms)) return ms;
  throw new UsageError(`--${name} must be an instant, such as 2026-11-15T00:00Z.`);
}

/** Runs a program of the market: what a user did wrong is said in a sentence, without a trace. */
export async function runProgram(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    process.stderr.write(error instanceof UsageError ? `${error.message}\n` : `${(error as Error).stack}\n`);
    process.exitCode = 1;
  }
}
