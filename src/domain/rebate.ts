import { addDays, isDay } from "./calendar.ts";

/**
 * What an account gets back of what its ads cost. With 10 % in cash, an ad for 100 was really paid with 90; with 10 % in
 * credit, 100 that were paid in bought ads for 110.
 */
export type Rebate = {
  adPlatform: string;
  advertiserId: string;
  fromDay: string;
  /** The first day after the period; null: the period has no end. */
  untilDay: string | null;
  /** In ten-thousandths. */
  cashBp: number;
  creditBp: number;
};

/** A rebate as people write and read it. */
export type GivenRebate = {
  ad_platform: string;
  advertiser_id: string;
  start_date: string;
  /** The last day, included; the empty text: the period has no end. */
  end_date: string;
  cash_percent: number;
  credit_percent: number;
};

/** Shares. With 100 % in cash, ads would cost nothing, and no ROI could be told. */
const CASH_BP_MAX = 9_999;
const CREDIT_BP_MAX = 10_000;

/** Throws what is wrong with it. */
export function readRebate({ ad_platform, advertiser_id, start_date, end_date, ...percent }: GivenRebate): Rebate {
  if (ad_platform === "") throw new Error("ad_platform is empty");
  if (!isDay(start_date)) throw new Error("start_date must look like 2026-11-15");
  if (end_date !== "" && !isDay(end_date)) throw new Error("end_date must look like 2026-11-15 or be empty");
  if (end_date !== "" && end_date < start_date) throw new Error("end_date lies before start_date");
  return {
    adPlatform: ad_platform,
    advertiserId: advertiser_id,
    fromDay: start_date,
    untilDay: end_date === "" ? null : addDays(end_date, 1),
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
    start_date: fromDay,
    end_date: untilDay === null ? "" : addDays(untilDay, -1),
    cash_percent: cashBp / 100,
    credit_percent: creditBp / 100,
  };
}

/** Two rebates of one account that hold on the same day, or undefined. */
export function overlapOf<One extends Rebate>(rebates: readonly One[]): [One, One] | undefined {
  const last = new Map<string, One>();
  for (const rebate of rebates.toSorted((left, right) => (left.fromDay < right.fromDay ? -1 : 1))) {
    const account = JSON.stringify([rebate.adPlatform, rebate.advertiserId]);
    const before = last.get(account);
    if (before && (before.untilDay === null || before.untilDay > rebate.fromDay)) return [before, rebate];
    last.set(account, rebate);
  }
  return undefined;
}

export function overlapText([one, other]: readonly [Rebate, Rebate]): string {
  const account = `${one.adPlatform} ${one.advertiserId}`.trimEnd();
  return `the rebates of ${account} overlap: ${periodText(one)} and ${periodText(other)}`;
}

function periodText(rebate: Rebate): string {
  const { start_date, end_date } = shownRebate(rebate);
  return end_date === "" ? `from ${start_date} on` : `${start_date} to ${end_date}`;
}
