import { type Static, Type } from "typebox";
import { FINDING_KINDS, type FindingKind, SEVERITIES, type Severity } from "../../domain/doctor/finding.ts";
import type { JsonObject } from "../../domain/json.ts";
import { envelopeSchema } from "../envelope.ts";
import { choice } from "../fields.ts";

export const doctorQuery = Type.Object({
  app_id: Type.String({ pattern: "^\\d{1,10}$", description: "Application id" }),
  since_ms: Type.Optional(
    Type.String({ pattern: "^\\d{1,15}$", description: "Only what happened since; of the last 24 hours without it" }),
  ),
});

const finding = Type.Object({
  kind: choice<FindingKind>(FINDING_KINDS, "What is wrong"),
  severity: choice<Severity>(SEVERITIES, "error: data is lost or wrong; warning: reports will lack something"),
  count: Type.Integer({ minimum: 1, description: "Of calls, events, clients, touches or orders, as the kind has it" }),
  subjects: Type.Array(Type.String(), { description: "Names that it is about: events, parameters, clients …" }),
  example: Type.Unsafe<JsonObject>({ type: "object", description: "What triggered it last" }),
  first_at_ms: Type.Integer(),
  last_at_ms: Type.Integer(),
});

export const doctorAnswer = Type.Object({
  findings: Type.Array(finding, { description: "One of each kind, the worst first" }),
  calls: Type.Integer({ description: "So many of the last calls were looked at" }),
  since_ms: Type.Union([Type.Integer(), Type.Null()], { description: "The oldest of them; null where there is none" }),
  has_stored: Type.Boolean({ description: "Whether the tables could be looked at, too" }),
});
export type DoctorAnswer = Static<typeof doctorAnswer>;
export const doctorEnvelope = envelopeSchema(doctorAnswer);
