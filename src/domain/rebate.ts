import { type GivenPeriod, overlapIn, type Period, periodText, readPeriod, shownPeriod } from "./period.ts";

/**
 * What an account gets back of what its ads cost. With 10 % in cash, an ad for 100 was really paid with 90; with 10 % in
 * credit, 100 that were paid in bought ads for 110.
 */
export type Rebate = Period & {
  adPlatform: string;
  advertiserId: string;
  /** In ten-thousandths. */
  cashBp: number;
  creditBp: number;
};

/** A rebate as people write and read it. */
export type GivenRebate = GivenPeriod & {
  ad_platform: string;
  advertiser_id: string;
  cash_percent: number;
  credit_percent: number;
};

/** Shares. With 100 % in cash, ads would cost nothing, and no ROI could be told. */
const CASH_BP_MAX = 9_999;
const CREDIT_BP_MAX = 10_000;

/** Throws what is wrong with it. */
export function readRebate({ ad_platform, advertiser_id, start_date, end_date, ...percent }: GivenRebate): Rebate {
  if (ad_platform === "") throw new Error("ad_platform is empty");
  const period = readPeriod({ start_date, end_date });
  return {
    adPlatform: ad_platform,
    advertiserId: advertiser_id,
    ...period,
    cashBp: shareOf("cash_percent", percent.cash_percent, CASH_BP_MAX),
    creditBp: shareOf("credit_percent", percent.credit_percent, CREDIT_BP_MAX),
  };
}

function shareOf(name: string, percent: number, bpMax: number): number {
  const bp = Math.round(percent * 100);
  const isExact = Math.abs(bp - percent * 100) < 1e-6;
  if (isExact && bp >= 0 && bp <= bpMax) return bp;
  throw new Error(`${name} must be between 0 and ${bpMax / 100}, with at most 2 decimals`);
}

export function shownRebate({ adPlatform, advertiserId, fromDay, untilDay, cashBp, creditBp }: Rebate): GivenRebate {
  return {
    ad_platform: adPlatform,
    advertiser_id: advertiserId,
    ...shownPeriod({ fromDay, untilDay }),
    cash_percent: cashBp / 100,
    credit_percent: creditBp / 100,
  };
}

/** Two rebates of one account that hold on the same day, or undefined. */
export function overlapOf<One extends Rebate>(rebates: readonly One[]): [One, One] | undefined {
  return overlapIn(rebates, ({ adPlatform, advertiserId }) => JSON.stringify([adPlatform, advertiserId]));
}

export function overlapText([one, other]: readonly [Rebate, Rebate]): string {
  const account = `${one.adPlatform} ${one.advertiserId}`.trimEnd();
  return `the rebates of ${account} overlap: ${periodText(one)} and ${periodText(other)}`;
}
