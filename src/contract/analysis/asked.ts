import { type Static, type TSchema, Type } from "typebox";
import { LIMITS } from "../../limits.ts";
import { envelopeSchema } from "../envelope.ts";
import { choice } from "../fields.ts";
import { usersBehind } from "./question.ts";
import { shownCondition } from "./segment.ts";

const appId = Type.Integer({ description: "Application id" });

const named = Type.Object({ segment_id: Type.Integer(), name: Type.String(), condition: shownCondition });
export type NamedSegment = Static<typeof named>;

/** How an answer came about. */
export type Origin = {
  sql: string;
  saved_segments?: NamedSegment[];
  received_until: string;
  took_ms: number;
};
const origin = {
  saved_segments: Type.Optional(
    Type.Array(named, { description: "The saved segments that the question names, as they were used" }),
  ),
  sql: Type.String({ description: "The statement that was asked, for the views of docs/LAKE.md" }),
  received_until: Type.String({ description: "Everything received before this instant is counted" }),
  took_ms: Type.Integer({ description: "Milliseconds that the answer took" }),
};

/** The types of questions and answers are those of their own schemas; see report/analysis/questions.ts. */
const untyped = (schema: TSchema) => Type.Unsafe<object>(schema);

export const askedBody = (question: TSchema) => Type.Object({ app_id: appId, question: untyped(question) });

export const askedAnswer = (answer: TSchema) => envelopeSchema(Type.Object({ answer: untyped(answer), ...origin }));

export const usersBehindBody = (question: TSchema, cell: TSchema) =>
  Type.Object({ app_id: appId, question: untyped(question), cell: untyped(cell) });

export const usersBehindAnswer = envelopeSchema(Type.Object({ ...usersBehind.properties, ...origin }));

export const sqlBody = Type.Object({
  app_id: appId,
  statement: Type.String({
    minLength: 1,
    maxLength: 20_000,
    description: "One query in the SQL of DuckDB over the views `events`, `users`, `orders` and `costs`",
  }),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LIMITS.questionRows,
      description: `Most rows; default and at most ${LIMITS.questionRows}`,
    }),
  ),
});

const { sql: _sql, saved_segments: _segments, ...fresh } = origin;

const sqlRows = Type.Object({
  columns: Type.Array(Type.String()),
  rows: Type.Array(Type.Array(Type.Unknown()), { description: "Large integers and decimals are texts" }),
  is_cut: Type.Boolean({ description: "Whether there are more rows" }),
  ...fresh,
});
export type SqlRows = Static<typeof sqlRows>;
export const sqlAnswer = envelopeSchema(sqlRows);

/** Whether questions can be asked. */
export const LAKE_STATES = ["none", "preparing", "ready"] as const;

const lakeState = Type.Object({
  lake: choice(
    LAKE_STATES,
    "`none`: this server has no lake; `preparing`: the app's first files are being written; `ready`",
  ),
});
export type LakeState = Static<typeof lakeState>;
export const lakeStateAnswer = envelopeSchema(lakeState);
