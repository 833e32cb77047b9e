import type { CostRow } from "../../sim/platforms/costs.ts";

/** Two ads of one plan and one of another, on two days. */
export function someCosts(account: string): CostRow[] {
  const row = (day: string, planId: string, adId: string, cents: number): CostRow => ({
    day,
    account,
    planId,
    planName: `Plan ${planId}`,
    adId,
    adName: `Ad ${adId}`,
    impressions: cents * 10,
    clicks: cents,
    cents,
  });
  return [
    row("2025-10-01", "7100000000000000001", "7200000000000000001", 1234),
    row("2025-10-01", "7100000000000000001", "7200000000000000002", 50),
    row("2025-10-01", "7100000000000000002", "7200000000000000003", 7),
    row("2025-10-02", "7100000000000000001", "7200000000000000001", 99),
    row("2025-10-02", "7100000000000000002", "7200000000000000003", 1),
  ];
}

export const DAYS = { firstDay: "2025-10-01", lastDay: "2025-10-02" };
