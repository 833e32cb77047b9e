import { type Static, Type } from "typebox";
import { CALLBACK_KINDS, type CallbackKind } from "../../domain/postback/callback.ts";
import { LIMITS } from "../../limits.ts";
import { envelopeSchema } from "../envelope.ts";
import { choice, TABLE_INTEGER_MAX, table } from "../fields.ts";

const appId = Type.Integer({ description: "Application id", minimum: 1 });
const platform = Type.String({ description: "Ad platform", minLength: 1, maxLength: 40 });
const advertiserId = Type.Optional(
  Type.String({
    description: "The advertiser; absent or empty: every advertiser that has no account of its own",
    maxLength: 128,
  }),
);
const values = (description: string) => Type.Optional(table(description));

export const accountFieldsQuery = Type.Object({ ad_platform: platform });

export const accountSetBody = Type.Object({
  app_id: appId,
  ad_platform: platform,
  advertiser_id: advertiserId,
  settings: values("Values by name, of fields that are no secrets; the empty text takes one away"),
  secrets: values("Values by name, of fields that are secrets; encrypted at rest and never shown"),
  postbacks: Type.Optional(choice(["on", "off"], "Whether postbacks are sent by it; on for a new account")),
  costs: Type.Optional(choice(["on", "off"], "Whether costs are pulled by it; off for a new account")),
  rate: Type.Optional(
    Type.Integer({ minimum: 0, maximum: TABLE_INTEGER_MAX, description: "Calls a second at most; 0: no limit" }),
  ),
});

export const accountRemoveBody = Type.Object({ app_id: appId, ad_platform: platform, advertiser_id: advertiserId });

const kind = choice(CALLBACK_KINDS, "What is told");

export const callbackSetBody = Type.Object({
  app_id: appId,
  kind,
  url: Type.String({
    description: "Where; that of attributions may hold macros such as `__CLIENT_ID__`",
    minLength: 1,
    maxLength: LIMITS.addressLength,
  }),
  events: Type.Optional(
    Type.Array(Type.String({ maxLength: 50 }), {
      maxItems: LIMITS.callbackEvents,
      description: "Of `event`: the events that are told",
    }),
  ),
  secret: Type.Optional(
    Type.String({ description: "Of `event`: signs what is posted; without it one is made and answered once" }),
  ),
});

export const callbackRemoveBody = Type.Object({ app_id: appId, kind });

const onOff = Type.Unsafe<"on" | "off">({ type: "string", enum: ["on", "off"] });

const account = Type.Object({
  ad_platform: Type.String(),
  advertiser_id: Type.String({ description: "Empty: every advertiser that has no account of its own" }),
  postbacks: onOff,
  costs: onOff,
  rate: Type.Integer({ description: "Calls a second at most; 0: no limit" }),
  settings: Type.Unsafe<Readonly<Record<string, string>>>({ type: "object", additionalProperties: { type: "string" } }),
  secrets: Type.Array(Type.String(), { description: "Names of those that are set; never their values" }),
  token_expires_at: Type.String(),
  last_error: Type.String({ description: "What went wrong last; empty once it works" }),
  last_error_at: Type.String(),
});
export type Account = Static<typeof account>;

const accountList = Type.Object({ accounts: Type.Array(account) });
export type AccountList = Static<typeof accountList>;

const accountField = Type.Object({
  name: Type.String(),
  secret: Type.Boolean({ description: "Encrypted at rest, never shown" }),
  fallback: Type.String({ description: "Holds where nothing is set" }),
  for: Type.String({ description: "`postbacks`, `costs` or both" }),
  hint: Type.String(),
});
export type AccountField = Static<typeof accountField>;

const accountFields = Type.Object({ fields: Type.Array(accountField) });
export type AccountFields = Static<typeof accountFields>;

const givenUp = Type.Object({
  given_up: Type.Integer({ description: "How many postbacks that waited were given up" }),
});
export type GivenUp = Static<typeof givenUp>;

const callback = {
  kind: Type.Unsafe<CallbackKind>({ type: "string", enum: [...CALLBACK_KINDS] }),
  url: Type.String(),
  events: Type.Unsafe<readonly string[]>({ type: "array", items: { type: "string" } }),
};

const madeCallback = Type.Object({
  ...callback,
  secret: Type.Optional(Type.String({ description: "Where one was made: in this answer and nowhere else" })),
});
export type MadeCallback = Static<typeof madeCallback>;

const callbackList = Type.Object({
  callbacks: Type.Array(Type.Object(callback)),
  macros: Type.Unsafe<readonly string[]>({
    type: "array",
    items: { type: "string" },
    description: "What the address of attributions may hold",
  }),
});
export type CallbackList = Static<typeof callbackList>;

export const accountAnswer = envelopeSchema(account);
export const accountListAnswer = envelopeSchema(accountList);
export const accountFieldsAnswer = envelopeSchema(accountFields);
export const givenUpAnswer = envelopeSchema(givenUp);
export const madeCallbackAnswer = envelopeSchema(madeCallback);
export const callbackListAnswer = envelopeSchema(callbackList);
