import { NO_ORIGIN } from "../../db/event-tails.ts";
import type { UserAccount } from "../../db/user-account.ts";
import type { UserDay } from "../../db/user-day.ts";
import { isPresetProperty, PRESET_EVENTS } from "../../domain/event/metadata.ts";
import { changeProfile, type ProfileOperation } from "../../domain/event/profile.ts";
import { type JsonObject, textOf } from "../../domain/json.ts";
import { convertToCents, microsOfEcpm, roundHalfAway } from "../../domain/money.ts";
import { PASS_STATUS, SHOWN_WITHOUT_POSTBACK } from "../../domain/postback/postback.ts";
import type { PostbackBook } from "../../domain/postback/postback-book.ts";
import { type At, adMoments, eventMoment, orderMoments, type SeenAd } from "../../domain/postback/postback-moment.ts";
import { systemOf } from "../../domain/user/operating-system.ts";
import { addAdView, addPayment } from "../../domain/user/user-figures.ts";
import type { EntryHead } from "../../journal/entry.ts";
import type { EventsEntry } from "../entry/decode.ts";
import { orderKeyText } from "../entry/key-text.ts";
import type { SentPayment } from "../entry/payment.ts";
import type { SentRefund } from "../entry/refund.ts";
import type { SentAdView, SentEvent } from "../entry/sent-event.ts";
import { countersAt, lastSeenMs, noteMoments } from "../facts/activity.ts";
import type { AppSetting } from "../facts/app-settings.ts";
import { countPayment, countTrackEvent } from "../facts/day-counters.ts";
import type { Facts } from "../facts/facts.ts";
import { newUser } from "../facts/new-user.ts";
import { NOBODY, noteRefund } from "./refunds.ts";
import type { Stored } from "./stored.ts";

/** One entry being applied: the user whose events it holds, and the settings that judge them. */
type Taken = { facts: Facts; stored: Stored; head: EntryHead; app: AppSetting; user: UserAccount };

/** Applies the events of one entry in the order sent. The ledger counts every event under exactly one outcome. */
export function applyEventsEntry(facts: Facts, entry: EventsEntry, stored: Stored): void {
  const { head } = entry;
  const { ledger, eventRows } = facts.tallies;
  const app = facts.settings.of(head.app);
  ledger.add(head, "received", entry.received);
  for (const [, reason] of entry.rejected) ledger.add(head, reason, 1);
  const user = userOf(facts, entry, app);
  if (typeof user === "string") {
    ledger.add(head, "unregistered", entry.events.length);
    if (user === "stranger") noteRefunds(facts, app, entry);
    return;
  }
  const taken = { facts, stored, head, app, user };
  const userNumber = stored.events.userNumber(entry.user);
  const sender = { appId: head.app, clientId: head.client, receivedAtMs: head.at };
  let storedEvents = 0;
  let duplicates = 0;
  for (let index = 0; index < entry.events.length; index += 1) {
    const event = entry.events.at(index);
    if (!stored.parts.takes(event.day)) {
      ledger.add(head, "too_old", 1);
    } else if (!stored.events.add(userNumber, event)) {
      duplicates += 1;
    } else {
      storedEvents += 1;
      eventRows.add(sender, event);
      if (event.originAt !== NO_ORIGIN) noteOrigin(taken, event);
      facts.news.add(sender, event);
      applyEvent(taken, event);
    }
  }
  ledger.add(head, "stored", storedEvents);
  ledger.add(head, "duplicate", duplicates);
}

/** Stores the origin of an event, unless the user's row says that it is there. Where a day becomes cold, its origins go. */
function noteOrigin({ facts, stored, user }: Taken, { day, tails, originAt }: SentEvent): void {
  const { appId, clientId } = user;
  const originId = tails.originIdAt(originAt);
  if (user.originId === originId && user.originDay === day && stored.parts.stateOf(day) === "open") return;
  facts.tallies.origins.add({ appId, day, clientId, originId, propertiesText: tails.originTextAt(originAt) });
  if (user.originDay !== null && day < user.originDay) return;
  user.originDay = day;
  user.originId = originId;
  facts.users.put(user);
}

/** "stranger": somebody unknown of whom only refunds have come. These make no user. */
function userOf(facts: Facts, entry: EventsEntry, app: AppSetting): UserAccount | "unregistered" | "stranger" {
  const { head } = entry;
  const known = facts.users.find(entry.user);
  if (facts.users.isErased(entry)) return "unregistered";
  if (entry.events.length === 0) return known ?? newUser(entry.user, head.at, app);
  if (head.registered === "unknown" && !known?.isRegistered) return "unregistered";
  if (known) return known;
  if (areRefunds(entry)) return "stranger";
  // The app does not require a registration, so the first event creates the user.
  const user = newUser(entry.user, head.at, app);
  facts.users.put(user);
  countersAt(facts, user, { atMs: user.registeredAtMs, day: user.registeredDay, receivedAtMs: head.at });
  return user;
}

function areRefunds({ events }: EventsEntry): boolean {
  for (const { refund } of events) if (!refund) return false;
  return true;
}

function applyEvent(taken: Taken, event: SentEvent): void {
  const { facts, user, app, head } = taken;
  user.lastSeenAtMs = event.refund ? lastSeenMs(user) : Math.max(lastSeenMs(user), event.atMs);
  if (user.latestEventAtMs === null || user.latestEventAtMs < event.atMs) user.latestEventAtMs = event.atMs;
  noteNames(taken, event);
  if (user.osPlatform === "unknown" && event.shape.names.includes("$os"))
    user.osPlatform = systemOf(textOf(event.properties.$os));
  if (event.type === "profile") {
    applyOperation(facts, user, event.event as ProfileOperation, event.properties);
    facts.users.put(user);
    return;
  }
  if (event.refund) {
    takeRefund(taken, event, event.refund);
    return;
  }
  const at = { atMs: event.atMs, day: event.day, receivedAtMs: head.at };
  const counters = countersAt(facts, user, at);
  const adView = event.told?.adView;
  countTrackEvent(counters, { event: event.event, ecpm: adView?.ecpm ?? 0, adUnit: adView?.adUnit ?? "" });
  if (adView) {
    const { ecpm, adType } = adView;
    const view = { micros: microsOfEcpm(ecpm), ecpmMicros: roundHalfAway(ecpm * 1e6), adType, atMs: event.atMs };
    addAdView(user, view, user.registeredAtMs);
  } else if (event.event === "$BindThirdPlatform") {
    bindThirdPlatform(facts, user, event);
  }
  if (app.book) noteEvent(taken, app.book, { event, at, adView });
  if (event.payment) applyPayment(taken, event, event.payment, counters);
}

/** Notes an event that is to be reported to the platform that brought the user, or to the app's own systems. */
function noteEvent(
  { facts, user, head }: Taken,
  book: PostbackBook,
  { event, at, adView }: { event: SentEvent; at: At; adView: SentAdView | undefined },
): void {
  const name = event.event;
  if (book.events.has(name)) noteMoments(facts, user, () => [eventMoment(at, { name, properties: event.properties })]);
  if (book.hasAdViews && adView) {
    const all = { count: user.adCount, micros: user.adMicros };
    noteMoments(facts, user, () => adMoments(at, seenAd(event, adView), all));
  }
  if (book.own.events.has(name)) facts.tallies.ownEvents.push({ user, event, receivedAtMs: head.at });
}

function seenAd({ fingerprint: id, properties }: SentEvent, { ecpm }: SentAdView): SeenAd {
  return { id, micros: microsOfEcpm(ecpm), properties };
}

/** Stores the user's ids at an analytics service, shown as user$ta_…. */
function bindThirdPlatform(facts: Facts, user: UserAccount, event: SentEvent): void {
  const { $ta_account_id, $ta_distinct_id } = event.properties;
  applyOperation(facts, user, "profile_set", {
    ...($ta_account_id === undefined ? {} : { $ta_account_id }),
    ...($ta_distinct_id === undefined ? {} : { $ta_distinct_id }),
  });
}

/** Changes a profile within its size limit: it is read and written whole with every event of its user. */
function applyOperation(
  { users, tallies }: Facts,
  user: UserAccount,
  operation: ProfileOperation,
  properties: JsonObject,
): void {
  const whose = users.ownProfiles.has(user.properties) ? "own" : "shared";
  const { profile, leftOut } = changeProfile(user.properties, operation, properties, whose);
  user.properties = profile;
  users.ownProfiles.add(profile);
  tallies.leftOut += leftOut;
}

/** `counters`: the user's counters at the event's instant. */
function applyPayment(taken: Taken, event: SentEvent, payment: SentPayment, counters: UserDay): void {
  const { facts, stored, head, app, user } = taken;
  const { traceId } = payment;
  const { atMs, day, properties } = event;
  const key = orderKeyText({ appId: app.appId, traceId });
  if (stored.orders.has(key)) return;
  stored.orders.add(key);
  const conversion = convertToCents(payment.amount, payment.currency, app);
  const cents = conversion.kind === "converted" ? conversion.cents : 0;
  addPayment(user, { cents, atMs, method: payment.method, reason: payment.reason });
  countPayment(counters, cents);
  facts.tallies.orders.push({
    appId: app.appId,
    clientId: user.clientId,
    traceId,
    day,
    atMs,
    receivedAtMs: head.at,
    cents,
    currency: payment.currency || app.currency,
    sentAmount: roundHalfAway(payment.amount),
    hasRate: conversion.kind === "converted",
    payCount: user.payCount,
    isVirtual: payment.isVirtual,
    properties: event.propertiesText,
    postbackStatus: SHOWN_WITHOUT_POSTBACK,
    passStatus: PASS_STATUS.held,
    registeredDay: user.registeredDay,
    adPlatform: user.adPlatform,
  });
  const order = { atMs, day, receivedAtMs: head.at, cents, payCount: user.payCount, traceId, properties };
  noteMoments(facts, user, () => orderMoments(order, user.registeredDay));
}

/** Keeps the refunds of a stranger for their orders. They name no client, who may have been erased. */
function noteRefunds(facts: Facts, app: AppSetting, { events, head }: EventsEntry): void {
  for (const { refund, day, atMs } of events)
    if (refund) noteRefund(facts, app, { ...refund, clientId: NOBODY, day, atMs, receivedAtMs: head.at });
}

/** Keeps a refund for its order. It is not an activity of the user: usually the app's own systems report it. */
function takeRefund({ facts, head, app, user }: Taken, { day, atMs }: SentEvent, refund: SentRefund): void {
  facts.users.put(user);
  noteRefund(facts, app, { ...refund, clientId: user.clientId, day, atMs, receivedAtMs: head.at });
}

/** Notes names that the app has not used before. Only collect may bring new ones. */
function noteNames({ facts, stored, head }: Taken, { shape }: SentEvent): void {
  if (head.kind !== "collect" || stored.noted.has(shape)) return;
  stored.noted.add(shape);
  const { type, event, names } = shape;
  const { app: appId, at: atMs } = head;
  const { observed } = facts.tallies;
  if (type === "track" && !PRESET_EVENTS.has(event) && stored.names.add(appId, "event", event)) {
    observed.push({ appId, kind: "event", name: event, atMs });
  }
  if (event === "profile_delete" || event === "profile_unset") return;
  const kind = type === "profile" ? "user_property" : "event_property";
  const known = stored.names.of(appId, kind);
  for (const name of names) {
    if (known.has(name) || isPresetProperty(name)) continue;
    if (stored.names.add(appId, kind, name)) observed.push({ appId, kind, name, atMs });
  }
}
