import { type Static, Type } from "typebox";
import { CALLBACK_KINDS, type CallbackKind } from "../../domain/postback/callback.ts";
import { REFRESH_STATES, type RefreshState } from "../../domain/refresh-state.ts";
import { LIMITS } from "../../limits.ts";
import { envelopeSchema } from "../envelope.ts";
import { choice, table } from "../fields.ts";

const appId = Type.Integer({ description: "Application id", minimum: 1 });
const appIdText = Type.String({
  pattern: "^\\d{1,10}$",
  description: "Application id, for a platform whose connector the app has declared",
});
const platform = Type.String({ description: "Ad platform", minLength: 1, maxLength: 40 });
const advertiserId = Type.Optional(
  Type.String({
    description: "The advertiser; absent or empty: every advertiser without an account of its own",
    maxLength: 128,
  }),
);
const values = (description: string) => Type.Optional(table(description));

export const accountFieldsQuery = Type.Object({ ad_platform: platform, app_id: Type.Optional(appIdText) });

export const accountSetBody = Type.Object({
  app_id: appId,
  ad_platform: platform,
  advertiser_id: advertiserId,
  settings: values("Values of non-secret fields by name; an empty text removes one"),
  secrets: values("Values of secret fields by name; encrypted at rest and never shown"),
  postbacks: Type.Optional(choice(["on", "off"], "Whether postbacks are sent with it; on for a new account")),
  costs: Type.Optional(choice(["on", "off"], "Whether costs are pulled with it; off for a new account")),
  rate: Type.Optional(
    Type.Integer({ minimum: 0, maximum: LIMITS.tableInteger, description: "Most calls per second; 0: no limit" }),
  ),
});

export const accountRemoveBody = Type.Object({ app_id: appId, ad_platform: platform, advertiser_id: advertiserId });

const kind = choice(CALLBACK_KINDS, "What the callback reports");

export const callbackSetBody = Type.Object({
  app_id: appId,
  kind,
  url: Type.String({
    description: "Address; for `attribution` it may contain macros such as `__CLIENT_ID__`",
    minLength: 1,
    maxLength: LIMITS.addressLength,
  }),
  events: Type.Optional(
    Type.Array(Type.String({ maxLength: 50 }), {
      maxItems: LIMITS.callbackEvents,
      description: "For `event`: the events to report",
    }),
  ),
  secret: Type.Optional(
    Type.String({ description: "For `event`: signs the POST; absent: one is generated and returned once" }),
  ),
});

export const callbackRemoveBody = Type.Object({ app_id: appId, kind });

const onOff = Type.Unsafe<"on" | "off">({ type: "string", enum: ["on", "off"] });

const account = Type.Object({
  ad_platform: Type.String(),
  advertiser_id: Type.String({ description: "Empty: every advertiser without an account of its own" }),
  postbacks: onOff,
  costs: onOff,
  rate: Type.Integer({ description: "Most calls per second; 0: no limit" }),
  settings: Type.Unsafe<Readonly<Record<string, string>>>({ type: "object", additionalProperties: { type: "string" } }),
  secrets: Type.Array(Type.String(), { description: "Names of the secrets that are set; never their values" }),
  token_expires_at: Type.String(),
  refresh_expires_at: Type.String({ description: "When the refresh token ends; empty when that is not known" }),
  refresh_state: Type.Unsafe<RefreshState>({
    type: "string",
    enum: [...REFRESH_STATES],
    description: "`ends_soon`: within a week; somebody has to authorise again, unless the account is used before",
  }),
  last_error: Type.String({ description: "The last error; empty once it works again" }),
  last_error_at: Type.String(),
});
export type Account = Static<typeof account>;

export const accountList = Type.Object({ accounts: Type.Array(account) });
export type AccountList = Static<typeof accountList>;

const accountField = Type.Object({
  name: Type.String(),
  secret: Type.Boolean({ description: "Encrypted at rest, never shown" }),
  fallback: Type.String({ description: "Value used when nothing is set" }),
  for: Type.String({ description: "`postbacks`, `costs` or both" }),
  hint: Type.String(),
});
export type AccountField = Static<typeof accountField>;

const accountFields = Type.Object({ fields: Type.Array(accountField) });
export type AccountFields = Static<typeof accountFields>;

const givenUp = Type.Object({
  given_up: Type.Integer({ description: "Number of waiting postbacks that were marked as failed" }),
});
export type GivenUp = Static<typeof givenUp>;

const callback = {
  kind: Type.Unsafe<CallbackKind>({ type: "string", enum: [...CALLBACK_KINDS] }),
  url: Type.String(),
  events: Type.Unsafe<readonly string[]>({ type: "array", items: { type: "string" } }),
};

const madeCallback = Type.Object({
  ...callback,
  secret: Type.Optional(Type.String({ description: "The generated secret, shown in this answer only" })),
});
export type MadeCallback = Static<typeof madeCallback>;

const callbackList = Type.Object({
  callbacks: Type.Array(Type.Object(callback)),
  macros: Type.Unsafe<readonly string[]>({
    type: "array",
    items: { type: "string" },
    description: "Macros that the address for `attribution` may contain",
  }),
});
export type CallbackList = Static<typeof callbackList>;

export const accountAnswer = envelopeSchema(account);
export const accountListAnswer = envelopeSchema(accountList);
export const accountFieldsAnswer = envelopeSchema(accountFields);
export const givenUpAnswer = envelopeSchema(givenUp);
export const madeCallbackAnswer = envelopeSchema(madeCallback);
export const callbackListAnswer = envelopeSchema(callbackList);
