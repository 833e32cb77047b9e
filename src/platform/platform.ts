import { cleanValue } from "../domain/identity.ts";
import { isObject, type JsonObject } from "../domain/json.ts";

/** Account, plan, ad and creative as every report names them, and the placement. Empty text: not known. */
export type AdIds = { advertiserId: string; gid: string; aid: string; cid: string; csite: string };

export const NO_AD_IDS: AdIds = { advertiserId: "", gid: "", aid: "", cid: "", csite: "" };

export type Platform = {
  /** The value of `click_company`, `ad_platform` and of the key in attributed ad_data. */
  name: string;
  /** Keys of a launch query that name this platform for certain. */
  launchKeys: readonly string[];
  /** Reads the ids from a launch query or from the attributed form; `field` gives "" for what is missing. */
  readIds(field: (name: string) => string): AdIds;
  /** Fields of this platform's own object in a user lookup record, and its name there. */
  record: { name: string; fields: readonly string[] };
};

export function fieldsOf(adData: JsonObject): (name: string) => string {
  return (name) => cleanValue(adData[name]);
}

/** ad_data is the flat launch query; nested under the platform's name is taken too. */
export function adDataOf(adData: JsonObject, platform: string): JsonObject {
  const nested = adData[platform];
  return isObject(nested) ? nested : adData;
}
