import { md5 } from "../user/identity.ts";

/** Account, plan, ad and creative as every report names them, and the placement. Empty when not known. */
export type AdIds = { advertiserId: string; gid: string; aid: string; cid: string; csite: string };

export const NO_AD_IDS: AdIds = { advertiserId: "", gid: "", aid: "", cid: "", csite: "" };

export const TOUCH_KINDS = ["click", "impression"] as const;
export type TouchKind = (typeof TOUCH_KINDS)[number];

/** A click or an impression, as an ad platform reported it through a monitoring link. */
export type Touch = AdIds & {
  touchId: string;
  kind: TouchKind;
  platform: string;
  touchedAtMs: number;
  receivedAtMs: number;
  /** The campaign whose link was called: `turbo_promoted_object_id`. */
  campaignId: string;
  channel: string;
  ip: string;
  /** The link's other parameters under their own names: callback, click_id, names, materials … */
  details: Readonly<Record<string, string>>;
};

/**
 * The id of a touch, 32 hexadecimal digits. It comes from the content and not from the arrival: the same touch reported
 * twice has one id, and the order of two ids does not depend on which came first.
 */
export function touchIdOf(touch: { platform: string; kind: TouchKind; identity: string }): string {
  return md5(`${touch.platform}\n${touch.kind}\n${touch.identity}`);
}
