import { type Static, Type } from "typebox";
import { APP_SECRETS, type AppSecret } from "../../domain/access/app-secret.ts";
import { METADATA_MODES, type MetadataMode } from "../../domain/event/metadata.ts";
import { CURRENCY } from "../../domain/money.ts";
import { REFUND_DAYS } from "../../domain/refund.ts";
import { choice, givenName, table } from "../fields.ts";

const appId = Type.Integer({ description: "Application id", minimum: 1 });
const timeZone = Type.String({ description: "Time zone of the app's days, such as `Asia/Shanghai`", maxLength: 64 });
const currency = Type.String({ description: "Currency of the app's amounts, such as `CNY`", pattern: CURRENCY.source });
const refundsOn = choice(REFUND_DAYS, "The day on which a refund lowers revenue: its order's, or its own");
const metadata = choice<MetadataMode>(METADATA_MODES, "`open` accepts undeclared events, `strict` does not");

export const appCreateBody = Type.Object({
  name: givenName,
  time_zone: Type.Optional(timeZone),
  currency: Type.Optional(currency),
  metadata: Type.Optional(metadata),
});
export type AppCreateBody = Static<typeof appCreateBody>;

export const appEditBody = Type.Object({
  app_id: appId,
  name: Type.Optional(givenName),
  time_zone: Type.Optional(timeZone),
  currency: Type.Optional(currency),
  rates: Type.Optional(
    table("By currency, the value of one unit in the app's own, such as `7.12`; an empty text removes one"),
  ),
  metadata: Type.Optional(metadata),
  require_registration: Type.Optional(Type.Boolean({ description: "Refuse events of clients that never registered" })),
  enabled: Type.Optional(Type.Boolean({ description: "false refuses every request with its token" })),
  pay_share: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description:
        "The app's share of a payment after the platform's fee where no share rule fits, up to 4 decimals; for `roi_version` 2",
    }),
  ),
  refunds_on: Type.Optional(refundsOn),
});
export type AppEditBody = Static<typeof appEditBody>;

export const appBody = Type.Object({ app_id: appId });

const which = choice<AppSecret>(APP_SECRETS, "Which secret of the app");

export const appRotateBody = Type.Object({ app_id: appId, which });
export type AppRotateBody = Static<typeof appRotateBody>;

/** An app as shown to everybody who is signed in. */
export const shownApp = Type.Object({
  app_id: appId,
  name: Type.String(),
  access_token: Type.String({ description: "Names the app on every collection call of its clients" }),
  time_zone: Type.String(),
  currency: Type.String(),
  rates: table("By currency, the value of one unit in the app's own"),
  metadata,
  require_registration: Type.Boolean(),
  enabled: Type.Boolean(),
  pay_share: Type.Number(),
  refunds_on: refundsOn,
  created_at_ms: Type.Integer({ description: "When it was created, ms" }),
});
export type ShownApp = Static<typeof shownApp>;

export const appsAnswer = Type.Object({ apps: Type.Array(shownApp) });
export type AppsAnswer = Static<typeof appsAnswer>;

export const appKeys = Type.Object({
  app_id: appId,
  app_key: Type.String({ description: "Signs media tokens, opens the live stream" }),
  aes_key: Type.String({ description: "Encrypts device data, base64" }),
});
export type AppKeys = Static<typeof appKeys>;

export const rotatedSecret = Type.Object({
  app_id: appId,
  which,
  value: Type.String({ description: "The new secret" }),
});
export type RotatedSecret = Static<typeof rotatedSecret>;

const step = (description: string) =>
  Type.Object(
    {
      done: Type.Boolean(),
      at_ms: Type.Unsafe<number | null>({ type: ["integer", "null"], description: "When it was first done" }),
    },
    { description },
  );

/** The steps of setting up a new app. */
export const checklist = Type.Object({
  request: step("First call received, to the minute unless it was a registration"),
  registration: step("First user"),
  event: step("First stored event, to the minute"),
  order: step("First payment"),
  touch: step("First stored click or impression, to the minute"),
  cost: step("First cost of ads: when the cost of the earliest day was written"),
  postback: step("First postback that a platform accepted"),
});
export type Checklist = Static<typeof checklist>;
export type Step = keyof Checklist;
