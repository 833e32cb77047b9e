import type { AdIds } from "../domain/attribution/touch.ts";
import type { Field } from "../domain/attribution/touch-key.ts";
import { isObject, type JsonObject } from "../domain/json.ts";
import { cleanValue } from "../domain/user/identity.ts";
import type { OperatingSystem } from "../domain/user/operating-system.ts";

/**
 * A parameter of a monitoring link, and the macro that the platform replaces with its value. A macro without a mark is
 * certain: it is in the platform's documents, or several callers use it.
 */
export type LinkField = readonly [parameter: string, macro: string, mark?: "likely"];

/** Macros that are known from one caller only. */
export function likely(fields: readonly (readonly [parameter: string, macro: string])[]): LinkField[] {
  return fields.map(([parameter, macro]) => [parameter, macro, "likely"]);
}

/** A field of the platform's own ad_data, and the link parameter with the same value. */
export type AdDataField = readonly [field: string, parameter: string];

/** How a platform signs its link calls. Once an app has the secret, calls without a valid signature are refused. */
export type LinkSignature = {
  /** The name of the secret among the app's secrets for the platform. */
  secret: string;
  /** `address` is the whole address as called, with scheme and host. */
  isValid(address: string, secret: string): boolean;
};

/** Everything specific to one ad platform. Pure: it describes and translates, and makes no calls. */
export type Platform = {
  /** The value of `click_company` and `ad_platform`, and the key in attributed ad_data. */
  name: string;
  /** Our names for keys of a launch query, with the spellings in use; the first spelling with a value counts. */
  launchNames: Readonly<Record<string, readonly string[]>>;
  /** Reads the ids from a launch query or the attributed form. */
  readIds(field: Field): AdIds;
  /** The name and fields of this platform's object in a user lookup record. */
  record: { name: string; fields: readonly string[] };
  /** The click link, or undefined when the platform calls none. */
  click: readonly LinkField[] | undefined;
  /** The link parameters of one item, where the platform also posts touches as a JSON list in names of its own. */
  listItem: ((field: Field) => Readonly<Record<string, string>>) | undefined;
  /** How the impression link differs from the click link, or undefined when the platform has none. */
  impression: readonly LinkField[] | undefined;
  /** The numbers by which the platform names operating systems; others write names. */
  systems: ReadonlyMap<string, OperatingSystem>;
  /** How a touch translates to the platform's own ad_data. */
  adData: readonly AdDataField[];
  /** The ids of a touch, from the link's parameters. */
  touchIds(field: Field): AdIds;
  /** Texts that identify the click: those in a touch, and those in a registration's launch query. */
  touchClickIds(field: Field): readonly string[];
  launchClickIds(field: Field): readonly string[];
  /** Fields that the platform's server reads as success. */
  reply: JsonObject;
  /** Undefined when the platform does not sign. */
  signature: LinkSignature | undefined;
};

/** What most platforms have in common; each platform's file overrides what differs. */
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
  listItem: undefined,
  impression: [],
  systems: new Map([
    ["0", "android"],
    ["1", "ios"],
  ]),
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

/** A launch query with our names added to the names that it came with. */
export function inOwnWords({ launchNames }: Pick<Platform, "launchNames">, query: JsonObject): JsonObject {
  const field = fieldsOf(query);
  const named = Object.entries(launchNames).flatMap(([name, spellings]) => {
    const spelling = spellings.find((one) => field(one) !== "");
    return spelling === undefined ? [] : [[name, field(spelling)]];
  });
  return { ...query, ...Object.fromEntries(named) };
}

/** The launch query in ad_data, which is flat or nested under the platform's name. */
export function adDataOf(adData: JsonObject, platform: string): JsonObject {
  const nested = adData[platform];
  return isObject(nested) ? nested : adData;
}
