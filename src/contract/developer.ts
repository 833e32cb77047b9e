import { Type } from "typebox";
import { TABLE_INTEGER_MAX } from "./fields.ts";

const short = (description: string) => Type.String({ description, maxLength: 200 });

export const developerBody = Type.Object({
  name: Type.String({ description: "What people call it", minLength: 1, maxLength: 200 }),
  purpose: Type.Optional(short("What it is for")),
  apps: Type.Unsafe<"all" | number[]>({
    anyOf: [
      { type: "array", items: { type: "integer", minimum: 1 }, minItems: 1, maxItems: 1_000 },
      { type: "string", enum: ["all"] },
    ],
    description: "`all`, or a list of application ids",
  }),
  rate_calls: Type.Optional(Type.Integer({ minimum: 1, maximum: 999_999, description: "Calls per window; default 1" })),
  rate_window_s: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 999_999, description: "Length of the window; default 600" }),
  ),
});

export const developerDecisionBody = Type.Object({
  id: Type.Integer({ description: "Id of the developer application", minimum: 1, maximum: TABLE_INTEGER_MAX }),
  state: Type.Unsafe<string>({ type: "string", enum: ["approved", "refused", "disabled"] }),
  reason: Type.Optional(short("Why")),
});
