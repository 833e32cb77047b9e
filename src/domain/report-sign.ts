import { createHmac, timingSafeEqual } from "node:crypto";
import { md5 } from "./identity.ts";
import { parseRawJson, type RawJson } from "./raw-json.ts";

/** Where clients write the same value differently. Each of them makes another sign; all are accepted. */
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

/** The sign that a client in its plainest form would send. */
export function signReport(body: string, appKey: string): string {
  return signAs(parseRawJson(body), appKey, SPELLINGS[0]!);
}

/** The body with its sign, and the token that goes with it; `expiresAtMs`: until when the token counts. */
export function signedRequest(
  body: object,
  appKey: string,
  { expiresAtMs }: { expiresAtMs?: number } = {},
): { body: string; authorization: string } {
  const sign = signReport(JSON.stringify(body), appKey);
  const claims = { app_key: appKey, ...(expiresAtMs !== undefined && { exp: Math.floor(expiresAtMs / 1000) }) };
  return { body: JSON.stringify({ ...body, sign }), authorization: tokenOf(claims, sign) };
}

/** A JWT whose key is the sign, so it fits no other body. */
function tokenOf(claims: object, sign: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const text = `${part({ alg: "HS256", typ: "JWT" })}.${part(claims)}`;
  return `${text}.${createHmac("sha256", sign).update(text).digest("base64url")}`;
}

/** Whether a body carries a sign made with the key, in any spelling. `body` is known to be the text of an object. */
export function isReportSigned(body: string, sign: string, appKey: string): boolean {
  const parsed = parseRawJson(body);
  const given = Buffer.from(sign.toLowerCase());
  let isSame = false;
  for (const spelling of spellingsOf(body)) {
    const expected = Buffer.from(signAs(parsed, appKey, spelling));
    // All are compared, so that the time tells nothing.
    if (given.length === expected.length && timingSafeEqual(given, expected)) isSame = true;
  }
  return isSame;
}

/** Those that can differ for this body; most bodies hold nothing but plain letters. */
function spellingsOf(body: string): Spelling[] {
  const hasEscape = body.includes("\\u");
  const hasWide = hasEscape || /[^\u0000-\u007f]/.test(body);
  const hasAngles = hasEscape || /[<>&\u2028\u2029]/.test(body);
  return SPELLINGS.filter(({ text, angles }) => (text === "plain" || hasWide) && (angles === "plain" || hasAngles));
}

/** `key=value` of every field but the sign, sorted bytewise, the key behind, without quotes and blanks. */
function signAs(body: RawJson, appKey: string, spelling: Spelling): string {
  if (body.kind !== "object") throw new Error("Only an object can be signed.");
  const parts = body.members
    .filter(([key]) => key !== "sign")
    .map(([key, value]) => Buffer.from(`${key}=${compact(value, spelling)}`))
    .sort(Buffer.compare);
  const text = `${parts.map((part) => part.toString()).join("&")}${appKey}`;
  return md5(text.replaceAll(/[" ]/g, ""));
}

function compact(value: RawJson, spelling: Spelling): string {
  switch (value.kind) {
    case "object": {
      const members = spelling.keys === "sorted" ? [...value.members].sort(byKey) : value.members;
      const texts = members.map(([key, item]) => `${stringText(key, spelling)}:${compact(item, spelling)}`);
      return `{${texts.join(",")}}`;
    }
    case "array":
      return `[${value.items.map((item) => compact(item, spelling)).join(",")}]`;
    case "string":
      return stringText(value.value, spelling);
    case "token":
      return spelling.numbers === "as_sent" ? value.text : JSON.stringify(JSON.parse(value.text));
  }
}

function byKey([left]: readonly [string, RawJson], [right]: readonly [string, RawJson]): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}

function stringText(text: string, { text: form, angles }: Spelling): string {
  let json = JSON.stringify(text);
  if (angles === "escaped") json = json.replaceAll(/[<>&\u2028\u2029]/g, escaped);
  if (form === "ascii") json = json.replaceAll(/[^\u0000-\u007f]/g, escaped);
  return json;
}

/** Each UTF-16 unit by itself, in lower hex. */
function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    const code = character.charCodeAt(index);
    return `\\u${code.toString(16).padStart(4, "0")}`;
  }).join("");
}
