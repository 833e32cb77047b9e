import type { AdIds } from "../domain/attribution/touch.ts";
import type { Field } from "../domain/attribution/touch-key.ts";
import { isObject, type JsonObject } from "../domain/json.ts";
import { cleanValue } from "../domain/user/identity.ts";

/** A parameter of a monitoring link, and the macro that the platform replaces with its value. */
export type LinkField = readonly [parameter: string, macro: string];

/** A field of the platform's own ad_data, and the link parameter that carries the same. */
export type AdDataField = readonly [field: string, parameter: string];

/** How a platform signs its link calls. Whoever has set the secret for an app takes no call that is not signed with it. */
export type LinkSignature = {
  /** The name of the secret, among those that an app keeps for the platform. */
  secret: string;
  /** `address` is the whole one as it was called, with scheme and host. */
  isValid(address: string, secret: string): boolean;
};

/** Everything that is particular to one ad platform. Pure: it describes and translates, it calls nobody. */
export type Platform = {
  /** The value of `click_company`, `ad_platform` and of the key in attributed ad_data. */
  name: string;
  /** Our names for what a launch query spells in other ways; the first spelling that has a value counts. */
  launchNames: Readonly<Record<string, readonly string[]>>;
  /** Reads the ids from a launch query or from the attributed form. */
  readIds(field: Field): AdIds;
  /** Fields of this platform's own object in a user lookup record, and its name there. */
  record: { name: string; fields: readonly string[] };
  /** The click link; undefined: the platform calls none. */
  click: readonly LinkField[] | undefined;
  /** Where the impression link differs from the click link; undefined: the platform has no such link. */
  impression: readonly LinkField[] | undefined;
  /** How a touch reads in the platform's own ad_data. */
  adData: readonly AdDataField[];
  /** The ids of a touch, from the link's parameters. */
  touchIds(field: Field): AdIds;
  /** Texts that name the click: those that a touch carries, and those that a registration brings along. */
  touchClickIds(field: Field): readonly string[];
  launchClickIds(field: Field): readonly string[];
  /** What the platform's server reads as "taken in". */
  reply: JsonObject;
  /** Undefined: the platform does not sign. */
  signature: LinkSignature | undefined;
};

/** What most platforms have in common; a platform's file says where it differs. */
export const PLAIN: Omit<Platform, "name" | "record"> = {
  launchNames: {},
  readIds: (field) => ({
    advertiserId: field("advertiser_id") || field("account_id"),
    gid: field("gid") || field("campaign_id"),
    aid: field("aid") || field("ad_id"),
    cid: field("cid") || field("creative_id"),
    csite: field("csite"),
  }),
  click: [],
  impression: [],
  adData: [
    ["advertiser_id", "advertiser_id"],
    ["gid", "gid"],
    ["aid", "aid"],
    ["cid", "cid"],
    ["csite", "csite"],
    ["callback", "callback"],
    ["click_id", "click_id"],
  ],
  touchIds: (field) => ({
    advertiserId: field("advertiser_id"),
    gid: field("gid"),
    aid: field("aid"),
    cid: field("cid"),
    csite: field("csite"),
  }),
  touchClickIds: (field) => [field("click_id"), field("callback")],
  launchClickIds: (field) => [field("click_id"), field("callback")],
  reply: {},
  signature: undefined,
};

export function fieldsOf(adData: JsonObject): Field {
  return (name) => cleanValue(adData[name]);
}

/** A launch query in the platform's own words, beside those that it came with. */
export function inOwnWords({ launchNames }: Pick<Platform, "launchNames">, query: JsonObject): JsonObject {
  const field = fieldsOf(query);
  const named = Object.entries(launchNames).flatMap(([name, spellings]) => {
    const spelling = spellings.find((one) => field(one) !== "");
    return spelling === undefined ? [] : [[name, field(spelling)]];
  });
  return { ...query, ...Object.fromEntries(named) };
}

/** ad_data is the flat launch query; nested under the platform's name is taken too. */
export function adDataOf(adData: JsonObject, platform: string): JsonObject {
  const nested = adData[platform];
  return isObject(nested) ? nested : adData;
}
