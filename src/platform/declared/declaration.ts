import { isObject, type JsonObject } from "../../domain/json.ts";
import { POSTBACK_EVENT_TYPES, type PostbackEventType } from "../../domain/postback/postback.ts";
import { ApiError } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import { type CallAddress, readAddress } from "./address.ts";
import { assertNames, assertNoSecret, oneOf, tableOf } from "./given.ts";
import { type JsonTemplate, readJsonTemplate, templatesIn } from "./json-template.ts";
import { ACCOUNT_PREFIX, BODY, PLACEHOLDERS, SIGN, TIE_NAMES } from "./placeholder.ts";
import { namesInSign, readSign, type Sign } from "./sign.ts";
import { readSuccessRule, type SuccessRule } from "./success-rule.ts";
import { type Entries, namesIn, readTemplate } from "./template.ts";

export type CallBody = { kind: "none" } | { kind: "form"; fields: Entries } | { kind: "json"; template: JsonTemplate };

/** How an app describes a platform's postbacks, read and checked. */
export type Declaration = {
  address: CallAddress;
  method: "GET" | "POST";
  query: Entries;
  headers: Entries;
  body: CallBody;
  sign: Sign | undefined;
  success: SuccessRule;
  codes: ReadonlyMap<PostbackEventType, string>;
  /** Whether the platform counts a conversion once that reaches it twice. */
  repeats: "counted" | "detected";
  /** The account's fields. */
  account: ReadonlyMap<string, "setting" | "secret">;
  /** Names of the placeholders in use. */
  uses: ReadonlySet<string>;
  /** As it was written. */
  text: string;
};

const FIELDS = [
  ...["url", "callback_hosts", "method", "query", "headers", "form", "json", "sign", "success", "codes", "repeats"],
  "account",
];

/** Reads a declaration. Refuses, with a sentence, what could not be sent or would tell the platform nothing. */
export function readDeclaration(given: JsonObject, options: { mayCallPrivate: boolean }): Declaration {
  const text = JSON.stringify(given);
  if (Buffer.byteLength(text) > LIMITS.declarationBytes)
    throw bad(`A declaration must not be longer than ${LIMITS.declarationBytes} bytes.`);
  assertNames("A declaration", given, FIELDS);
  const address = readAddress(given, options);
  const account = readAccountFields(given);
  const known = [...PLACEHOLDERS.map(({ name }) => name), ...[...account.keys()].map((name) => ACCOUNT_PREFIX + name)];
  const sign = readSign(given.sign, known);
  const parts = readParts(given, { known, sign });
  const codes = readCodes(given);
  const repeats = oneOf("repeats", given.repeats, ["counted", "detected"]);
  const uses = usesOf(parts, sign, address);
  assertUses(uses, { codes, sign, repeats });
  return { address, ...parts, sign, success: readSuccessRule(given.success), codes, repeats, account, uses, text };
}

type Parts = Pick<Declaration, "method" | "query" | "headers" | "body">;

function readParts(given: JsonObject, { known, sign }: { known: readonly string[]; sign: Sign | undefined }): Parts {
  const method = oneOf("method", given.method, ["GET", "POST"]);
  const withSign = sign ? [...known, SIGN] : known;
  const signsBody = sign && namesInSign(sign).includes(BODY);
  const inBody = signsBody ? known : withSign;
  const query = readEntries("query", given, withSign);
  const headers = readHeaders(given, withSign);
  if (given.form !== undefined && given.json !== undefined) throw bad("A call has either form or json, not both.");
  const hasBody = given.form !== undefined || given.json !== undefined;
  if (hasBody && method === "GET") throw bad("form and json belong to the method POST.");
  if (signsBody && !hasBody) throw bad("sign.of: there is no body to sign; declare form or json.");
  if (given.form !== undefined)
    return { method, query, headers, body: { kind: "form", fields: readEntries("form", given, inBody) } };
  if (given.json === undefined) return { method, query, headers, body: { kind: "none" } };
  if (!isObject(given.json) && !Array.isArray(given.json)) throw bad("json must be an object or a list.");
  const template = readJsonTemplate(given.json, { where: "json", names: inBody, takesNumbers: true });
  return { method, query, headers, body: { kind: "json", template } };
}

function readEntries(where: "query" | "headers" | "form", given: JsonObject, names: readonly string[]): Entries {
  return tableOf(where, given[where]).map(([name, text]) => {
    const at = `${where}.${name}`;
    if (name.trim() === "") throw bad(`${where} has a field without a name.`);
    const template = readTemplate(text, { where: at, names, takesNumbers: false });
    if (namesIn(template).length === 0) assertNoSecret(at, name);
    return [name, template] as const;
  });
}

const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
/** Headers of the connection, which are the sender's own. */
const SENDERS_OWN =
  /^(?:host|content-length|transfer-encoding|connection|keep-alive|expect|te|trailer|upgrade|proxy-.*)$/i;

function readHeaders(given: JsonObject, names: readonly string[]): Entries {
  const entries = readEntries("headers", given, names);
  for (const [name, template] of entries) {
    if (!HEADER_NAME.test(name)) throw bad(`headers: ${JSON.stringify(name)} is not the name of a header.`);
    if (SENDERS_OWN.test(name)) throw bad(`headers: ${name} is set by the server itself.`);
    if (template.parts.some((part) => part.kind === "text" && !isHeaderText(part.text)))
      throw bad(`headers.${name} holds signs that a header cannot hold.`);
  }
  return entries;
}

/** Whether a header can hold the text. */
export function isHeaderText(text: string): boolean {
  return /^[\t\x20-\x7e]*$/.test(text);
}

function readCodes(given: JsonObject): Declaration["codes"] {
  const entries = tableOf("codes", given.codes);
  if (entries.length === 0)
    throw bad('codes is missing: the platform\'s code for each event type that it takes, such as {"pay":"3"}.');
  return new Map(
    entries.map(([name, code]) => {
      const eventType = POSTBACK_EVENT_TYPES.find((known) => known === name);
      if (eventType === undefined)
        throw bad(
          `codes: ${JSON.stringify(name)} is not an event type; these are: ${POSTBACK_EVENT_TYPES.join(", ")}.`,
        );
      if (code.trim() === "" || code.length > LIMITS.nameLength) throw bad(`codes.${name} must be a code.`);
      return [eventType, code.trim()];
    }),
  );
}

const ACCOUNT_NAME = /^[a-z][a-z0-9_]{0,39}$/;
/** Fields that accounts have anyway, that are lent to them, or that hold addresses. */
const TAKEN_NAME = /^(?:codes|repeats|advertiser_id|callback_hosts|wechat_access_token|akey)$|(?:^|_)url$/;

function readAccountFields(given: JsonObject): Declaration["account"] {
  return new Map(
    tableOf("account", given.account).map(([name, text]) => {
      if (!ACCOUNT_NAME.test(name))
        throw bad(`account: ${JSON.stringify(name)} must be small letters, digits and _, beginning with a letter.`);
      if (TAKEN_NAME.test(name)) throw bad(`account: ${name} has a meaning of its own; choose another name.`);
      return [name, oneOf(`account.${name}`, text, ["setting", "secret"])];
    }),
  );
}

function usesOf({ query, headers, body }: Parts, sign: Sign | undefined, address: CallAddress): Set<string> {
  const fields = [...query, ...headers, ...(body.kind === "form" ? body.fields : [])];
  return new Set([
    ...fields.flatMap(([, template]) => namesIn(template)),
    ...(body.kind === "json" ? templatesIn(body.template).flatMap(namesIn) : []),
    ...(sign ? namesInSign(sign) : []),
    ...(address.kind === "callback" ? ["callback"] : []),
  ]);
}

function assertUses(
  uses: ReadonlySet<string>,
  { codes, sign, repeats }: Pick<Declaration, "codes" | "sign" | "repeats">,
): void {
  if (sign && !uses.has(SIGN)) throw bad("sign is declared, but {sign} is used nowhere.");
  if (!TIE_NAMES.some((name) => uses.has(name)))
    throw bad(`Nothing ties a conversion to its click: use one of ${TIE_NAMES.map((name) => `{${name}}`).join(", ")}.`);
  if (codes.size > 1 && !uses.has("code"))
    throw bad("{code} is used nowhere, so the platform could not tell one event type from another.");
  if (repeats === "detected" && !uses.has("id"))
    throw bad("repeats is detected, but by what? Send {id}, which is the same in every attempt.");
}

function bad(message: string): ApiError {
  return new ApiError("badParameter", message);
}
