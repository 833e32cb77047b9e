import { refusal } from "../contract/envelope.ts";
import { sentenceOf } from "../contract/validation.ts";
import { isDatabaseAway } from "../db/engine/failure.ts";
import { ApiError, CODES, type CodeName } from "../errors.ts";
import type { Log } from "../log.ts";

export const JSON_TYPE = "application/json; charset=utf-8";

/** A failure as sent to the caller. */
export type FailedAnswer = {
  code: number;
  message: string;
  status: number;
  headers: Record<string, string>;
  body: string;
};

type Failure = { reason: CodeName; message: string; retryAfterS?: number | undefined };

/** Turns everything that a request can throw into an answer, and logs what is our fault. */
export function answerOfError(
  { log }: { log: Log },
  error: unknown,
  request: { id: string; url: string | undefined; requestId?: string | undefined },
): FailedAnswer {
  const { reason, message, retryAfterS } = understand(error);
  const fields = { request_id: request.id, url: request.url };
  if (reason === "internal") log.error({ ...fields, err: error }, "A request failed.");
  // Without the message: it quotes the request, which may hold a secret in the wrong place.
  else log.debug({ ...fields, reason }, "A request was refused.");
  const headers: Record<string, string> = retryAfterS === undefined ? {} : { "retry-after": String(retryAfterS) };
  return failedAnswer(reason, message, headers, request.requestId);
}

export function failedAnswer(
  reason: CodeName,
  message: string,
  headers: Record<string, string> = {},
  requestId?: string,
): FailedAnswer {
  const { code, status } = CODES[reason];
  const envelope = refusal(reason, message);
  if (requestId !== undefined) envelope.extra = { ...envelope.extra, request_id: requestId };
  return { code, message, status, headers, body: JSON.stringify(envelope) };
}

function understand(error: unknown): Failure {
  if (error instanceof ApiError) return error;
  const { code, statusCode, validation, validationContext } = error as {
    code?: string;
    statusCode?: number;
    validation?: unknown[];
    validationContext?: string;
  };
  if (validation) {
    const where = validationContext === "querystring" ? "Query: " : "";
    return { reason: "badParameter", message: `${where}${sentenceOf(validation as Parameters<typeof sentenceOf>[0])}` };
  }
  switch (code) {
    // PostgreSQL's query_canceled: the statement exceeded the time limit of reports.
    case "57014":
      return {
        reason: "overloaded",
        message: "The report took too long; ask for fewer days or dimensions.",
        retryAfterS: 60,
      };
    case "FST_ERR_BAD_URL":
      return { reason: "unknownPath", message: "The address cannot be read." };
  }
  // Every other error below 500 that the framework raises is the request's fault.
  if (code?.startsWith("FST_ERR_") && statusCode !== undefined && statusCode < 500)
    return { reason: "badParameter", message: "The request cannot be read." };
  if (isDatabaseAway(error))
    return { reason: "overloaded", message: "The database is away; try again.", retryAfterS: 5 };
  return { reason: "internal", message: "Something went wrong on our side." };
}
