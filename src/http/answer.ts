import { refusal } from "../contract/envelope.ts";
import { isDatabaseAway } from "../db/pool.ts";
import { ApiError, CODES, type CodeName } from "../errors.ts";
import type { HttpContext } from "./context.ts";
import { sentenceOf } from "./validation.ts";

export const JSON_TYPE = "application/json; charset=utf-8";

/** A failure as the caller gets it. */
export type FailedAnswer = { code: number; status: number; headers: Record<string, string>; body: string };

type Failure = { reason: CodeName; message: string; retryAfterS?: number | undefined };

/** Everything that can be thrown below http becomes an answer here, and is logged when it is our fault. */
export function answerOfError(
  context: HttpContext,
  error: unknown,
  request: { id: string; url: string | undefined },
): FailedAnswer {
  const { reason, message, retryAfterS } = understand(context, error);
  const fields = { request_id: request.id, url: request.url };
  if (reason === "internal") context.log.error({ ...fields, err: error }, "A request failed.");
  else context.log.debug({ ...fields, reason, message }, "A request was refused.");
  return failedAnswer(reason, message, retryAfterS === undefined ? {} : { "retry-after": String(retryAfterS) });
}

export function failedAnswer(reason: CodeName, message: string, headers: Record<string, string> = {}): FailedAnswer {
  const { code, status } = CODES[reason];
  return { code, status, headers, body: JSON.stringify(refusal(reason, message)) };
}

function understand(context: HttpContext, error: unknown): Failure {
  if (error instanceof ApiError) return error;
  const { code, validation, validationContext } = error as {
    code?: string;
    validation?: unknown[];
    validationContext?: string;
  };
  if (validation) {
    const where = validationContext === "querystring" ? "Query: " : "";
    return { reason: "badParameter", message: `${where}${sentenceOf(validation as Parameters<typeof sentenceOf>[0])}` };
  }
  switch (code) {
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return bodyTooLarge(context);
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return { reason: "badJson", message: "The body is not as long as Content-Length says." };
    case "FST_ERR_BAD_URL":
      return { reason: "unknownPath", message: "The address cannot be read." };
  }
  if (isDatabaseAway(error))
    return { reason: "overloaded", message: "The database is away; try again.", retryAfterS: 5 };
  return { reason: "internal", message: "Something went wrong on our side." };
}

export function bodyTooLarge(context: HttpContext): ApiError {
  return new ApiError("bodyTooLarge", `The body is larger than ${context.config.bodyBytesMax} bytes.`);
}
