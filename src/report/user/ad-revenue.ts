import type { TimelineItem } from "../../contract/admin/admin-user.ts";
import { type ColdEvents, loadColdAmong } from "../../db/cold-event.ts";
import { type Executor, query, sql } from "../../db/engine/sql.ts";
import { pricedAds } from "../../db/shown-ad.ts";
import type { Calendar } from "../../domain/calendar.ts";
import type { UserKey } from "../../domain/user/user-key.ts";

/** What a shown ad earned, and who says so. */
export type AdRevenue = Extract<TimelineItem, { kind: "event" }>["ad_revenue"];

type Shown = { event: string; atMs: number; fingerprint: string };
type Priced = { fingerprint: string; micros: number; pulled: number | null; estimated: number | null };

/** Tells what each of a user's ads earned: reported with the ad, its share of what was pulled, or estimated. */
export async function adRevenueReader(
  executor: Executor,
  user: UserKey,
  { events, calendar, cold }: { events: readonly Shown[]; calendar: Calendar; cold: ColdEvents },
): Promise<(event: Shown) => AdRevenue> {
  const shown = events.filter(({ event }) => event === "$AdShow");
  const days = new Set(shown.map(({ atMs }) => calendar.dayOf(atMs)));
  const ads = new Map((await loadAds(executor, user, { days: [...days], cold })).map((ad) => [ad.fingerprint, ad]));
  return ({ fingerprint }) => {
    const ad = ads.get(fingerprint);
    if (!ad) return undefined;
    if (ad.micros !== 0) return { origin: "reported", amount: ad.micros / MICROS };
    if (ad.pulled !== null) return { origin: "pulled", amount: ad.pulled / MICROS };
    return ad.estimated === null ? undefined : { origin: "estimated", amount: ad.estimated / MICROS };
  };
}

const MICROS = 1_000_000;

/** All ads of these days, because each one's share depends on how many there are. */
async function loadAds(
  executor: Executor,
  { appId, clientId }: UserKey,
  { days, cold }: { days: readonly string[]; cold: ColdEvents },
): Promise<Priced[]> {
  if (days.length === 0) return [];
  const frozen = await loadColdAmong(executor, days);
  const wish = { appId, clientIds: [clientId], days: frozen, names: ["$AdShow"] };
  const older = frozen.length > 0 ? await cold.load(executor, wish) : [];
  const own = sql`e.client_id = ${clientId} and e.day = any(${days}::date[])`;
  return query<Priced>(
    executor,
    sql`select replace(fingerprint::text, '-', '') as fingerprint, micros, pulled::bigint as pulled, estimated
      from (${pricedAds(appId, own, older)}) ad`,
  );
}
