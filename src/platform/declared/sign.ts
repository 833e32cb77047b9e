import { createHash, createHmac } from "node:crypto";
import { isObject, type JsonValue } from "../../domain/json.ts";
import { ApiError } from "../../errors.ts";
import type { Skip } from "../connector/prepared.ts";
import { assertNames, oneOf } from "./given.ts";
import { BODY } from "./placeholder.ts";
import { namesIn, type Place, readTemplate, type Template, textIn } from "./template.ts";

const HASHES = ["md5", "sha1", "sha256", "hmac_md5", "hmac_sha1", "hmac_sha256"] as const;

/** A signature in hexadecimal digits: of what, and with an HMAC by which key. */
export type Sign = {
  hash: (typeof HASHES)[number];
  of: Template;
  key: Template | undefined;
  letters: "lower" | "upper";
};

export function readSign(given: JsonValue | undefined, names: readonly string[]): Sign | undefined {
  if (given === undefined) return undefined;
  if (!isObject(given)) throw bad("sign must be an object of hash, of, key and letters.");
  assertNames("sign", given, ["hash", "of", "key", "letters"]);
  if (given.hash === undefined) throw bad(`sign.hash is missing: ${HASHES.join(", ")}.`);
  const hash = oneOf("sign.hash", given.hash, HASHES);
  const place = (where: string, more: readonly string[]): Place => ({
    where,
    names: [...names, ...more],
    takesNumbers: false,
  });
  const textAt = (where: string, value: JsonValue | undefined, more: readonly string[] = []) => {
    if (typeof value !== "string" || value === "") throw bad(`${where} must be a text with placeholders.`);
    return readTemplate(value, place(where, more));
  };
  const needsKey = hash.startsWith("hmac_");
  if (!needsKey && given.key !== undefined) throw bad("sign.key belongs to an HMAC; other hashes have none.");
  return {
    hash,
    of: textAt("sign.of", given.of, [BODY]),
    key: needsKey ? textAt("sign.key", given.key) : undefined,
    letters: oneOf("sign.letters", given.letters, ["lower", "upper"]),
  };
}

export function namesInSign({ of, key }: Sign): string[] {
  return [...namesIn(of), ...(key ? namesIn(key) : [])];
}

/** The signature, or a skip: one made with a missing secret would only be refused. */
export function signed(
  { hash, of, key, letters }: Sign,
  valueFor: (name: string) => string,
): { kind: "text"; text: string } | Skip {
  const text = textIn(of, valueFor);
  if (text.kind === "skip") return text;
  const secret = key && textIn(key, valueFor);
  if (secret?.kind === "skip") return secret;
  const hashed = secret ? createHmac(hash.replace("hmac_", ""), secret.text) : createHash(hash);
  const digits = hashed.update(text.text).digest("hex");
  return { kind: "text", text: letters === "upper" ? digits.toUpperCase() : digits };
}

function bad(message: string): ApiError {
  return new ApiError("badParameter", message);
}
