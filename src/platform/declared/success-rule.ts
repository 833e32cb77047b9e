import { isObject, type JsonObject, type JsonValue } from "../../domain/json.ts";
import { ApiError } from "../../errors.ts";
import type { HttpReply, ReplyVerdict } from "../connector/connector.ts";
import { answerBy, isPassing, type Kinds, verdictOf } from "../connector/verdict.ts";
import { assertNames, textsOf } from "./given.ts";

/**
 * What a platform's reply means. `field`: a value in JSON. `text`: the whole body. `status`: any 2xx. A status of 4xx or
 * 5xx is never a success.
 */
export type SuccessRule =
  | { kind: "field"; field: string; message: string; kinds: Kinds }
  | { kind: "text"; accepted: readonly string[] }
  | { kind: "status" };

const FIELD = /^[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*){0,4}$/;

const NEEDED =
  'success is missing: say how the platform tells that it took a conversion, such as {"kind":"field","field":"code","accepted":["0"]}.';

export function readSuccessRule(given: JsonValue | undefined): SuccessRule {
  if (given === undefined) throw bad(NEEDED);
  if (!isObject(given)) throw bad("success must be an object with a kind: field, text or status.");
  switch (given.kind) {
    case "field":
      return readFieldRule(given);
    case "text":
      assertNames("success", given, ["kind", "accepted"]);
      return { kind: "text", accepted: acceptedIn(given) };
    case "status":
      assertNames("success", given, ["kind"]);
      return { kind: "status" };
    default:
      throw bad("success.kind must be field, text or status.");
  }
}

function readFieldRule(given: JsonObject): SuccessRule {
  assertNames("success", given, ["kind", "field", "accepted", "refused", "message"]);
  const { field, message = "" } = given;
  if (typeof field !== "string" || !FIELD.test(field))
    throw bad("success.field must name a field of the answer, such as code or data.code.");
  if (typeof message !== "string" || (message !== "" && !FIELD.test(message)))
    throw bad("success.message must name the field of the answer with the platform's words.");
  const accepted = acceptedIn(given);
  const refused = given.refused === undefined ? [] : textsOf("success.refused", given.refused);
  const both = refused.find((code) => accepted.includes(code));
  if (both !== undefined) throw bad(`success: ${JSON.stringify(both)} cannot be both accepted and refused.`);
  const kinds: Kinds = Object.fromEntries([
    ...accepted.map((code) => [code, "accepted" as const]),
    ...refused.map((code) => [code, "permanent" as const]),
  ]);
  return { kind: "field", field, message, kinds };
}

function acceptedIn({ accepted }: JsonObject): string[] {
  const texts = accepted === undefined ? [] : textsOf("success.accepted", accepted);
  if (texts.length === 0) throw bad("success.accepted must name at least one value that means success.");
  return texts;
}

export function readReply(rule: SuccessRule, reply: HttpReply): ReplyVerdict {
  if (rule.kind === "field") {
    const { field, message, kinds } = rule;
    return verdictOf(reply, (body) =>
      answerBy({ code: valueAt(body, field), text: message === "" ? undefined : valueAt(body, message) }, kinds),
    );
  }
  const { status } = reply;
  if (status >= 400 && !isPassing(status)) return { kind: "permanent", reason: answered(status) };
  if (status < 200 || status >= 300) return { kind: "retry", reason: answered(status) };
  if (rule.kind === "status" || rule.accepted.includes(reply.body.trim())) return { kind: "accepted" };
  return { kind: "retry", reason: "The platform's answer is not one that means success." };
}

function answered(status: number): string {
  return `The platform answered with HTTP ${status}.`;
}

function valueAt(body: JsonObject, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = body;
  for (const name of path.split(".")) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

function bad(message: string): ApiError {
  return new ApiError("badParameter", message);
}
