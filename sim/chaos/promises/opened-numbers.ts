import { addDays, calendarOf } from "../../../src/domain/calendar.ts";
import { COST_MEASURES, type Measure, type Sums } from "../../../src/domain/cube.ts";
import type { Explained } from "../../../src/report/ad/explain.ts";
import type { Audit } from "./audited.ts";

const METRICS = [
  ...["AppGamePayAmountStandard", "AppGamePayCntStandard", "AppActivateStandard", "AppAdRevenue", "AppROI", "AdCost"],
  ...["AppFirstDayROI", "AppGamePayUserCntStandard"],
] as const;
const CALIBERS = ["user_activated_time", "behavior_occurred_time"] as const;
const CELLS = 4;
/** Clients with a wrong clock, and people migrated from another system, have events in the past. */
const PAST_DAYS = 260;

type Row = Record<string, string | number>;

/** Promise 9: some numbers of the ad report add up when opened, and total payments match the truth. */
export async function openedNumbers(given: Audit): Promise<void> {
  const { site, findings, random } = given;
  const today = calendarOf(site.timeZone).dayOf(site.nowMs());
  const days: [string, string] = [addDays(today, -PAST_DAYS), addDays(today, 2)];
  for (let cell = 0; cell < CELLS; cell += 1) {
    const metric = random.pick(METRICS);
    const asked = {
      app_id: site.operator.app.appId,
      date_list: days,
      statistics_caliber: random.pick(CALIBERS),
      decimal_point: 4 as const,
      filtering: {},
      roi_version: random.whole(1, 2) as 1 | 2,
    };
    const report = await site.reports.adReport({ ...asked, metrics_list: [metric], dims_list: ["ad_platform"] });
    const row = report.items.length > 0 && random.chance(0.8) ? (random.pick(report.items) as Row) : undefined;
    const opened = await site.operator.post<Explained>("report/explain", {
      ...asked,
      metric,
      ...(row && { row: { ad_platform: String(row.ad_platform) } }),
    });
    const shown = row ? row[metric] : (report.total[0] as Row)[metric];
    const where = `${metric} of ${row ? String(row.ad_platform) : "all"} by ${asked.statistics_caliber}`;
    findings.equal(9, where, { is: opened.value, should: shown });
    findings.none(9, `sums behind ${where} differ`, unequalSums(opened));
  }
  await paymentsAgainstTruth(given, days);
}

function unequalSums({ sums, users, orders, costs, numbers }: Explained): string[] {
  const costMeasures: readonly Measure[] = COST_MEASURES;
  const differing = (Object.keys(sums) as Measure[]).flatMap((name) => {
    const rows = (costMeasures.includes(name) ? costs : users) as readonly Sums[];
    const isWhole = costMeasures.includes(name) || users.length === numbers.users;
    const sum = rows.reduce((total, one) => total + (one[name] ?? 0), 0);
    return isWhole && sum !== (sums[name] ?? 0) ? [`${name}: rows ${sum}, cell ${sums[name]}`] : [];
  });
  const paid = orders.reduce((total, { cents }) => total + cents, 0);
  const isOff = sums.pay_cents !== undefined && orders.length === numbers.orders && paid !== sums.pay_cents;
  return isOff ? [...differing, `orders ${paid}, cell ${sums.pay_cents}`] : differing;
}

/** Checks that the report holds every order and refund that the truth knows, on any day, and nothing else. */
async function paymentsAgainstTruth({ site, findings }: Audit, days: [string, string]): Promise<void> {
  const orders = new Map<string, number>();
  const refunds = new Map<string, number>();
  for (const { clientId, events } of site.truth.people) {
    for (const { happening, serial } of events) {
      if (site.journal.isExcused(serial, clientId)) continue;
      if (happening.kind === "pay") orders.set(happening.orderId, happening.cents);
      if (happening.kind !== "refund") continue;
      const asked = happening.cents ?? Number.POSITIVE_INFINITY;
      refunds.set(happening.orderId, (refunds.get(happening.orderId) ?? 0) + asked);
    }
  }
  const cents = [...orders].reduce((total, [id, paid]) => total + paid - Math.min(paid, refunds.get(id) ?? 0), 0);
  const { total } = await site.reports.adReport({
    app_id: site.operator.app.appId,
    date_list: days,
    dims_list: [],
    decimal_point: 4,
    filtering: {},

    statistics_caliber: "behavior_occurred_time",
    metrics_list: ["AppGamePayAmountStandard", "AppGamePayCntStandard"],
  });
  const { AppGamePayAmountStandard: amount, AppGamePayCntStandard: count } = total[0] as Row;
  findings.equal(9, "payments in the report, and in the truth", {
    is: [amount, count],
    should: [cents / 100, orders.size],
  });
}
