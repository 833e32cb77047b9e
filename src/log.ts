import { type Logger, pino } from "pino";
import type { LogLevel } from "./config.ts";

export type Log = Logger;

/** Values under these keys never reach a log line, wherever they turn up. */
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

/** Errors of libraries carry more than they say: the row that was refused, the claims of a token, a whole request. */
function plainError({ name, message, stack, code }: Failure): Failure {
  return { name, message, stack, code };
}

export function createLog(level: LogLevel): Log {
  return pino({
    level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: plainError },
    redact: { paths: [...SECRET_KEYS, ...SECRET_KEYS.map((key) => `*.${key}`)], censor: "(secret)" },
  });
}
