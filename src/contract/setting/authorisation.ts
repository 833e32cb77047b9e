import { type Static, Type } from "typebox";
import { LIMITS } from "../../limits.ts";
import { envelopeSchema } from "../envelope.ts";
import { choice, table } from "../fields.ts";
import { accountList } from "./account.ts";

export const authoriseBody = Type.Object({
  app_id: Type.Integer({ description: "Application id", minimum: 1 }),
  ad_platform: Type.String({ description: "Ad platform", minLength: 1, maxLength: 40 }),
  advertiser_id: Type.Optional(
    Type.String({ description: "Use the developer application of this account", maxLength: 128 }),
  ),
  settings: Type.Optional(table("The developer application's id, and other non-secret fields")),
  secrets: Type.Optional(table("The developer application's secret")),
  base_url: Type.Optional(
    Type.String({
      description: "Address of the console, to which the platform sends people back; default: the caller's origin",
      maxLength: LIMITS.addressLength,
    }),
  ),
});

export const authoriseReturnBody = Type.Object({
  returned: table("The parameters with which the platform has sent the person back, `state` among them"),
});

export const authoriseChooseBody = Type.Object({
  authorisation_id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  advertiser_ids: Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
    minItems: 1,
    maxItems: LIMITS.accountsPerApp,
    description: "The chosen ones of the accounts that were listed",
  }),
  costs: Type.Optional(
    choice(["on", "off"], "Whether costs are pulled with them; default: on for new accounts, others as they are"),
  ),
});

const platform = Type.Object({
  ad_platform: Type.String(),
  fields: Type.Array(Type.String(), { description: "Fields of the developer application that are needed" }),
});

const form = Type.Object({
  platforms: Type.Array(platform),
  redirect_path: Type.String({ description: "The path at the console's address to which platforms send people back" }),
});
export type AuthoriseForm = Static<typeof form>;

const begun = Type.Object({
  url: Type.String({ description: "The platform's page, to be opened in this browser" }),
  redirect_url: Type.String({ description: "The address that the platform must know as the application's redirect" }),
});
export type BegunAuthorisation = Static<typeof begun>;

const seen = Type.Object({
  advertiser_id: Type.String(),
  name: Type.String({ description: "Empty when the platform does not tell it" }),
  is_known: Type.Boolean({ description: "Whether the app already has this account" }),
});
export type SeenAccount = Static<typeof seen>;

const returned = Type.Object({
  authorisation_id: Type.Integer(),
  app_id: Type.Integer(),
  ad_platform: Type.String(),
  accounts: Type.Array(seen, { description: "What the authorisation may see" }),
  left_out: Type.Integer({ description: "Entries that are no accounts of advertisers, or no longer authorised" }),
  trouble: Type.String({ description: "Why the list may be incomplete; empty when it is whole" }),
});
export type ReturnedAuthorisation = Static<typeof returned>;

export const authoriseFormAnswer = envelopeSchema(form);
export const begunAnswer = envelopeSchema(begun);
export const returnedAnswer = envelopeSchema(returned);
export const chosenAnswer = envelopeSchema(accountList);
