import type { ShownConnector } from "../../../../src/contract/setting/connector.ts";

type Declared = ShownConnector["declaration"];
type Json = Declared[string];

/** A declaration as it is typed: tables as lines of `name = text`. */
export type Draft = {
  platform: string;
  url: string;
  hosts: string;
  method: string;
  query: string;
  headers: string;
  bodyKind: "none" | "form" | "json";
  body: string;
  hash: string;
  signOf: string;
  signKey: string;
  letters: string;
  successKind: string;
  field: string;
  accepted: string;
  refused: string;
  message: string;
  codes: string;
  account: string;
  repeats: string;
};

export type DraftProps = { draft: Draft; onChange: (changes: Partial<Draft>) => void };

export const NEW: Draft = {
  platform: "",
  url: "https://",
  hosts: "",
  method: "GET",
  query: "click_id = {click_id}\nevent = {code}\ntime = {time_ms}\namount = {amount_yuan?}",
  headers: "",
  bodyKind: "none",
  body: "",
  hash: "",
  signOf: "",
  signKey: "",
  letters: "lower",
  successKind: "field",
  field: "code",
  accepted: "0",
  refused: "",
  message: "message",
  codes: "activate = \nregister = \npay = ",
  account: "",
  repeats: "counted",
};

/** The address that the click brings, instead of a fixed one. */
export const CALLBACK = "{callback}";

export const HASHES = ["", "md5", "sha1", "sha256", "hmac_md5", "hmac_sha1", "hmac_sha256"] as const;

export function draftOf({ ad_platform, declaration }: ShownConnector): Draft {
  const { sign, success } = { sign: objectOf(declaration.sign), success: objectOf(declaration.success) };
  const { form, json } = declaration;
  return {
    platform: ad_platform,
    url: textOf(declaration.url),
    hosts: textOf(declaration.callback_hosts),
    method: textOf(declaration.method) || "GET",
    query: linesOf(declaration.query),
    headers: linesOf(declaration.headers),
    bodyKind: form === undefined ? (json === undefined ? "none" : "json") : "form",
    body: form === undefined ? (json === undefined ? "" : JSON.stringify(json, null, 2)) : linesOf(form),
    hash: textOf(sign.hash),
    signOf: textOf(sign.of),
    signKey: textOf(sign.key),
    letters: textOf(sign.letters) || "lower",
    successKind: textOf(success.kind),
    field: textOf(success.field),
    accepted: listOf(success.accepted),
    refused: listOf(success.refused),
    message: textOf(success.message),
    codes: linesOf(declaration.codes),
    account: linesOf(declaration.account),
    repeats: textOf(declaration.repeats) || "counted",
  };
}

/** The declaration, or undefined when the JSON of the body cannot be read. */
export function declarationOf(draft: Draft): Declared | undefined {
  const { url, hosts, method, query, headers, bodyKind, body, codes, account, repeats } = draft;
  const json = bodyKind === "json" ? jsonOf(body) : undefined;
  if (bodyKind === "json" && json === undefined) return undefined;
  return withValues({
    url: url.trim(),
    callback_hosts: url.trim() === CALLBACK ? hosts.trim() : undefined,
    method,
    query: tableOf(query),
    headers: tableOf(headers),
    form: bodyKind === "form" ? (tableOf(body) ?? {}) : undefined,
    json,
    sign: signOf(draft),
    success: successOf(draft),
    // A type without a code is one that the platform does not take.
    codes: Object.fromEntries(Object.entries(tableOf(codes) ?? {}).filter(([, code]) => code !== "")),
    account: tableOf(account),
    repeats,
  });
}

function signOf({ hash, signOf: of, signKey: key, letters }: Draft): Json | undefined {
  if (hash === "") return undefined;
  return withValues({ hash, of, key: hash.startsWith("hmac_") ? key : undefined, letters });
}

function successOf({ successKind: kind, field, accepted, refused, message }: Draft): Json {
  switch (kind) {
    case "field": {
      const words = message.trim() === "" ? undefined : message.trim();
      const never = refused.trim() === "" ? undefined : itemsOf(refused);
      return withValues({ kind, field: field.trim(), accepted: itemsOf(accepted), refused: never, message: words });
    }
    case "text":
      return { kind, accepted: itemsOf(accepted) };
    default:
      return { kind };
  }
}

function withValues(fields: Readonly<Record<string, Json | undefined>>): Declared {
  return Object.fromEntries(Object.entries(fields).filter((entry): entry is [string, Json] => entry[1] !== undefined));
}

/** Undefined when there is no line. */
function tableOf(lines: string): Record<string, string> | undefined {
  const entries = lines
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const at = line.indexOf("=");
      return at < 0 ? [line.trim(), ""] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function linesOf(table: Json | undefined): string {
  return Object.entries(objectOf(table))
    .map(([name, text]) => `${name} = ${textOf(text)}`)
    .join("\n");
}

function itemsOf(list: string): string[] {
  return list
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

function listOf(list: Json | undefined): string {
  return Array.isArray(list) ? list.map(textOf).join(", ") : "";
}

function jsonOf(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function objectOf(value: Json | undefined): Declared {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}

function textOf(value: Json | undefined): string {
  return typeof value === "string"
    ? value
    : typeof value === "number" || typeof value === "boolean"
      ? String(value)
      : "";
}
