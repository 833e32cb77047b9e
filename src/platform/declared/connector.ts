import { POSTBACK_EVENT_TYPES } from "../../domain/postback/postback.ts";
import { type Address, addressOf } from "../connector/callback.ts";
import { CODES_FIELD, type Codes, codeOf } from "../connector/codes.ts";
import type { AccountField, CallContext, Conversion, PostbackConnector, Prepared } from "../connector/connector.ts";
import { type Skip, skip } from "../connector/prepared.ts";
import { fieldsOf } from "../platform.ts";
import { guardedAddressOf, withParameters } from "./address.ts";
import { type CallBody, type Declaration, isHeaderText } from "./declaration.ts";
import { filledJson, membersWith } from "./json-template.ts";
import { ACCOUNT_PREFIX, AMOUNT_NAMES, BODY, SIGN, valueFor } from "./placeholder.ts";
import { namesInSign, signed } from "./sign.ts";
import { readReply } from "./success-rule.ts";
import { filledEntries, namesIn, type Template } from "./template.ts";

/** The connector that a declaration describes: from here on, it is one like any other. */
export function declaredConnector(declaration: Declaration): PostbackConnector {
  const tellsMoney = AMOUNT_NAMES.some((name) => declaration.uses.has(name));
  const codes = Object.fromEntries(
    POSTBACK_EVENT_TYPES.map((type) => [type, declaration.codes.get(type) ?? null]),
  ) as Codes;
  return {
    fields: [...fieldsIn(declaration), CODES_FIELD],
    prepare: (conversion, context) => prepare(declaration, codes, { conversion, context }),
    read: (reply) => readReply(declaration.success, reply),
    declaration: declaration.text,
    hiddenNames: hiddenNamesIn(declaration),
    ...(!tellsMoney && { tellsMoney: "no" }),
  };
}

/** Names of the placeholders whose values nobody may learn. */
function hiddenPlaceholders({ account }: Declaration): Set<string> {
  const secrets = [...account].filter(([, kind]) => kind === "secret").map(([name]) => ACCOUNT_PREFIX + name);
  return new Set([SIGN, ...secrets]);
}

function hiddenNamesIn(declaration: Declaration): string[] {
  const { query, headers, body } = declaration;
  const hidden = hiddenPlaceholders(declaration);
  const isHiding = (template: Template) => namesIn(template).some((name) => hidden.has(name));
  const fields = [...query, ...headers, ...(body.kind === "form" ? body.fields : [])];
  return [
    ...fields.filter(([, template]) => isHiding(template)).map(([name]) => name),
    ...(body.kind === "json" ? membersWith(body.template, isHiding) : []),
  ];
}

function fieldsIn({ account }: Declaration): AccountField[] {
  return [...account].map(([name, kind]) => ({
    name,
    hint: `{account.${name}}`,
    fallback: "",
    ...(kind === "secret" && { isSecret: true }),
  }));
}

const NO_SIGN = { kind: "text", text: "" } as const;

type Call = { conversion: Conversion; context: CallContext };

function prepare(declaration: Declaration, codes: Codes, { conversion, context }: Call): Prepared {
  const code = codeOf(conversion, codes, context.account("codes"));
  if (code.kind === "skip") return code;
  const address = calledAddress(declaration, conversion);
  if (address.kind === "skip") return address;
  const plain = (name: string) => valueFor(name, { conversion, context, code: code.code });
  const { sign } = declaration;
  const signsBody = sign !== undefined && namesInSign(sign).includes(BODY);
  // A body that is signed holds no signature, and one that holds the signature is not signed.
  const early = sign && !signsBody ? signed(sign, plain) : NO_SIGN;
  if (early.kind === "skip") return early;
  const body = filledBody(declaration.body, (name) => (name === SIGN ? early.text : plain(name)));
  if (body.kind === "skip") return body;
  const late = sign && signsBody ? signed(sign, (name) => (name === BODY ? body.text : plain(name))) : early;
  if (late.kind === "skip") return late;
  const valueIn = (name: string) => (name === SIGN ? late.text : plain(name));
  const query = filledEntries(declaration.query, valueIn);
  if (query.kind === "skip") return query;
  const headers = filledEntries(declaration.headers, valueIn);
  if (headers.kind === "skip") return headers;
  const odd = Object.entries(headers.entries).find(([, value]) => !isHeaderText(value));
  if (odd) return skip(`The header ${odd[0]} would hold signs that a header cannot hold.`);
  return {
    kind: "request",
    dedupes: declaration.repeats === "detected",
    request: {
      method: declaration.method,
      url: withParameters(address.url, query.entries),
      headers: withType(headers.entries, body.type),
      ...(body.type !== "" && { body: body.text }),
      ...(sign && { hidden: [late.text] }),
    },
  };
}

function calledAddress(declaration: Declaration, { adData }: Conversion): Address {
  const { address, uses } = declaration;
  if (address.kind === "fixed") return { kind: "address", url: address.url };
  const delivered = { callback: fieldsOf(adData)("callback"), hosts: address.hosts };
  const isGuarded = [...hiddenPlaceholders(declaration)].some((name) => uses.has(name));
  return isGuarded ? guardedAddressOf(delivered) : addressOf(delivered);
}

type FilledBody = { kind: "body"; text: string; type: string } | Skip;

function filledBody(body: CallBody, valueIn: (name: string) => string): FilledBody {
  switch (body.kind) {
    case "none":
      return { kind: "body", text: "", type: "" };
    case "form": {
      const filled = filledEntries(body.fields, valueIn);
      if (filled.kind === "skip") return filled;
      const text = new URLSearchParams(filled.entries).toString();
      return { kind: "body", text, type: "application/x-www-form-urlencoded" };
    }
    case "json": {
      const filled = filledJson(body.template, valueIn);
      if (filled.kind === "skip") return filled;
      return { kind: "body", text: filled.kind === "json" ? filled.json : "{}", type: "application/json" };
    }
  }
}

/** The headers, with the body's type unless the declaration names its own. */
function withType(headers: Readonly<Record<string, string>>, type: string): Record<string, string> {
  const hasOwn = Object.keys(headers).some((name) => name.toLowerCase() === "content-type");
  return type === "" || hasOwn ? { ...headers } : { "content-type": type, ...headers };
}
