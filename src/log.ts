import { type Logger, pino } from "pino";
import { LogOutput } from "./log-output.ts";
import type { LogLevel } from "./settings.ts";
import { withModuleNames } from "./stack-names.ts";

export type Log = Logger;

/** Keys whose values never reach a log line. */
const SECRET_KEYS = [
  "access_token",
  "token",
  "app_key",
  "aes_key",
  "password",
  "sign",
  "authorization",
  "wx_access_token",
  "secret",
  "asa_token",
  "cookie",
];

type Failure = Partial<Record<"name" | "message" | "stack" | "code", unknown>>;

/** The plain parts of an error. Libraries' errors can also carry a refused row, a token's claims or a whole request. */
function plainError({ name, message, stack, code }: Failure): Failure {
  return { name, message, stack: typeof stack === "string" ? withModuleNames(stack) : stack, code };
}

export const standardOutput = new LogOutput(1);
process.once("exit", () => standardOutput.flushSync());

export function createLog(level: LogLevel): Log {
  return pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: plainError },
      redact: { paths: [...SECRET_KEYS, ...SECRET_KEYS.map((key) => `*.${key}`)], censor: "(secret)" },
    },
    standardOutput,
  );
}
