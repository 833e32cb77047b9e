import { eventRow } from "../db/event.ts";
import type { UserAccount } from "../db/user-account.ts";
import type { EventParts } from "../domain/event/event-part.ts";
import { isPresetProperty, PRESET_EVENTS } from "../domain/event/metadata.ts";
import { changeProfile, type ProfileOperation } from "../domain/event/profile.ts";
import type { JsonObject } from "../domain/json.ts";
import { convertToCents, microsOfEcpm, roundHalfAway } from "../domain/money.ts";
import { SHOWN_WITHOUT_POSTBACK } from "../domain/postback/postback.ts";
import type { PostbackBook } from "../domain/postback/postback-book.ts";
import { adViewMoment, eventMoment, orderMoments } from "../domain/postback/postback-moment.ts";
import { md5 } from "../domain/user/identity.ts";
import { addAdView, addPayment } from "../domain/user/user-figures.ts";
import { LIMITS } from "../limits.ts";
import { countPayment, countTrackEvent, numberOf } from "./day-counters.ts";
import { type DecodedEntry, type SentEvent, textOf } from "./decode.ts";
import { type AppContext, type Facts, newUser } from "./facts.ts";
import type { ObservedNames } from "./observed-names.ts";
import { osOf } from "./registration.ts";

export type EventsEntry = Extract<DecodedEntry, { kind: "events" }>;

/** What the transaction looked up before: which events and orders are stored already, and where days are kept. */
export type Stored = {
  events: Set<string>;
  orders: Set<string>;
  parts: EventParts;
  names: ObservedNames;
};

export function eventKey(appId: number, clientId: string, fingerprint: string): string {
  return `${appId}\t${clientId}\t${fingerprint}`;
}

export function orderKey(appId: number, traceId: string): string {
  return `${appId}\t${traceId}`;
}

/** Takes in the events of one entry, in the order sent. Every event ends in exactly one place of the ledger. */
export function applyEventsEntry(facts: Facts, entry: EventsEntry, stored: Stored): void {
  const { head } = entry;
  const app = facts.app(head.app);
  facts.count(head.app, head.at, "received", entry.received);
  for (const [, reason] of entry.rejected) facts.count(head.app, head.at, reason, 1);
  const user = userOf(facts, entry, app);
  if (!user) {
    facts.count(head.app, head.at, "unregistered", entry.events.length);
    return;
  }
  let storedEvents = 0;
  let duplicates = 0;
  for (const event of entry.events) {
    const day = app.calendar.dayOf(event.atMs);
    const key = eventKey(head.app, head.client, event.fingerprint);
    if (stored.parts.stateOf(day) !== "open") {
      facts.count(head.app, head.at, "too_old", 1);
    } else if (stored.events.has(key)) {
      duplicates += 1;
    } else {
      stored.events.add(key);
      storedEvents += 1;
      facts.eventRows.push(
        eventRow({
          appId: head.app,
          clientId: head.client,
          day,
          atMs: event.atMs,
          fingerprint: event.fingerprint,
          type: event.type,
          event: event.event,
          properties: event.propertiesText,
          receivedAtMs: head.at,
        }),
      );
      applyEvent(facts, user, app, event, entry, stored);
    }
  }
  facts.count(head.app, head.at, "stored", storedEvents);
  facts.count(head.app, head.at, "duplicate", duplicates);
}

function userOf(facts: Facts, entry: EventsEntry, app: AppContext): UserAccount | undefined {
  const key = { appId: entry.head.app, clientId: entry.head.client };
  const known = facts.user(key);
  if (facts.isErased(entry)) return undefined;
  if (entry.events.length === 0) return known ?? newUser(key, entry.head.at, app);
  if (entry.head.registered === "unknown" && !known?.isRegistered) return undefined;
  if (known) return known;
  // The app does not ask for a registration: the first event makes the client known.
  const user = newUser(key, entry.head.at, app);
  facts.putUser(user);
  facts.day(user, user.registeredAtMs);
  return user;
}

function applyEvent(
  facts: Facts,
  user: UserAccount,
  app: AppContext,
  event: SentEvent,
  entry: EventsEntry,
  stored: Stored,
): void {
  if (user.latestEventAtMs === null || user.latestEventAtMs < event.atMs) user.latestEventAtMs = event.atMs;
  noteNames(facts, event, entry, stored);
  if (user.osPlatform === "unknown" && event.properties.$os !== undefined)
    user.osPlatform = osOf(textOf(event.properties.$os));
  if (event.type === "profile") {
    applyOperation(facts, user, event.event as ProfileOperation, event.properties);
    facts.putUser(user);
    return;
  }
  const ecpm = numberOf(event.properties.$ecpm);
  const day = facts.day(user, event.atMs);
  countTrackEvent(day, { event: event.event, ecpm });
  if (event.event === "$AdShow") {
    const view = {
      micros: microsOfEcpm(ecpm),
      ecpmMicros: roundHalfAway(ecpm * 1e6),
      adType: textOf(event.properties.$ad_type),
      atMs: event.atMs,
    };
    addAdView(user, view, user.registeredAtMs);
  } else if (event.event === "$BindThirdPlatform") {
    bindThirdPlatform(facts, user, event);
  }
  if (app.book) noteEvent(facts, user, app.book, { event, day: day.day });
  const payment = paymentOf(event, entry);
  if (payment) applyPayment(facts, user, app, event, payment, entry, stored);
}

/** For those who are to be told: the platform that brought the user, or the app's own systems. */
function noteEvent(
  facts: Facts,
  user: UserAccount,
  book: PostbackBook,
  { event, day }: { event: SentEvent; day: string },
): void {
  const { properties, event: name, atMs } = event;
  const at = { atMs, day, receivedAtMs: facts.receivedAtMs };
  if (book.events.has(name)) facts.noteMoments(user, [eventMoment(at, { name, properties })]);
  if (book.hasAdViews && name === "$AdShow") {
    facts.noteMoments(user, [adViewMoment(at, { count: user.adCount, micros: user.adMicros, properties })]);
  }
  if (book.own.events.has(name)) facts.ownEvents.push({ user, event, receivedAtMs: facts.receivedAtMs });
}

/** The user's ids at an analytics service, shown as user$ta_…. */
function bindThirdPlatform(facts: Facts, user: UserAccount, event: SentEvent): void {
  const { $ta_account_id, $ta_distinct_id } = event.properties;
  applyOperation(facts, user, "profile_set", {
    ...($ta_account_id === undefined ? {} : { $ta_account_id }),
    ...($ta_distinct_id === undefined ? {} : { $ta_distinct_id }),
  });
}

/** A profile is read and written whole with every event of its user, so it must stay small whatever was admitted. */
function applyOperation(facts: Facts, user: UserAccount, operation: ProfileOperation, properties: JsonObject): void {
  const whose = facts.ownProfiles.has(user.properties) ? "own" : "shared";
  const { profile, leftOut } = changeProfile(user.properties, operation, properties, whose);
  user.properties = profile;
  facts.ownProfiles.add(profile);
  facts.leftOut += leftOut;
}

export type SentPayment = {
  amount: number;
  currency: string;
  traceId: string;
  method: string;
  reason: string;
  isVirtual: number;
};

/** The payment that an event is, if it is one: `$PayEvent`, the consumer event PAY, or handle_event's pay. */
export function paymentOf(event: SentEvent, entry: EventsEntry): SentPayment | undefined {
  const { head } = entry;
  const { properties } = event;
  const isPreset = event.event === "$PayEvent" && event.type === "track";
  const isConsumerPay = head.kind === "consumer_event" && event.event === "PAY";
  const isHandledPay = head.kind === "handle_event" && event.event === "pay";
  if (!isPreset && !isConsumerPay && !isHandledPay) return undefined;
  const given = textOf(properties.$order_id) || textOf(properties.$trace_id);
  // handle_event is not judged by admission: an id that is too long for an index entry stands by its digest.
  const isUsable = given !== "" && Buffer.byteLength(given) <= LIMITS.propertyTextBytes;
  const traceId = isUsable ? given : md5(given || eventKey(head.app, head.client, event.fingerprint));
  return {
    amount: isPreset ? numberOf(properties.$pay_amount) : numberOf(properties.real_amount ?? properties.amount),
    currency: isPreset ? textOf(properties.$pay_type).toUpperCase() : "",
    traceId,
    method: textOf(properties.$pay_method),
    reason: textOf(properties.$pay_reason),
    isVirtual: properties.$is_virtual === true || properties.$is_virtual === 1 ? 1 : 0,
  };
}

function applyPayment(
  facts: Facts,
  user: UserAccount,
  app: AppContext,
  event: SentEvent,
  payment: SentPayment,
  entry: EventsEntry,
  stored: Stored,
): void {
  const key = orderKey(app.appId, payment.traceId);
  if (stored.orders.has(key)) return;
  stored.orders.add(key);
  const conversion = convertToCents(payment.amount, payment.currency, app);
  const cents = conversion.kind === "converted" ? conversion.cents : 0;
  addPayment(user, { cents, atMs: event.atMs, method: payment.method, reason: payment.reason });
  const day = facts.day(user, event.atMs);
  countPayment(day, cents);
  facts.orders.push({
    appId: app.appId,
    clientId: user.clientId,
    traceId: payment.traceId,
    day: day.day,
    atMs: event.atMs,
    receivedAtMs: entry.head.at,
    cents,
    currency: payment.currency || app.currency,
    sentAmount: roundHalfAway(payment.amount),
    hasRate: conversion.kind === "converted",
    payCount: user.payCount,
    isVirtual: payment.isVirtual,
    properties: event.propertiesText,
    postbackStatus: SHOWN_WITHOUT_POSTBACK,
    passStatus: 0,
  });
  const order = { atMs: event.atMs, day: day.day, receivedAtMs: entry.head.at, cents, payCount: user.payCount };
  facts.noteMoments(
    user,
    orderMoments({ ...order, traceId: payment.traceId, properties: event.properties }, user.registeredDay),
  );
}

/** Names that the app has not seen before; only collect is free to bring them. */
function noteNames(facts: Facts, event: SentEvent, entry: EventsEntry, stored: Stored): void {
  if (entry.head.kind !== "collect") return;
  const { app: appId, at: atMs } = entry.head;
  if (event.type === "track" && !PRESET_EVENTS.has(event.event) && stored.names.add(appId, "event", event.event)) {
    facts.observed.push({ appId, kind: "event", name: event.event, atMs });
  }
  if (event.event === "profile_delete" || event.event === "profile_unset") return;
  const kind = event.type === "profile" ? "user_property" : "event_property";
  const known = stored.names.of(appId, kind);
  for (const name in event.properties) {
    if (known.has(name) || isPresetProperty(name)) continue;
    if (stored.names.add(appId, kind, name)) facts.observed.push({ appId, kind, name, atMs });
  }
}
