import { DAY_MS } from "../../src/domain/calendar.ts";
import type { CollectCall } from "./call.ts";
import { Desk, type Made } from "./desk.ts";
import { appAgent, browserAgent } from "./device.ts";
import { orderReport, refundReports } from "./game-server.ts";
import { HOUR_MS, mishapOf, type Scene, type Someone } from "./someone.ts";
import type { PersonTruth } from "./truth.ts";

export type Life = {
  /** When the client registers, and when the server has the registration. */
  opensMs: number;
  registersMs: number;
  past: { createdMs: number; company: string } | undefined;
  kind: PersonTruth["kind"];
};

const LIFE_DAYS_MAX = 45;
const PRICES_CENTS = [100, 600, 1_200, 3_000, 6_800, 12_800, 32_800];
const LEVELS = ["tutorial_done", "level_up", "quest_done", "item_bought"];

/** All calls of a person's client and the game's server after the registration, and one call too early. */
export function visitCalls(scene: Scene, person: Someone, life: Life): CollectCall[] {
  const { haste, endMs } = scene.options;
  const { random, habits } = person;
  const desk = new Desk(person);
  const calls: CollectCall[] = [];
  // One SDK reports a show event before it registers, and again afterwards.
  if (person.offer === "mini_game" && person.index % 4 !== 0 && !life.past) {
    const early = desk.track("$MPShow", life.opensMs - 1, {});
    calls.push(callOf(person, [early], { dueMs: life.opensMs - 1, mishap: "none" }));
  }
  if (life.past) calls.push(...pastCalls(person, desk, life.past.createdMs, life.registersMs));
  calls.push(...visit(scene, person, desk, { day: 0, atMs: life.registersMs + 2_000 / haste, ...life }));
  const days =
    life.kind === "farm" ? 1 : Math.min(LIFE_DAYS_MAX, Math.ceil(((endMs - life.registersMs) * haste) / DAY_MS));
  for (let day = 1; day <= days; day += 1) {
    const share = life.kind === "farm" ? 0 : habits.nextDayShare * day ** -habits.decay;
    if (!random.chance(share)) continue;
    const atMs = life.registersMs + (day * DAY_MS + random.between(-5, 5) * HOUR_MS) / haste;
    calls.push(...visit(scene, person, desk, { day, atMs, ...life }));
  }
  return calls;
}

type Visit = Life & { day: number; atMs: number };

/**
 * One visit: opens, plays, watches ads, perhaps pays. It is sent in one or two calls, at once or when the network is back.
 */
function visit(scene: Scene, person: Someone, desk: Desk, { day, atMs, registersMs, kind }: Visit): CollectCall[] {
  const { rates, haste } = scene.options;
  const { random, habits, offer } = person;
  let nowMs = atMs;
  const later = () => {
    nowMs += random.between(5_000, 90_000) / haste;
    return nowMs;
  };
  const events: Made[] = [desk.track(offer === "app" ? "$AppStart" : "$MPShow", nowMs, {})];
  if (day === 0) {
    events.push(desk.profile("profile_set_once", nowMs, { $brand: person.phone.brand, $model: person.phone.model }));
    if (random.chance(0.9)) events.push(desk.track(offer === "app" ? "$AppRegister" : "$MPRegister", later(), {}));
  }
  for (let left = random.whole(1, 3); left > 0; left -= 1) {
    events.push(desk.track(random.pick(LEVELS), later(), { level: day + left }));
  }
  for (let left = kind === "farm" ? 0 : random.whole(0, 3); left > 0; left -= 1) {
    events.push(desk.ad(later(), Math.round(habits.ecpmMicros * random.between(0.6, 1.4))));
  }
  const extra: CollectCall[] = [];
  if (kind !== "farm" && random.chance(habits.payShare)) {
    const order = { cents: random.pick(PRICES_CENTS), orderId: `o-${person.clientId}-${day}` };
    events.push(desk.pay(later(), order, { $pay_reason: "gems" }));
    if (random.chance(rates.reportedTwice)) extra.push(orderReport(person, desk, { order, atMs: nowMs + 3_000 }));
    extra.push(...refundReports(scene, person, desk, { order, atMs: nowMs }));
  }
  if (random.chance(0.2)) events.push(desk.profile("profile_increment", later(), { visits: 1 }));
  const isOffline = day > 0 && random.chance(rates.offline);
  const lateMs = isOffline ? (random.between(1, 40) * HOUR_MS) / haste : 2_000 / haste;
  return [...sendings(scene, person, events, Math.max(nowMs, registersMs) + lateMs), ...extra];
}

function sendings(scene: Scene, person: Someone, events: readonly Made[], dueMs: number): CollectCall[] {
  const { random } = person;
  const { options } = scene;
  const cut = random.chance(0.3) ? Math.ceil(events.length / 2) : events.length;
  const [first, rest] = [events.slice(0, cut), events.slice(cut)];
  const isAgain = random.chance(options.rates.sentAgainWithMore);
  const calls = [callOf(person, first, { dueMs, mishap: mishapOf(person, options) })];
  // A client that has not seen the answer yet sends its whole buffer again, with newer events.
  const next = isAgain ? [...first, ...rest] : rest;
  if (next.length > 0)
    calls.push(callOf(person, next, { dueMs: dueMs + 1_000 / options.haste, mishap: mishapOf(person, options) }));
  return calls;
}

type Sending = { dueMs: number; mishap: CollectCall["mishap"] };

/** The events in the format of the person's SDK. */
function callOf(person: Someone, events: readonly Made[], { dueMs, mishap }: Sending): CollectCall {
  const { clientId, phone, offer, index } = person;
  const ua = offer === "app" ? appAgent(phone) : browserAgent(phone);
  const sending = { kind: "collect", dueMs, ip: phone.ip, ua, mishap, events: events.map(({ sent }) => sent) } as const;
  const event_list = events.map(({ wire }) => wire);
  const plain = { headers: { "content-type": "application/json" }, isGzip: false };
  const isOldClient = offer === "mini_game" && index % 4 === 0 && event_list.every(({ type }) => type === "track");
  if (isOldClient) {
    const bare = event_list.map(({ type: _, ...rest }) => rest);
    const body = JSON.stringify({ client_id: clientId, type: "track", event_list: bare });
    return { ...sending, ...plain, path: "eventv2/collect/", body };
  }
  const flushed = offer === "app" && phone.os === "android" ? "#flush_time" : "$flush_time";
  const body = JSON.stringify({ client_id: clientId, event_list, [flushed]: Math.floor(dueMs) });
  return { ...sending, ...plain, path: "event/collect/", body };
}

/** What another system knew about the person, with times of any age. */
function pastCalls(person: Someone, desk: Desk, createdMs: number, dueMs: number): CollectCall[] {
  const events = [1, 3, 10].map((day, index) => {
    const atMs = createdMs + day * DAY_MS - person.clockErrorMs;
    const order = { cents: 600, orderId: `past-${person.clientId}-${day}` };
    const made = index === 1 ? desk.pay(atMs, order) : desk.track("level_up", atMs, { level: day });
    return { ...made, wire: { ...made.wire, time_free: true as const } };
  });
  return [callOf(person, events, { dueMs: dueMs + 1, mishap: "none" })];
}
