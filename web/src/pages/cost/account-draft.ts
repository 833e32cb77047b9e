import type { Account } from "../../../../src/contract/setting/account.ts";

type Values = Readonly<Record<string, string>>;

/** The typed fields of an account; fields that were not typed keep their values. */
export type Draft = {
  platform: string;
  advertiser: string;
  postbacks: boolean;
  costs: boolean;
  rate: string;
  settings: Values;
  secrets: Values;
};

export type FieldsProps = { draft: Draft; onChange: (changes: Partial<Draft>) => void };

export const NEW: Draft = {
  platform: "",
  advertiser: "",
  postbacks: true,
  costs: false,
  rate: "0",
  settings: {},
  secrets: {},
};

export function draftOf({ ad_platform, advertiser_id, postbacks, costs, rate, settings }: Account): Draft {
  return {
    platform: ad_platform,
    advertiser: advertiser_id,
    postbacks: postbacks === "on",
    costs: costs === "on",
    rate: String(rate),
    settings,
    secrets: {},
  };
}
