import { messageOf } from "../../errors.ts";

/** Why the bucket does not do what it is asked. A closed list: each has a sentence that says what to change. */
export const BUCKET_FAULTS = {
  key: "The bucket's storage does not know the access key: check LAKE_BUCKET_KEY_ID and LAKE_BUCKET_ENDPOINT.",
  signature: "The bucket's storage refuses the signature: check LAKE_BUCKET_KEY, which is wrong or incomplete.",
  access:
    "The access key may not do this in the bucket: it needs to list the bucket and to read, write and delete objects below the prefix.",
  bucket: "The bucket does not exist: check LAKE_BUCKET_URL, LAKE_BUCKET_ENDPOINT and LAKE_BUCKET_STYLE.",
  region: "The bucket is in another region: check LAKE_BUCKET_REGION and LAKE_BUCKET_ENDPOINT.",
  clock: "This machine's clock differs too much from that of the bucket's storage: set the clock.",
  full: "The bucket's storage has no more room, or a quota is used up.",
  away: "The bucket's storage cannot be reached.",
  slow: "The bucket's storage did not answer in time.",
  failing: "The bucket's storage fails, or asks for fewer requests.",
  certificate: "The certificate of the bucket's storage cannot be trusted.",
  damaged: "What was uploaded arrived damaged.",
  owner: "The prefix of the bucket belongs to another installation: give this one another prefix in LAKE_BUCKET_URL.",
  versions:
    "The bucket keeps old versions, so erased users stay in it: switch versioning off, or let old versions end within the hour.",
  other: "The bucket's storage refuses a request.",
} as const;
export type BucketFault = keyof typeof BUCKET_FAULTS;

/** Faults that may be over a moment later. */
const PASSING: ReadonlySet<BucketFault> = new Set(["away", "slow", "failing", "damaged", "clock"]);

/** Faults because of which no request can succeed. With the others, one app or object may fail and the rest not. */
const CONCERNS_ALL: ReadonlySet<BucketFault> = new Set([
  "key",
  "signature",
  "bucket",
  "region",
  "clock",
  "certificate",
  "owner",
]);

/** `detail`: what the storage or the system said. It holds no secret, but may name the bucket. */
export class BucketError extends Error {
  readonly fault: BucketFault;
  readonly detail: string;

  constructor(fault: BucketFault, detail = "") {
    super(BUCKET_FAULTS[fault]);
    this.name = "BucketError";
    this.fault = fault;
    this.detail = detail;
  }

  get concernsAll(): boolean {
    return CONCERNS_ALL.has(this.fault);
  }

  get isPassing(): boolean {
    return PASSING.has(this.fault);
  }
}

/** By the code that a storage answers with. */
const BY_CODE: Readonly<Record<string, BucketFault>> = {
  InvalidAccessKeyId: "key",
  InvalidToken: "key",
  SignatureDoesNotMatch: "signature",
  AccessDenied: "access",
  AllAccessDisabled: "access",
  NoSuchBucket: "bucket",
  InvalidBucketName: "bucket",
  PermanentRedirect: "region",
  TemporaryRedirect: "region",
  AuthorizationHeaderMalformed: "region",
  IllegalLocationConstraintException: "region",
  RequestTimeTooSkewed: "clock",
  RequestExpired: "clock",
  QuotaExceeded: "full",
  InsufficientCapacity: "full",
  EntityTooLarge: "full",
  XMinioStorageFull: "full",
  BadDigest: "damaged",
  IncompleteBody: "damaged",
  XAmzContentSHA256Mismatch: "damaged",
  RequestTimeout: "slow",
  TimeoutError: "slow",
  AbortError: "slow",
  SlowDown: "failing",
  ServiceUnavailable: "failing",
  InternalError: "failing",
};

/** By the code of the system, or of TLS. */
const BY_SYSTEM: readonly [RegExp, BucketFault][] = [
  [/^(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|EPIPE|EHOSTUNREACH|ENETUNREACH|ENETDOWN)$/, "away"],
  [/^(?:ETIMEDOUT|ESOCKETTIMEDOUT)$/, "slow"],
  [/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|EPROTO/, "certificate"],
];

/** The fault behind what the client library throws. */
export function bucketErrorOf(error: unknown): BucketError {
  if (error instanceof BucketError) return error;
  const {
    name = "",
    code,
    $metadata,
  } = error as {
    name?: string;
    code?: unknown;
    $metadata?: { httpStatusCode?: number };
  };
  const status = $metadata?.httpStatusCode;
  const said = messageOf(error);
  const detail = [name, status, said].filter((part) => part !== undefined && part !== "").join(" ");
  // The system's code comes first: the library calls a connection that was cut a timeout.
  const known = (typeof code === "string" ? bySystem(code) : undefined) ?? BY_CODE[name] ?? BY_CODE[String(code)];
  return new BucketError(known ?? byStatus(status) ?? (/socket hang up/i.test(said) ? "away" : "other"), detail);
}

function bySystem(code: string): BucketFault | undefined {
  return BY_SYSTEM.find(([pattern]) => pattern.test(code))?.[1];
}

function byStatus(status: number | undefined): BucketFault | undefined {
  if (status === undefined) return undefined;
  if (status >= 300 && status < 400) return "region";
  if (status === 401 || status === 403) return "access";
  if (status === 429 || (status >= 500 && status !== 507)) return "failing";
  return status === 507 ? "full" : undefined;
}
