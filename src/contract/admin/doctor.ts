import { type Static, Type } from "typebox";
import { FINDING_KINDS, type FindingKind, SEVERITIES, type Severity } from "../../domain/doctor/finding.ts";
import type { JsonObject } from "../../domain/json.ts";
import { envelopeSchema } from "../envelope.ts";
import { choice } from "../fields.ts";

export const doctorQuery = Type.Object({
  app_id: Type.String({ pattern: "^\\d{1,10}$", description: "Application id" }),
  since_ms: Type.Optional(
    Type.String({
      pattern: "^\\d{1,15}$",
      description: "Only findings since then; default and maximum: the last 24 hours",
    }),
  ),
});

const finding = Type.Object({
  kind: choice<FindingKind>(FINDING_KINDS, "Kind of mistake"),
  severity: choice<Severity>(SEVERITIES, "error: data is lost or wrong; warning: reports will lack something"),
  count: Type.Integer({
    minimum: 1,
    description: "Number of calls, events, clients, touches or orders, depending on the kind",
  }),
  subjects: Type.Array(Type.String(), { description: "Names concerned: events, parameters, clients …" }),
  example: Type.Unsafe<JsonObject>({ type: "object", description: "The latest occurrence" }),
  first_at_ms: Type.Integer(),
  last_at_ms: Type.Integer(),
});

export const doctorAnswer = Type.Object({
  findings: Type.Array(finding, { description: "At most one of each kind, worst first" }),
  calls: Type.Integer({ description: "Number of recent calls examined" }),
  since_ms: Type.Union([Type.Integer(), Type.Null()], {
    description: "Time of the oldest of them; null when there is none",
  }),
  has_stored: Type.Boolean({ description: "Whether the tables could be examined, too" }),
});
export type DoctorAnswer = Static<typeof doctorAnswer>;
export const doctorEnvelope = envelopeSchema(doctorAnswer);
