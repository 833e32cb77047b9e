/** Every code that an answer can carry. A closed list: a new situation uses one of these or is added here. */
export const CODES = {
  ok: { code: 0, status: 200, meaning: "success" },
  badJson: { code: 1001, status: 200, meaning: "the body is not valid JSON" },
  badParameter: { code: 1004, status: 200, meaning: "a parameter is missing or of the wrong type" },
  unknownPath: { code: 1404, status: 404, meaning: "unknown path" },
  wrongMethod: { code: 1405, status: 405, meaning: "wrong method" },
  bodyTooLarge: { code: 1413, status: 413, meaning: "the body is too large" },
  notRegistered: { code: 2000, status: 200, meaning: "this client_id is not registered yet" },
  badToken: { code: 2001, status: 200, meaning: "access token unknown, or app disabled" },
  badSign: { code: 2002, status: 200, meaning: "`sign` or `Authorization` does not verify" },
  rateLimited: { code: 2003, status: 200, meaning: "rate limit" },
  overBudget: {
    code: 2003,
    status: 429,
    meaning: "an app or an address has used up its share: try again after `Retry-After`",
  },
  notGranted: {
    code: 2004,
    status: 200,
    meaning: "developer application not approved, disabled, or not granted this app",
  },
  clockSkew: { code: 2005, status: 200, meaning: "`current_time` is more than 10 s off" },
  incompatibleDimensions: { code: 2006, status: 200, meaning: "incompatible dimensions" },
  undecipherable: { code: 2007, status: 200, meaning: "device data does not decrypt" },
  secondFactor: {
    code: 2008,
    status: 200,
    meaning: "the second factor is missing: enter its code, or set it up first",
  },
  internal: { code: 5000, status: 500, meaning: "internal error" },
  overloaded: { code: 5003, status: 503, meaning: "overloaded, or the database is needed and away: try again" },
} as const;

export type CodeName = keyof typeof CODES;

/** Why a single event of an accepted request was not stored. A closed list: the ledger counts by these. */
export const REJECTIONS = [
  "too_old",
  "too_new",
  "undeclared",
  "bad_name",
  "bad_type",
  "bad_time",
  "bad_properties",
  "unregistered",
  "disabled",
] as const;
export type Rejection = (typeof REJECTIONS)[number];

/**
 * A refusal: the caller gets its code and message. Thrown anywhere below http, and caught in its error handler. It has
 * no stack, because nobody reads one, and collecting it took 3 % of the processor while thousands of calls were
 * refused.
 */
export class ApiError extends Error {
  readonly reason: CodeName;
  readonly retryAfterS: number | undefined;

  constructor(reason: CodeName, message: string, options: { retryAfterS?: number } = {}) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = "ApiError";
    this.reason = reason;
    this.retryAfterS = options.retryAfterS;
  }
}

/** A mistake of the operator (a setting, an argument), shown as one sentence without a stack. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UsageError";
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
