import { Type } from "typebox";
import { CODES, type CodeName } from "../errors.ts";

/** The form of every answer. */
export type Envelope = { code: number; msg: string; data: object; extra: object };

export const SUCCESS_TEXT = "success";

/** The answer to most calls, serialized once. */
export const EMPTY_SUCCESS = JSON.stringify({
  code: CODES.ok.code,
  msg: SUCCESS_TEXT,
  data: {},
  extra: {},
} satisfies Envelope);

export function success(data: object, extra: object = {}): Envelope {
  return { code: CODES.ok.code, msg: SUCCESS_TEXT, data, extra };
}

export function refusal(reason: CodeName, message: string): Envelope {
  return { code: CODES[reason].code, msg: message, data: {}, extra: { error: message } };
}

export type EnvelopeSchema<Data extends Type.TSchema> = Type.TObject<{
  code: Type.TInteger;
  msg: Type.TString;
  data: Data;
  extra: Type.TSchema;
}>;

export function envelopeSchema<Data extends Type.TSchema>(
  data: Data,
  extra: Type.TSchema = Type.Object({}),
): EnvelopeSchema<Data> {
  return Type.Object(
    {
      code: Type.Integer({ description: "0 means success" }),
      msg: Type.String({ description: "`success`, or one sentence that says what is wrong and where" }),
      data,
      extra,
    },
    { description: "The envelope of every answer" },
  );
}

export const emptyData = Type.Object({}, { description: "Empty" });
