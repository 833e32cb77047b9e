import { gzipSync } from "node:zlib";
import { NASTY_NUMBERS, NASTY_TEXTS } from "./nasty.ts";
import { fittingValue, type Hints, type Operation } from "./operation.ts";
import type { Random } from "./random.ts";

/** The one thing that is wrong with an otherwise valid request. */
export const DAMAGES = [
  ...["none", "field", "missing_field", "extra_field", "twice", "deep", "random_json", "random_bytes", "cut", "empty"],
  ...["gzip", "gzip_bomb", "gzip_cut", "gzip_lie", "charset", "mark", "multipart", "encoding"],
  ...["method", "query", "path", "headers"],
] as const;
export type Damage = (typeof DAMAGES)[number];

export type FuzzRequest = {
  damage: Damage;
  operation: Operation;
  method: string;
  /** The address with its query. */
  url: string;
  headers: Record<string, string>;
  body: Buffer | undefined;
};

/** The server under test, with valid credentials. */
export type World = {
  hints: Hints;
  /** The headers and body text of a valid call with this body. */
  authorize: (operation: Operation, body: unknown) => { headers: Record<string, string>; text: string };
};

type Draft = { method: string; url: string; query: [string, string][]; headers: Record<string, string>; body?: Buffer };

/** A request to an operation, with one thing wrong with it. */
export function fuzzRequest(operation: Operation, damage: Damage, random: Random, world: World): FuzzRequest {
  const value = operation.body && fittingValue(operation.body, random, world.hints);
  const broken = isObject(value) ? brokenObject(value, damage, random) : value;
  const { headers, text } = world.authorize(operation, broken);
  const draft: Draft = {
    method: operation.method,
    url: operation.path,
    query: operation.query.flatMap(({ name, required, schema = {} }): [string, string][] =>
      required || random.chance(0.6) ? [[name, textOf(fittingValue(schema, random, world.hints, name))]] : [],
    ),
    headers: { ...headers },
    ...(operation.body && { body: Buffer.from(text) }),
  };
  spoil(draft, damage, random);
  const search = draft.query.map(([name, given]) => `${encoded(name)}=${encoded(given)}`).join("&");
  const url = draft.url.includes("?") || search === "" ? draft.url : `${draft.url}?${search}`;
  return { damage, operation, method: draft.method, url, headers: draft.headers, body: draft.body };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** A lone surrogate cannot be encoded; a careless client's encoder would send this instead. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** Breaks the JSON itself, before it is signed. */
function brokenObject(value: Record<string, unknown>, damage: Damage, random: Random): Record<string, unknown> {
  const broken = structuredClone(value);
  const target = targetIn(broken, random);
  const names = Object.keys(target);
  if (damage === "field" && names.length > 0) target[random.pick(names)] = brokenValue(random);
  if (damage === "missing_field" && names.length > 0) delete target[random.pick(names)];
  if (damage === "extra_field") {
    const name = random.pick(NASTY_TEXTS);
    Object.defineProperty(target, name, { value: brokenValue(random), enumerable: true });
  }
  if (damage === "deep" && names.length > 0)
    target[random.pick(names)] = nested(random.pick([10, 17, 70, 500]), random);
  return broken;
}

/** The object itself, or one of the objects inside it. */
function targetIn(value: Record<string, unknown>, random: Random): Record<string, unknown> {
  const inner = Object.values(value).flat().filter(isObject);
  return inner.length > 0 && random.chance(0.5) ? targetIn(random.pick(inner), random) : value;
}

export function brokenValue(random: Random): unknown {
  const choices: (() => unknown)[] = [
    () => random.pick(NASTY_TEXTS),
    () => random.pick(NASTY_NUMBERS),
    () => random.pick([null, true, false, "", [], {}, [[]], [null], [{}], { a: null }]),
    () => "x".repeat(random.pick([129, 201, 2_049, 70_000])),
    () => Array.from({ length: random.pick([3, 101, 1_001]) }, () => random.pick(["a", 1, null, {}])),
    () => Object.fromEntries(Array.from({ length: 5 }, () => [random.pick(NASTY_TEXTS), random.pick(NASTY_TEXTS)])),
    () => Array.from({ length: 3 }, () => random.pick(NASTY_TEXTS)),
    () => ({ operator: "between", values: [random.pick(NASTY_NUMBERS), random.pick(NASTY_TEXTS)] }),
  ];
  return random.pick(choices)();
}

function nested(levels: number, random: Random): unknown {
  let value: unknown = 1;
  const isList = random.chance(0.5);
  // JSON is written and signed recursively, so it is no deeper than the stack allows.
  for (let level = 0; level < levels; level += 1) value = isList ? [value] : { a: value };
  return value;
}

function randomJson(random: Random, depth = 0): unknown {
  if (depth > 4 || random.chance(0.4)) return brokenValue(random);
  if (random.chance(0.5)) return Array.from({ length: random.integer(5) }, () => randomJson(random, depth + 1));
  return Object.fromEntries(
    Array.from({ length: random.integer(5) }, () => [
      random.chance(0.5) ? random.word() : random.pick(NASTY_TEXTS),
      randomJson(random, depth + 1),
    ]),
  );
}

const TYPES = [
  ...["application/json", "text/plain", "application/x-www-form-urlencoded", "application/octet-stream", "a/b;c"],
  ...[
    "multipart/form-data",
    "multipart/form-data; boundary=x",
    "application/json; charset=utf-16",
    "",
    ";;;",
    "\u00ff",
  ],
];
const ENCODINGS = ["gzip", "GZIP", "deflate", "br", "identity", "gzip, gzip", "", "zstd"];
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "PROPFIND", "PURGE", "QUERY", "TRACE"];

/** Breaks the message around the body. */
function spoil(draft: Draft, damage: Damage, random: Random): void {
  const body = spoiledBody(draft.body?.toString() ?? "{}", damage, random);
  if (body) draft.body = body;
  if (damage.startsWith("gzip")) draft.headers[random.pick(["content-encoding", "gravity-content-compress"])] = "gzip";
  if (damage === "charset") draft.headers["content-type"] = "application/json; charset=utf-16";
  if (damage === "multipart") draft.headers["content-type"] = "multipart/form-data; boundary=x";
  if (damage === "encoding") {
    draft.headers["content-type"] = random.pick(TYPES);
    draft.headers["content-encoding"] = random.pick(ENCODINGS);
  }
  spoilAddress(draft, damage, random);
}

function spoiledBody(text: string, damage: Damage, random: Random): Buffer | undefined {
  switch (damage) {
    case "twice":
      return Buffer.from(text.replace(/^\{/, '{"client_id":1,"app_id":{},"sign":"x","__proto__":{"a":1},'));
    case "deep":
      return random.chance(0.3) ? Buffer.from("[".repeat(200_000)) : undefined;
    case "random_json":
      return Buffer.from(JSON.stringify(randomJson(random)));
    case "random_bytes":
      return random.bytes(random.pick([1, 10, 1_000]));
    case "cut":
      return Buffer.from(text).subarray(0, random.integer(text.length));
    case "empty":
      return Buffer.alloc(0);
    case "gzip":
      return gzipSync(text);
    case "gzip_bomb":
      return gzipSync(Buffer.alloc(random.pick([1, 17, 40]) * 1024 * 1024, 0x20), { level: 1 });
    case "gzip_cut":
      return cutAnywhere(gzipSync(text), random);
    case "gzip_lie":
      return random.chance(0.5) ? Buffer.from(text) : random.bytes(50);
    case "charset":
      return random.chance(0.5) ? Buffer.from(text, "utf16le") : Buffer.concat([Buffer.from(text), random.bytes(3)]);
    case "mark":
      return Buffer.from(`\ufeff${text}`);
    case "multipart": {
      const field = `content-disposition: form-data; name="data"\r\n\r\n${Buffer.from(text).toString("base64")}`;
      return Buffer.from(`--x\r\n${field}\r\n--x${random.pick(["--\r\n", "", "\r\n--"])}`);
    }
    default:
      return undefined;
  }
}

function cutAnywhere(bytes: Buffer, random: Random): Buffer {
  return bytes.subarray(0, random.integer(bytes.length));
}

function spoilAddress(draft: Draft, damage: Damage, random: Random): void {
  if (damage === "method") draft.method = random.pick(METHODS);
  if (damage === "query") {
    const names = [...draft.query.map(([name]) => name), "access_token", "client_id", "app_id", "sort"];
    for (let more = 0; more < 3; more += 1)
      draft.query.push([random.pick(names), textOf(brokenValue(random)).slice(0, 3_000)]);
    if (random.chance(0.3))
      draft.url += `?${random.pick(["%zz=%", "a=%ff%fe", "&&&=", "access_token[]=1", "a[b][c]=d", "%00"])}`;
  }
  if (damage === "path") {
    const parts = draft.url.split("/");
    parts[1 + random.integer(parts.length - 1)] = random.pick([
      "",
      "..",
      "%2e%2e",
      "%2f",
      "%00",
      "%c0%ae",
      "..%5c",
      "%ff",
      "A".repeat(5_000),
      ";a=b",
      "*",
    ]);
    draft.url = parts.join("/");
  }
  if (damage === "headers") {
    const names = [
      "authorization",
      "x-forwarded-for",
      "user-agent",
      "origin",
      "host",
      "turbo-debug-mode",
      "cookie",
      "range",
    ];
    for (let more = 0; more < 3; more += 1) {
      // Only characters that a header can hold; a separate test writes the others to the socket itself.
      const value = textOf(brokenValue(random)).replaceAll(/[^\t\u0020-\u007e]/g, "?");
      draft.headers[random.pick(names)] = value.slice(0, 4_000);
    }
  }
}
