import { type Static, Type } from "typebox";
import { OUTCOMES } from "../../domain/attribution/attribution.ts";
import { FLAGS, PATTERN_FLAGS } from "../../domain/attribution/fraud.ts";
import { METHODS } from "../../domain/attribution/method.ts";
import { TOUCH_KINDS } from "../../domain/attribution/touch.ts";
import { envelopeSchema } from "../envelope.ts";

const oneOf = <const T extends readonly string[]>(values: T, description: string) =>
  Type.Unsafe<T[number]>({ type: "string", enum: [...values], description });
const time = (description: string) => Type.String({ description: `${description}, in the app's time zone` });
const atMs = Type.Integer({ description: "The same instant, in milliseconds" });
const nullableText = (description: string) => Type.Unsafe<string | null>({ type: ["string", "null"], description });
const flags = Type.Array(oneOf([...FLAGS, ...PATTERN_FLAGS], "Sign of fraud"));

const explainedCandidate = Type.Object({
  touch_id: Type.String(),
  platform: Type.String(),
  kind: oneOf(TOUCH_KINDS, "Click or impression"),
  touched_at: time("Time of the touch"),
  touched_at_ms: atMs,
  campaign: Type.String({ description: "Campaign of the link; empty: none" }),
  aid: Type.String({ description: "Ad" }),
  matched_by: oneOf(METHODS, "The method that counted"),
  matches: Type.String({ description: "All keys that it shares with the user, by method: `device_id (oaid, imei)`" }),
  window: Type.String({ description: "The window that applied" }),
  window_ms: Type.Integer({ description: "The same in milliseconds" }),
  flags,
  outcome: oneOf(OUTCOMES, "Outcome of the touch"),
  reason: Type.String({ description: "The reason, as a sentence" }),
});
/** A touch that might have brought the user. */
export type ExplainedCandidate = Static<typeof explainedCandidate>;

const decisionFields = {
  number: Type.Integer({ description: "1: on the registration; higher: on a return; 0: none was made" }),
  at: time("Time of the registration or return that was decided on"),
  at_ms: atMs,
  verdict: oneOf(["attributed", "organic"], "What was decided"),
  method: oneOf([...METHODS, "reported", ""], "How the platform was found; empty: organic"),
  platform: Type.String({ description: "Empty: organic" }),
  touch: Type.Union([Type.Null(), explainedCandidate], { description: "The touch that won" }),
  flags,
  keys: Type.Array(Type.String(), { description: "The kinds of id by which the user was known" }),
  launch: nullableText("The platform that the launch query names"),
  reported: nullableText("The platform that the caller reported; empty: an organic user was reported"),
  candidates: Type.Array(explainedCandidate),
  account: Type.String({ description: "The whole explanation, in sentences" }),
};

const explainedDecision = Type.Object(decisionFields);
export type ExplainedDecision = Static<typeof explainedDecision>;

export const explanation = Type.Object({
  client_id: Type.String(),
  ...decisionFields,
  decisions: Type.Array(explainedDecision, {
    description: "Every decision on the user, oldest first; the fields above are those of the current one",
  }),
});
export type Explanation = Static<typeof explanation>;

export const whyAnswer = envelopeSchema(explanation);
