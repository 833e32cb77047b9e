import { type Static, Type } from "typebox";
import { TEST_DEVICE_FIELDS, TEST_NOTES, TEST_VERDICTS } from "../../domain/postback/postback-test.ts";
import { LIMITS } from "../../limits.ts";
import { envelopeSchema } from "../envelope.ts";
import { choice, clientId, table } from "../fields.ts";

const platform = Type.String({ description: "Ad platform", minLength: 1, maxLength: 40 });

export const postbackTestBody = Type.Object({
  app_id: Type.Integer({ description: "Application id", minimum: 1 }),
  ad_platform: platform,
  advertiser_id: Type.Optional(
    Type.String({
      description: "The account's advertiser; absent or empty: the platform's general account",
      maxLength: 128,
    }),
  ),
  event_type: Type.String({ description: "The conversion, as postback rules name it", minLength: 1, maxLength: 40 }),
  code: Type.Optional(
    Type.String({
      description: "The platform's own code, as a rule may name it; absent: the usual one",
      maxLength: 200,
    }),
  ),
  value_cents: Type.Optional(
    Type.Integer({ description: "Amount of the conversion", minimum: 0, maximum: LIMITS.tableInteger }),
  ),
  client_id: Type.Optional(clientId({ description: "A user of the platform, whose click and ids are sent" })),
  click: Type.Optional(
    table("Instead of client_id: the click's fields by the platform's own names, such as callback, click_id or bd_vid"),
  ),
  device: Type.Optional(table(`With click: ${TEST_DEVICE_FIELDS.join(", ")}`)),
  mark: Type.Optional(
    choice(
      ["on", "off"],
      "Whether the platform's mark of tests is sent, if it has one; default on. off: as a real one",
    ),
  ),
});

export const postbackTestQuery = Type.Object({
  ad_platform: platform,
  app_id: Type.Optional(
    Type.String({
      pattern: "^\\d{1,10}$",
      description: "Application id, for a platform whose connector the app has declared",
    }),
  ),
});

const mark = (description: string) => Type.String({ description });

const testForm = Type.Object({
  keys: Type.Unsafe<readonly string[]>({
    type: "array",
    items: { type: "string" },
    description: "What ties a conversion to a click, by the platform's own names; the usual one first",
  }),
  mark: mark("How the platform tells a test from a real conversion; empty: it does not"),
});
export type PostbackTestForm = Static<typeof testForm>;

const headers = Type.Unsafe<Readonly<Record<string, string>>>({
  type: "object",
  additionalProperties: { type: "string" },
});

const postbackTest = Type.Object({
  test_id: Type.String({
    description: "The id that the platform gets where it takes one; no real conversion has such an id",
  }),
  at: Type.String({ description: "When it was sent, in the app's zone" }),
  mark: mark("The mark that was sent; empty: none, so that the platform takes it for a real conversion"),
  request: Type.Object(
    { method: Type.String(), url: Type.String(), headers, body: Type.String() },
    { description: "As sent, with secrets and signatures masked" },
  ),
  answer: Type.Unsafe<{
    status: number;
    headers: Readonly<Record<string, string>>;
    body: string;
    is_cut: boolean;
  } | null>({
    type: ["object", "null"],
    properties: {
      status: { type: "integer" },
      headers: {
        type: "object",
        additionalProperties: { type: "string" },
        description: "Those that help to find the call",
      },
      body: { type: "string" },
      is_cut: { type: "boolean", description: "Whether only the beginning of the body is shown" },
    },
    description: "As received; null: none came",
  }),
  verdict: choice(
    TEST_VERDICTS,
    "What a real postback would have come to: `accepted`, `refused` for good, `retry` later, `no_answer`, or `not_sent`",
  ),
  reason: Type.String({ description: "The connector's reading of the answer; empty when it was accepted" }),
  notes: Type.Array(
    choice(
      TEST_NOTES,
      "`new_token`: the second call, after the first one's token was refused; `other_account`: real postbacks of this " +
        "user go through another account",
    ),
  ),
});
export type PostbackTest = Static<typeof postbackTest>;
export type { TestNote, TestVerdict } from "../../domain/postback/postback-test.ts";

export const postbackTestFormAnswer = envelopeSchema(testForm);
export const postbackTestAnswer = envelopeSchema(postbackTest);
