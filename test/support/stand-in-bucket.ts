import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { BucketSettings } from "../../src/config.ts";

/**
 * What goes wrong with a call. "cut_before", "cut_after": the connection ends before or after the call has taken effect.
 * "silent": nothing is ever answered.
 */
export type BucketFault = "fails" | "slow_down" | "full" | "denied" | "cut_before" | "cut_after" | "silent" | "skewed";

export type BucketCall = { method: string; name: string };

export type StoredBytes = { bytes: Buffer; etag: string };

const KEY = { id: "AKIASTANDIN", secret: "a secret/with+signs" };
const REGION = "eu-stand-1";
const BUCKET = "lake-bucket";
const SKEW_MS_MAX = 15 * 60_000;

/** Refusals by their code: the status that goes with it. */
const STATUS: Readonly<Record<string, number>> = {
  SignatureDoesNotMatch: 403,
  InvalidAccessKeyId: 403,
  AccessDenied: 403,
  RequestTimeTooSkewed: 403,
  AuthorizationHeaderMalformed: 400,
  XAmzContentSHA256Mismatch: 400,
  BadDigest: 400,
  NoSuchBucket: 404,
  NoSuchKey: 404,
  QuotaExceeded: 403,
  InternalError: 500,
  SlowDown: 503,
  MethodNotAllowed: 405,
};

/**
 * A storage as the S3 API describes it, for one bucket in path style. It checks signatures of version 4 by its own
 * computation, the checksums of what it gets, and keeps objects in memory.
 */
export class StandInBucket {
  readonly #server: Server;
  readonly objects = new Map<string, StoredBytes>();
  readonly calls: BucketCall[] = [];
  /** Asked for each call. */
  fault: (call: BucketCall) => BucketFault | undefined = () => undefined;
  /** Whether ETags are something else than the MD5, as where objects are encrypted. */
  isEncrypted = false;
  keepsVersions = false;
  pageSize = 1_000;

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
    });
  }

  static async start(): Promise<StandInBucket> {
    const bucket = new StandInBucket();
    await new Promise<void>((resolve) => bucket.#server.listen(0, "127.0.0.1", resolve));
    return bucket;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  settings(more: Partial<BucketSettings> = {}): BucketSettings {
    const address = { bucket: BUCKET, prefix: "some/lake/" };
    const key = { keyId: KEY.id, key: KEY.secret };
    return { address, endpoint: this.endpoint, region: REGION, ...key, style: "path", ...more };
  }

  /** The same for a process. */
  get environment(): Record<string, string> {
    return {
      LAKE_BUCKET_URL: `s3://${BUCKET}/some/lake`,
      LAKE_BUCKET_ENDPOINT: this.endpoint,
      LAKE_BUCKET_REGION: REGION,
      LAKE_BUCKET_KEY_ID: KEY.id,
      LAKE_BUCKET_KEY: KEY.secret,
    };
  }

  /** Puts an object there as somebody else would. */
  place(name: string, text: string): void {
    this.#store(name, Buffer.from(text));
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const url = new URL(request.url!, this.endpoint);
    const [, bucket, ...rest] = url.pathname.split("/");
    const call = { method: request.method!, name: rest.map(decodeURIComponent).join("/") };
    this.calls.push(call);
    const fault = this.fault(call);
    if (fault === "silent") return;
    if (fault === "cut_before") return void request.socket.destroy();
    const refusal = refusalOf(fault) ?? signatureRefusal(request, { url, body });
    if (refusal) return refuse(response, refusal);
    if (bucket !== BUCKET) return refuse(response, "NoSuchBucket");
    this.#act(call, { url, body, response, isCut: fault === "cut_after" });
  }

  #act(call: BucketCall, { url, body, response, isCut }: Acting): void {
    const { method, name } = call;
    const done = (status: number, headers: Record<string, string> = {}, content: Buffer | string = "") => {
      if (isCut) response.socket?.destroy();
      else response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(content) }).end(content);
    };
    const object = this.objects.get(name);
    if (method === "PUT") done(200, { etag: `"${this.#store(name, body)}"` });
    else if (method === "GET" && name === "") done(200, { "content-type": "application/xml" }, this.#list(url));
    else if (method === "GET" && object) done(200, { etag: `"${object.etag}"` }, object.bytes);
    else if (method === "GET") refuse(response, "NoSuchKey");
    else if (method === "DELETE") {
      this.objects.delete(name);
      done(204, this.keepsVersions ? { "x-amz-delete-marker": "true" } : {});
    } else refuse(response, "MethodNotAllowed");
  }

  #store(name: string, bytes: Buffer): string {
    const etag = createHash("md5")
      .update(this.isEncrypted ? `salt ${name} ` : "")
      .update(bytes)
      .digest("hex");
    this.objects.set(name, { bytes, etag });
    return etag;
  }

  #list({ searchParams }: URL): string {
    const [prefix, token] = [searchParams.get("prefix") ?? "", searchParams.get("continuation-token") ?? ""];
    if (searchParams.get("list-type") !== "2") throw new Error("Only the second version of lists is known here.");
    const names = [...this.objects.keys()].filter((name) => name.startsWith(prefix) && name > token).sort();
    const page = names.slice(0, this.pageSize);
    const contents = page.map((name) => {
      const { bytes, etag } = this.objects.get(name)!;
      return `<Contents><Key>${xml(name)}</Key><ETag>&quot;${etag}&quot;</ETag><Size>${bytes.length}</Size></Contents>`;
    });
    const isCut = names.length > page.length;
    const next = isCut ? `<NextContinuationToken>${xml(page.at(-1)!)}</NextContinuationToken>` : "";
    return `<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>${isCut}</IsTruncated>${next}${contents.join("")}</ListBucketResult>`;
  }
}

type Acting = { url: URL; body: Buffer; response: ServerResponse; isCut: boolean };

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function refusalOf(fault: BucketFault | undefined): string | undefined {
  const codes: Partial<Record<BucketFault, string>> = {
    fails: "InternalError",
    slow_down: "SlowDown",
    full: "QuotaExceeded",
    denied: "AccessDenied",
    skewed: "RequestTimeTooSkewed",
  };
  return fault && codes[fault];
}

function refuse(response: ServerResponse, code: string): void {
  const text = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>Said by the stand-in.</Message></Error>`;
  response.writeHead(STATUS[code]!, { "content-type": "application/xml", "content-length": text.length }).end(text);
}

type Signed = { url: URL; body: Buffer };

/** The code with which a request is refused whose signature or checksums are wrong. */
function signatureRefusal(request: IncomingMessage, { url, body }: Signed): string | undefined {
  const { headers } = request;
  const authorization = headers.authorization ?? "";
  const parts = /^AWS4-HMAC-SHA256 Credential=([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
    authorization,
  );
  if (!parts) return "AccessDenied";
  const [, credential, signedHeaders, signature] = parts as unknown as [string, string, string, string];
  const [keyId, day, region, service] = credential.split("/");
  if (keyId !== KEY.id) return "InvalidAccessKeyId";
  if (region !== REGION || service !== "s3") return "AuthorizationHeaderMalformed";
  const at = String(headers["x-amz-date"]);
  const atMs = Date.parse(at.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, "$1-$2-$3T$4:$5:$6Z"));
  if (!(Math.abs(Date.now() - atMs) < SKEW_MS_MAX)) return "RequestTimeTooSkewed";
  const names = signedHeaders.split(";");
  if (!["host", "x-amz-content-sha256", "x-amz-date"].every((name) => names.includes(name))) return "AccessDenied";
  const payload = String(headers["x-amz-content-sha256"]);
  const canonical = [
    request.method,
    url.pathname.split("/").map(decodeURIComponent).map(encoded).join("/"),
    [...url.searchParams]
      .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
      .sort()
      .join("&"),
    ...names.map(
      (name) =>
        `${name}:${String(headers[name] ?? "")
          .trim()
          .replaceAll(/ +/g, " ")}`,
    ),
    "",
    signedHeaders,
    payload,
  ].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const toSign = ["AWS4-HMAC-SHA256", at, scope, sha256(canonical)].join("\n");
  const key = [day!, region, "s3", "aws4_request"].reduce<string | Buffer>(hmac, `AWS4${KEY.secret}`);
  if (hmac(key, toSign).toString("hex") !== signature) return "SignatureDoesNotMatch";
  if (payload !== sha256(body)) return "XAmzContentSHA256Mismatch";
  const md5 = headers["content-md5"];
  const isDamaged = md5 !== undefined && md5 !== createHash("md5").update(body).digest("base64");
  return isDamaged ? "BadDigest" : undefined;
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

function sha256(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}

function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

function xml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
