import { Type } from "typebox";
import { LIMITS } from "../config.ts";
import { CALLBACK_KINDS } from "../domain/callback.ts";
import { choice, TABLE_INTEGER_MAX, table } from "./fields.ts";

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
  ...{ app_id: appId, ad_platform: platform, advertiser_id: advertiserId },
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
  ...{ app_id: appId, kind },
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
