/** A market as the oracle is told of it: lists of what happened. */
export type Happening =
  | { kind: "active"; atMs: number }
  | { kind: "register"; atMs: number }
  | { kind: "pay"; atMs: number; cents: number; orderId: string; method?: string; isVirtual?: boolean }
  /** Without micros, the client does not know what the ad earned. */
  | { kind: "ad"; atMs: number; micros: number; unit?: string }
  /** Null: all that is left of the order. */
  | { kind: "refund"; atMs: number; orderId: string; cents: number | null; refundId: string };

export type Person = {
  clientId: string;
  /** Empty if the person has told none. */
  openId: string;
  registeredAtMs: number;
  touchedAtMs: number | null;
  isHistory: boolean;
  ad_platform: string;
  advertiser_id: string;
  gid: string;
  aid: string;
  creative: string;
  csite: string;
  channel: string;
  os_platform: string;
  turbo_promoted_object_id: string;
  version: number;
  happenings: Happening[];
  /** Counts nowhere in the end; the campaign that the ad was seen with stays. */
  isErased?: boolean;
};

export type CostRow = {
  day: string;
  ad_platform: string;
  advertiser_id: string;
  gid: string;
  aid: string;
  creative: string;
  csite: string;
  channel: string;
  os_platform: string;
  turbo_promoted_object_id: string;
  impressions: number;
  clicks: number;
  costE4: number;
};

/** The part of an ad's cost that fell into an hour. */
export type HourRow = Pick<CostRow, "day" | "ad_platform" | "advertiser_id" | "gid" | "aid"> & {
  hour: string;
  impressions: number;
  clicks: number;
  costE4: number;
};

export type Campaign = { id: string; channel: string; os_platform: string; operator: string; dept: string };
export type Account = { ad_platform: string; advertiser_id: string; operator: string; dept: string };

/** Days include both ends. */
export type Rebate = {
  ad_platform: string;
  advertiser_id: string;
  fromDay: string;
  toDay: string;
  cashBp: number;
  creditBp: number;
};

/** What one shown ad of a unit is estimated to earn. Days include both ends. */
export type Ecpm = { unit: string; fromDay: string; toDay: string; viewMicros: number };

/** What the platform says a unit earned on a day. */
export type PulledRevenue = { unit: string; day: string; micros: number };

/** What the platform says that a player's ads earned on a day. */
export type PlayerRevenue = { openId: string; day: string; micros: number };

/** An empty text or null fits every payment. Days include both ends. */
export type ShareRule = {
  os_platform: string;
  channel: string;
  method: string;
  isVirtual: boolean | null;
  fromDay: string;
  toDay: string;
  shareBp: number;
};

export type Market = {
  timeZone: string;
  payShareBp: number;
  /** The first one that fits a payment counts, else `payShareBp`. */
  shareRules: ShareRule[];
  people: Person[];
  costs: CostRow[];
  hours: HourRow[];
  campaigns: Campaign[];
  accounts: Account[];
  rebates: Rebate[];
  ecpms: Ecpm[];
  pulledRevenue: PulledRevenue[];
  playerRevenue: PlayerRevenue[];
  /** The day on which a refund lowers revenue: its order's, or its own. */
  refundsOn: "order" | "refund";
};

export type Asked = {
  fromDay: string;
  toDay: string;
  dims: string[];
  caliber: "user_activated_time" | "behavior_occurred_time";
  roiVersion: 1 | 2;
  decimals: number;
  /** By dimension, the values that a user or a cost may have; an empty list means any. */
  lists: Record<string, string[]>;
  versions: number[];
};
