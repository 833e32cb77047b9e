import { createHmac, timingSafeEqual } from "node:crypto";
import { md5 } from "../user/identity.ts";
import { parseRawJson, type RawJson } from "./raw-json.ts";

/** The ways in which clients write the same value. Each spelling gives another sign; all are accepted. */
type Spelling = {
  keys: "sorted" | "as_sent";
  text: "plain" | "ascii";
  angles: "plain" | "escaped";
  numbers: "shortest" | "as_sent";
};

const SPELLINGS: readonly Spelling[] = (["sorted", "as_sent"] as const).flatMap((keys) =>
  (["plain", "ascii"] as const).flatMap((text) =>
    (["plain", "escaped"] as const).flatMap((angles) =>
      (["as_sent", "shortest"] as const).map((numbers) => ({ keys, text, angles, numbers })),
    ),
  ),
);

/** The sign in the plainest spelling. */
export function signReport(body: string, appKey: string): string {
  return signAs(sortedKeys(parseRawJson(body)), appKey, SPELLINGS[0]!);
}

/** The body with its sign, and the matching token, which is valid until `expiresAtMs`. */
export function signedRequest(
  body: object,
  appKey: string,
  { expiresAtMs }: { expiresAtMs?: number } = {},
): { body: string; authorization: string } {
  const sign = signReport(JSON.stringify(body), appKey);
  const claims = { app_key: appKey, ...(expiresAtMs !== undefined && { exp: Math.floor(expiresAtMs / 1000) }) };
  return { body: JSON.stringify({ ...body, sign }), authorization: tokenOf(claims, sign) };
}

/** A JWT whose key is the sign, so that it fits no other body. */
function tokenOf(claims: object, sign: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const text = `${part({ alg: "HS256", typ: "JWT" })}.${part(claims)}`;
  return `${text}.${createHmac("sha256", sign).update(text).digest("base64url")}`;
}

/**
 * Whether a body carries a sign made with the key, in any spelling. `body` is known to be the text of an object. A large
 * body in sixteen spellings takes a while: `pause` is awaited before and after each step.
 */
export async function isReportSigned(
  signed: { body: string; sign: string; appKey: string },
  pause: () => Promise<unknown>,
): Promise<boolean> {
  const { body, sign, appKey } = signed;
  await pause();
  const parsed = parseRawJson(body);
  await pause();
  const spellings = spellingsOf(body, parsed);
  await pause();
  const isSorted = spellings.every(({ keys }) => keys === "sorted");
  const forms = { as_sent: parsed, sorted: isSorted ? parsed : sortedKeys(parsed) };
  const given = Buffer.from(sign.toLowerCase());
  let isSame = false;
  for (const spelling of spellings) {
    await pause();
    const expected = Buffer.from(signAs(forms[spelling.keys], appKey, spelling));
    // All spellings are compared, so that the time taken reveals nothing.
    if (given.length === expected.length && timingSafeEqual(given, expected)) isSame = true;
  }
  await pause();
  return isSame;
}

/** The spellings that differ for this body. Most bodies hold only plain letters, short numbers and sorted keys. */
function spellingsOf(body: string, parsed: RawJson): Spelling[] {
  const hasEscape = body.includes("\\u");
  const canDiffer = {
    // The body's own keys are sorted with their values in any spelling.
    keys: someOf(parsed, (value) => value !== parsed && hasUnsortedKeys(value)),
    text: hasEscape || /[^\u0000-\u007f]/.test(body),
    angles: hasEscape || /[<>&\u2028\u2029]/.test(body),
    numbers: someOf(parsed, isLongerThanNeeded),
  };
  const first = SPELLINGS[0]!;
  const features = Object.keys(canDiffer) as (keyof Spelling)[];
  return SPELLINGS.filter((spelling) => features.every((name) => canDiffer[name] || spelling[name] === first[name]));
}

function someOf(value: RawJson, is: (value: RawJson) => boolean): boolean {
  if (is(value)) return true;
  if (value.kind === "object") return value.members.some(([, item]) => someOf(item, is));
  return value.kind === "array" && value.items.some((item) => someOf(item, is));
}

function hasUnsortedKeys(value: RawJson): boolean {
  if (value.kind !== "object") return false;
  return value.members.some(([key], index) => index > 0 && byBytes(value.members[index - 1]![0], key) > 0);
}

function isLongerThanNeeded(value: RawJson): boolean {
  return value.kind === "token" && shortest(value.text) !== value.text;
}

/** The md5 of `key=value` of every field but the sign, sorted bytewise, then the app key, without quotes and blanks. */
function signAs(body: RawJson, appKey: string, spelling: Spelling): string {
  if (body.kind !== "object") throw new Error("Only an object can be signed.");
  const parts = body.members
    .filter(([key]) => key !== "sign")
    .map(([key, value]) => `${key}=${compact(value, spelling)}`)
    .sort(byBytes);
  const text = `${parts.join("&")}${appKey}`;
  return md5(text.replaceAll(/[" ]/g, ""));
}

function compact(value: RawJson, spelling: Spelling): string {
  switch (value.kind) {
    case "object": {
      const texts = value.members.map(([key, item]) => `${stringText(key, spelling)}:${compact(item, spelling)}`);
      return `{${texts.join(",")}}`;
    }
    case "array":
      return `[${value.items.map((item) => compact(item, spelling)).join(",")}]`;
    case "string":
      return stringText(value.value, spelling);
    case "token":
      return spelling.numbers === "as_sent" ? value.text : shortest(value.text);
  }
}

function sortedKeys(value: RawJson): RawJson {
  if (value.kind === "array") return { kind: "array", items: value.items.map(sortedKeys) };
  if (value.kind !== "object") return value;
  const members = value.members.map(([key, item]) => [key, sortedKeys(item)] as const);
  return { kind: "object", members: members.sort(([left], [right]) => byBytes(left, right)) };
}

function shortest(token: string): string {
  return JSON.stringify(JSON.parse(token));
}

/** Compares by UTF-8 bytes without encoding: thousands of keys are compared for every spelling. */
function byBytes(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at += 1) {
    const [one, other] = [left.charCodeAt(at), right.charCodeAt(at)];
    if (one !== other) return rankOf(one) - rankOf(other);
  }
  return left.length - right.length;
}

/** Surrogates, the halves of characters beyond 16 bits, come after all others. */
function rankOf(code: number): number {
  return code >= 0xd800 && code <= 0xdfff ? code + 0x10000 : code;
}

const ANGLES = ["<", ">", "&", "\u2028", "\u2029"];

function stringText(text: string, { text: form, angles }: Spelling): string {
  let json = JSON.stringify(text);
  // For half a million angles, a regular expression would take four times as long.
  if (angles === "escaped") for (const angle of ANGLES) json = json.split(angle).join(escaped(angle));
  if (form === "ascii") json = json.replaceAll(/[^\u0000-\u007f]/g, escaped);
  return json;
}

/** One UTF-16 unit as an escape in lower-case hexadecimal. */
function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
