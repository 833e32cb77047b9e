import { adMicros, revenueOf } from "./oracle-ads.ts";
import { addDays, dayOf, hourOf } from "./oracle-days.ts";
import { costsByHour, withoutHour } from "./oracle-hours.ts";
import type { Asked, CostRow, Happening, Market, Person } from "./oracle-market.ts";

/**
 * The ad report by its definitions, computed from lists of what happened: no SQL, no cube, nothing of the program under
 * test. Slow, and plain enough to be checked by reading it beside the definitions.
 */
type Fraction = [of: bigint, by: bigint];

/** Everything that belongs to one row. */
class Row {
  counted = new Set<Person>();
  active = new Set<Person>();
  registered = new Set<Person>();
  firstPayers = new Set<Person>();
  things: Thing[] = [];
  costs: CostRow[] = [];
}

const DAY_MS = 86_400_000;

export type Expected = { items: Record<string, string | number>[]; total: Record<string, number>[] };

export function expectedReport(market: Market, asked: Asked, metrics: readonly string[]): Expected {
  const rows = new Map<string, Row>();
  const total = new Row();
  const into: Into = (at, dimensions, put) => {
    const { day, hour } =
      typeof at === "number" ? { day: dayOf(at, market.timeZone), hour: hourOf(at, market.timeZone) } : at;
    if (day < asked.fromDay || day > asked.toDay) return;
    // Some things have a day but no hour, and are not in a report by hours.
    if (hour === undefined && isByHour(asked)) return;
    const values = { ...dimensions, date: day, hour } as Record<string, string>;
    const key = JSON.stringify(asked.dims.map((name) => values[name]!));
    const row = rows.get(key) ?? new Row();
    rows.set(key, row);
    put(row);
    put(total);
  };
  for (const person of market.people.filter(({ isErased }) => !isErased)) {
    if (isWantedIn(market, asked, person)) putPerson(market, asked, person, into);
  }
  for (const { hour, ...cost } of isByHour(asked) ? costsByHour(market) : market.costs.map(withoutHour)) {
    const dimensions = costDimensions(market, cost);
    const isAsked = !isByHour(asked) || metrics.includes("AdCost");
    if (isAsked && isListed(asked, dimensions))
      into({ day: cost.day, hour }, dimensions, (row) => row.costs.push(cost));
  }
  const show = (row: Row) =>
    Object.fromEntries(metrics.map((name) => [name, rounded(valueOfMetric(name, row, market, asked), asked.decimals)]));
  const items = [...rows].map(([key, row]) => {
    const values = JSON.parse(key) as string[];
    return { ...Object.fromEntries(asked.dims.map((name, index) => [name, values[index]!])), ...show(row) };
  });
  return { items, total: rows.size === 0 ? [] : [show(total)] };
}

/** Whether the filters of the question let a person through. */
export function isWantedIn(market: Market, asked: Asked, person: Person): boolean {
  return isIn(asked.versions, person.version) && isListed(asked, personDimensions(market, person));
}

/** An instant, or a day with or without its hour. */
type At = number | { day: string; hour?: string | undefined };
/** Puts something into its row. */
type Into = (at: At, dimensions: Record<string, string>, put: (row: Row) => void) => void;

function isByHour({ dims }: Asked): boolean {
  return dims.includes("hour");
}

function isIn<T>(list: readonly T[], value: T | undefined): boolean {
  return list.length === 0 || list.includes(value as T);
}

function isListed({ lists }: Asked, dimensions: Record<string, string>): boolean {
  return Object.entries(lists).every(([name, list]) => isIn(list, dimensions[name]));
}

function putPerson(market: Market, asked: Asked, person: Person, into: Into): void {
  const dimensions = personDimensions(market, person);
  const things = counted(market, person);
  const first = (kind: string) =>
    things.filter((one) => one.kind === kind).sort((left, right) => left.atMs - right.atMs)[0];
  const [firstPay, firstRegister] = [first("pay"), first("register")];
  if (asked.caliber === "user_activated_time") {
    into(person.touchedAtMs ?? person.registeredAtMs, dimensions, (row) => {
      row.counted.add(person);
      row.active.add(person);
      if (firstRegister) row.registered.add(person);
      if (firstPay) row.firstPayers.add(person);
      for (const happening of things) row.things.push({ person, happening });
    });
    return;
  }
  into(person.registeredAtMs, dimensions, (row) => row.counted.add(person));
  for (const atMs of activeAt(person)) into(atMs, dimensions, (row) => row.active.add(person));
  if (firstRegister) into(firstRegister.atMs, dimensions, (row) => row.registered.add(person));
  if (firstPay) into(firstPay.atMs, dimensions, (row) => row.firstPayers.add(person));
  for (const happening of things) into(happening.atMs, dimensions, (row) => row.things.push({ person, happening }));
}

type Payment = Extract<Happening, { kind: "pay" }>;

/** Orders with the same id are the same order; the first report of it counts. */
export function ordersOf({ happenings }: Pick<Person, "happenings">): Payment[] {
  const orders = new Map<string, Payment>();
  for (const one of happenings) if (one.kind === "pay" && !orders.has(one.orderId)) orders.set(one.orderId, one);
  return [...orders.values()];
}

/** Refunds count as far as something is left of their orders. */
function counted(market: Market, { happenings }: Person): Happening[] {
  const orders = new Map(ordersOf({ happenings }).map((order) => [order.orderId, order]));
  const left = new Map([...orders].map(([id, { cents }]) => [id, cents]));
  const refunds = happenings
    .filter((one) => one.kind === "refund")
    .sort((one, other) => one.atMs - other.atMs || (one.refundId < other.refundId ? -1 : 1))
    .flatMap((refund): Happening[] => {
      const order = orders.get(refund.orderId);
      if (!order) return [];
      const cents = Math.min(left.get(refund.orderId)!, refund.cents ?? Number.POSITIVE_INFINITY);
      left.set(refund.orderId, left.get(refund.orderId)! - cents);
      const atMs = market.refundsOn === "order" ? order.atMs : refund.atMs;
      return cents === 0 ? [] : [{ ...refund, atMs, cents }];
    });
  const rest = happenings.filter(
    (one) => one.kind !== "refund" && (one.kind !== "pay" || orders.get(one.orderId) === one),
  );
  return [...rest, ...refunds];
}

/** The registration is an activity, a refund is none. */
function activeAt(person: Person): number[] {
  const doings = person.happenings.filter(({ kind }) => kind !== "refund");
  return [person.registeredAtMs, ...doings.map(({ atMs }) => atMs)];
}

export function activeDays(market: Market, person: Person): Set<string> {
  return new Set(activeAt(person).map((ms) => dayOf(ms, market.timeZone)));
}

function personDimensions(market: Market, person: Person): Record<string, string> {
  const advertiser_id = accountOf(market, person);
  const people = peopleOf(market, { ...person, advertiser_id });
  return { ...texts(person), advertiser_id, ad_platform: person.ad_platform || "natural", ...people };
}

/** A person without an account is their ad's: the only one whose costs name the ad, else the plan. */
export function accountOf({ costs }: Market, person: Person): string {
  const namedBy = (field: "aid" | "gid") => {
    const accounts = new Set(
      costs
        .filter(
          (cost) => cost.ad_platform === person.ad_platform && person[field] !== "" && cost[field] === person[field],
        )
        .map((cost) => cost.advertiser_id)
        .filter((id) => id !== ""),
    );
    return accounts.size === 1 ? [...accounts][0]! : "";
  };
  return person.advertiser_id || namedBy("aid") || namedBy("gid");
}

function texts(source: Person | CostRow): Record<string, string> {
  const { ad_platform, advertiser_id, gid, aid, creative, csite, channel, os_platform } = source;
  const { turbo_promoted_object_id } = source;
  return { ad_platform, advertiser_id, gid, aid, creative, csite, channel, os_platform, turbo_promoted_object_id };
}

/** Operator and department: of the account, else of the campaign. */
function peopleOf(
  market: Market,
  source: { ad_platform: string; advertiser_id: string; turbo_promoted_object_id: string },
) {
  const account = market.accounts.find(
    (one) => one.ad_platform === source.ad_platform && one.advertiser_id === source.advertiser_id,
  );
  const campaign = market.campaigns.find((one) => one.id === source.turbo_promoted_object_id);
  return {
    operator: account?.operator || campaign?.operator || "",
    dept: account?.dept || campaign?.dept || "",
  };
}

/** A cost row takes missing values from its campaign: the only one that its ad, else its plan, was seen with. */
function costDimensions(market: Market, cost: CostRow): Record<string, string> {
  const seenWith = (field: "aid" | "gid") => {
    const campaigns = new Set(
      market.people
        .filter((one) => one.ad_platform === cost.ad_platform && cost[field] !== "" && one[field] === cost[field])
        .map((one) => one.turbo_promoted_object_id)
        .filter((id) => id !== ""),
    );
    return campaigns.size === 1 ? [...campaigns][0]! : "";
  };
  const id = cost.turbo_promoted_object_id || seenWith("aid") || seenWith("gid");
  const campaign = market.campaigns.find((one) => one.id === id);
  const source = {
    ...(texts(cost) as Record<string, string> & Pick<CostRow, "ad_platform" | "advertiser_id">),
    turbo_promoted_object_id: id,
    channel: cost.channel || campaign?.channel || "",
    os_platform: cost.os_platform || campaign?.os_platform || "",
  };
  return { ...source, ...peopleOf(market, source) };
}

const count = (value: number): Fraction => [BigInt(value), 1n];
const micros = (value: bigint): Fraction => [value, 1_000_000n];
const divided = ([of, by]: Fraction, [of2, by2]: Fraction, times = 1n): Fraction => [of * by2 * times, by * of2];

/** The figures from which the metrics of one row are computed. */
function figuresOf(row: Row, market: Market, asked: Asked) {
  const isFirstCaliber = asked.caliber === "user_activated_time";
  const users = count(row.counted.size);
  const dau = count(row.active.size);
  const orders = row.things.filter(({ happening }) => happening.kind === "pay");
  const refunds = row.things.filter(({ happening }) => happening.kind === "refund");
  const views = row.things.filter(({ happening }) => happening.kind === "ad");
  return {
    cost: micros(row.costs.reduce((sum, one) => sum + BigInt(one.costE4) * 100n, 0n)),
    realCost: micros(row.costs.reduce((sum, one) => sum + paidE4(market, one) * 100n, 0n)),
    shows: count(row.costs.reduce((sum, one) => sum + one.impressions, 0)),
    clicks: count(row.costs.reduce((sum, one) => sum + one.clicks, 0)),
    users,
    dau,
    perUser: isFirstCaliber ? users : dau,
    orders: count(orders.length),
    payers: count(new Set(orders.map(({ person }) => person)).size),
    pay: row.things.reduce((sum, { happening }) => sum + payMicros(happening, 10_000), 0n),
    netPay: row.things.reduce((sum, one) => sum + payMicros(one.happening, shareBpIn(asked, market, one)), 0n),
    sharedPay: row.things.reduce((sum, one) => sum + payMicros(one.happening, shareBpOf(market, one)), 0n),
    refunds: count(refunds.length),
    refunded: -refunds.reduce((sum, { happening }) => sum + payMicros(happening, 10_000), 0n),
    views: count(views.length),
    viewers: count(new Set(views.map(({ person }) => person)).size),
    ad: views.reduce((sum, { happening }) => sum + adMicros(market, happening), 0n),
    reportedAd: views.reduce((sum, { happening }) => sum + revenueOf(market, happening).reported, 0n),
    pulledAd: views.reduce((sum, { happening }) => sum + revenueOf(market, happening).pulled, 0n),
    estimatedAd: views.reduce((sum, { happening }) => sum + revenueOf(market, happening).estimated, 0n),
    registered: count(row.registered.size),
    firstPayers: count(row.firstPayers.size),
    realUsers: count([...row.counted].filter((one) => !one.isHistory).length),
  };
}

/** What was paid for a cost row after the rebate of its account, rounded to ten-thousandths. */
function paidE4({ rebates }: Market, cost: CostRow): bigint {
  const rebate = rebates.find(
    (one) =>
      one.ad_platform === cost.ad_platform &&
      one.advertiser_id === cost.advertiser_id &&
      one.fromDay <= cost.day &&
      cost.day <= one.toDay,
  );
  if (!rebate) return BigInt(cost.costE4);
  const [of, by] = [BigInt(cost.costE4) * BigInt(10_000 - rebate.cashBp), BigInt(10_000 + rebate.creditBp)];
  return of < 0n ? -((-2n * of + by) / (2n * by)) : (2n * of + by) / (2n * by);
}

const PLAIN: Record<string, (f: ReturnType<typeof figuresOf>) => Fraction> = {
  AdCost: (f) => f.cost,
  AdRealCost: (f) => f.realCost,
  AdShow: (f) => f.shows,
  AdClick: (f) => f.clicks,
  AdCpm: (f) => divided(f.cost, f.shows, 1000n),
  AdCpc: (f) => divided(f.cost, f.clicks),
  AdCtr: (f) => divided(f.clicks, f.shows),
  AppActivateStandard: (f) => f.users,
  AppRealRegisterCnt: (f) => f.realUsers,
  AppRegisterStandard: (f) => f.registered,
  AppActivateCost: (f) => divided(f.cost, f.users),
  AppRegisterCost: (f) => divided(f.cost, f.registered),
  AppDAU: (f) => f.dau,
  AppNewUserRate: (f) => divided(f.users, f.dau),
  AppGamePayAmountStandard: (f) => micros(f.pay),
  AppGamePayNetAmount: (f) => micros(f.sharedPay),
  AppGamePayCntStandard: (f) => f.orders,
  AppGamePayUserCntStandard: (f) => f.payers,
  AppFirstPayUserCnt: (f) => f.firstPayers,
  AppGamePayRate: (f) => divided(f.payers, f.perUser),
  AppRefundAmount: (f) => micros(f.refunded),
  AppRefundCnt: (f) => f.refunds,
  AppGamePayCost: (f) => divided(f.cost, f.payers),
  AppAdRevenue: (f) => micros(f.ad),
  AppAdReportedRevenue: (f) => micros(f.reportedAd),
  AppAdPulledRevenue: (f) => micros(f.pulledAd),
  AppAdEstimatedRevenue: (f) => micros(f.estimatedAd),
  AppAdShowCnt: (f) => f.views,
  AppAdUserCnt: (f) => f.viewers,
  AppAdEcpm: (f) => divided(micros(f.ad), f.views, 1000n),
  AppRevenue: (f) => micros(f.pay + f.ad),
  AppARPU: (f) => divided(micros(f.pay + f.ad), f.perUser),
  AppARPPU: (f) => divided(micros(f.pay), f.payers),
  AppROI: (f) => divided(micros(f.netPay + f.ad), f.cost),
  AppRealROI: (f) => divided(micros(f.netPay + f.ad), f.realCost),
  AppPostbackCnt: () => count(0),
  AppPostbackAmount: () => count(0),
};

function valueOfMetric(name: string, row: Row, market: Market, asked: Asked): Fraction {
  const figures = figuresOf(row, market, asked);
  const { cost, realCost, users } = figures;
  if (PLAIN[name]) return PLAIN[name](figures);
  const retention = /^AppRetention(\d+)d(Cnt)?$/.exec(name);
  if (retention) {
    const kept = [...row.counted].filter((one) =>
      activeDays(market, one).has(addDays(dayOf(one.registeredAtMs, market.timeZone), Number(retention[1]))),
    );
    return retention[2] ? count(kept.length) : divided(count(kept.length), users);
  }
  const window = /^App(Real)?(FirstDay|24h|\d+Day)(PayAmount|AdRevenue|ROI|LTV)$/.exec(name);
  if (!window) throw new Error(`The oracle does not know ${name}.`);
  const inside = windowSums(row, market, asked, window[2]!);
  switch (window[3]) {
    case "PayAmount":
      return micros(inside.pay);
    case "AdRevenue":
      return micros(inside.ad);
    case "ROI":
      return divided(micros(inside.pay + inside.ad), window[1] ? realCost : cost);
    default:
      return divided(micros(inside.pay + inside.ad), users);
  }
}

function windowSums(row: Row, market: Market, asked: Asked, window: string): { pay: bigint; ad: bigint } {
  const is24h = window === "24h";
  const days = window === "FirstDay" || is24h ? 1 : Number.parseInt(window, 10);
  let [pay, ad] = [0n, 0n];
  for (const person of row.counted) {
    const baseMs =
      asked.caliber === "user_activated_time" ? (person.touchedAtMs ?? person.registeredAtMs) : person.registeredAtMs;
    const untilDay = addDays(dayOf(baseMs, market.timeZone), days);
    const isInside = ({ atMs }: Happening) => {
      if (atMs < baseMs) return false;
      if (is24h || asked.roiVersion === 2) return atMs < baseMs + days * DAY_MS;
      return dayOf(atMs, market.timeZone) < untilDay;
    };
    for (const happening of counted(market, person).filter(isInside)) {
      pay += payMicros(happening, shareBpIn(asked, market, { person, happening }));
      ad += adMicros(market, happening);
    }
  }
  return { pay, ad };
}

type Thing = { person: Person; happening: Happening };

/** Only the second ROI model counts payments by their share. */
function shareBpIn({ roiVersion }: Asked, market: Market, thing: Thing): number {
  return roiVersion === 2 ? shareBpOf(market, thing) : 10_000;
}

/** What is left of a payment, or of what was paid back of it: by the first rule that fits its order. */
function shareBpOf(market: Market, { person, happening }: Thing): number {
  if (happening.kind !== "pay" && happening.kind !== "refund") return 10_000;
  const order = person.happenings.find((one) => one.kind === "pay" && one.orderId === happening.orderId);
  if (order?.kind !== "pay") return 10_000;
  const day = dayOf(order.atMs, market.timeZone);
  const rule = market.shareRules.find(
    (one) =>
      (one.os_platform === "" || one.os_platform === person.os_platform) &&
      (one.channel === "" || one.channel === person.channel) &&
      (one.method === "" || one.method === order.method) &&
      (one.isVirtual === null || one.isVirtual === (order.isVirtual ?? false)) &&
      (one.fromDay === "" || one.fromDay <= day) &&
      (one.toDay === "" || day <= one.toDay),
  );
  return rule?.shareBp ?? market.payShareBp;
}

/** Cents times a share in ten-thousandths are millionths. What is paid back is below zero. */
function payMicros(happening: Happening, shareBp: number): bigint {
  if (happening.kind === "refund") return -BigInt(happening.cents ?? 0) * BigInt(shareBp);
  return happening.kind === "pay" ? BigInt(happening.cents) * BigInt(shareBp) : 0n;
}

/** Half away from zero. */
function rounded([of, by]: Fraction, decimals: number): number {
  if (by === 0n) return 0;
  if (of < 0n) return 0 - rounded([-of, by], decimals);
  const scale = 10n ** BigInt(decimals);
  const digits = ((2n * of * scale + by) / (2n * by)).toString().padStart(decimals + 1, "0");
  return Number(`${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`);
}
