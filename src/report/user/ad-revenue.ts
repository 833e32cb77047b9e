import type { TimelineItem } from "../../contract/admin/admin-user.ts";
import { type Executor, query, sql } from "../../db/engine/sql.ts";
import { adUnitOf } from "../../domain/ad-revenue.ts";
import type { Calendar } from "../../domain/calendar.ts";
import { type JsonObject, numberOf } from "../../domain/json.ts";
import { microsOfEcpm } from "../../domain/money.ts";
import type { UserKey } from "../../domain/user/user-key.ts";

/** What a shown ad earned, and who says so. */
export type AdRevenue = Extract<TimelineItem, { kind: "event" }>["ad_revenue"];

type Shown = { event: string; atMs: number; properties: JsonObject };
type Told = { day: string; adUnit: string; pulledMicros: number | null; views: number; viewMicros: number | null };

const MICROS = 1_000_000;

/** Tells what each of a user's ads earned: reported with the ad, its share of what was pulled, or estimated. */
export async function adRevenueReader(
  executor: Executor,
  user: UserKey,
  { events, calendar }: { events: readonly Shown[]; calendar: Calendar },
): Promise<(event: Shown) => AdRevenue> {
  const days = new Set(events.filter(isAd).map(({ atMs }) => calendar.dayOf(atMs)));
  const told = new Map((await loadTold(executor, user, [...days])).map((one) => [keyOf(one), one]));
  return (event) => {
    if (!isAd(event)) return undefined;
    const micros = microsOfEcpm(numberOf(event.properties.$ecpm));
    if (micros !== 0) return { origin: "reported", amount: micros / MICROS };
    const adUnit = adUnitOf(event.properties.$ad_unit_id);
    const unit = told.get(keyOf({ day: calendar.dayOf(event.atMs), adUnit }));
    if (!unit) return undefined;
    if (unit.pulledMicros !== null) {
      return { origin: "pulled", amount: Math.round(unit.pulledMicros / unit.views) / MICROS };
    }
    return unit.viewMicros === null ? undefined : { origin: "estimated", amount: unit.viewMicros / MICROS };
  };
}

const isAd = ({ event }: Shown) => event === "$AdShow";
const keyOf = ({ day, adUnit }: Pick<Told, "day" | "adUnit">) => `${day} ${adUnit}`;

async function loadTold(executor: Executor, { appId, clientId }: UserKey, days: readonly string[]): Promise<Told[]> {
  if (days.length === 0) return [];
  return query<Told>(
    executor,
    sql`select a.day, a.ad_unit, sum(a.pulled_micros)::bigint as pulled_micros, sum(a.unpriced_count)::bigint as views,
        max(e.view_micros) as view_micros
      from user_ad_day a left join ad_ecpm e on e.app_id = a.app_id and e.ad_unit = a.ad_unit
        and e.from_day <= a.day and (e.until_day is null or e.until_day > a.day)
      where a.app_id = ${appId} and a.client_id = ${clientId} and a.day = any(${days}::date[]) and a.unpriced_count > 0
      group by a.day, a.ad_unit`,
  );
}
