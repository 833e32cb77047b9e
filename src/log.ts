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
];

export function createLog(level: LogLevel): Log {
  return pino({
    level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: [...SECRET_KEYS, ...SECRET_KEYS.map((key) => `*.${key}`)], censor: "(secret)" },
  });
}
