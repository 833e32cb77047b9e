import { type ParseArgsConfig, parseArgs } from "node:util";
import { UsageError } from "../src/errors.ts";
import { SETTINGS } from "../src/settings.ts";

type Texts = Readonly<Record<string, string | boolean | undefined>>;

type Options = NonNullable<ParseArgsConfig["options"]>;

/** Parses the options as texts, or prints the help and exits. */
export function readArguments(options: Options, help: string): Texts {
  return parse({ options }, help).values;
}

/** Parses options and positional words. */
export function readWords(options: Options, help: string, args: readonly string[]): { values: Texts; words: string[] } {
  return parse({ options, args: [...args], allowPositionals: true }, help);
}

function parse({ options, ...rest }: ParseArgsConfig, help: string): { values: Texts; words: string[] } {
  try {
    const found = parseArgs({ ...rest, options: { ...options, help: { type: "boolean", short: "h" } } });
    const values = found.values as Texts;
    if (values.help !== true) return { values, words: found.positionals };
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

/** `--port`, else the server's own setting, else its default. */
export function portOf(texts: Texts, env: Readonly<Record<string, string | undefined>>): number {
  return wholeOf({ port: texts.port ?? (env.PORT?.trim() || SETTINGS.PORT.fallback) }, "port", { min: 0, max: 65_535 });
}

export function instantOf(texts: Texts, name: string): number {
  const ms = Date.parse(String(texts[name]));
  if (Number.isFinite(ms)) return ms;
  throw new UsageError(`--${name} must be an instant, such as 2026-11-15T00:00Z.`);
}

/** Runs a program. A usage error is printed as one sentence, without a stack trace. */
export async function runProgram(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    process.stderr.write(error instanceof UsageError ? `${error.message}\n` : `${(error as Error).stack}\n`);
    process.exitCode = 1;
  }
}
