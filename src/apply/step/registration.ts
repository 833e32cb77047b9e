import type { UserAccount } from "../../db/user-account.ts";
import type { Rules } from "../../domain/attribution/attribution-rules.ts";
import { DAY_MS } from "../../domain/calendar.ts";
import { dimensionText } from "../../domain/cube.ts";
import { isObject, type JsonObject, textOf } from "../../domain/json.ts";
import { registrationMoments } from "../../domain/postback/postback-moment.ts";
import { deviceOf, mergeDevice } from "../../domain/user/device.ts";
import { cleanId } from "../../domain/user/identity.ts";
import { systemOf } from "../../domain/user/operating-system.ts";
import { placeOf } from "../../domain/user/place.ts";
import type { EntryHead } from "../../journal/entry.ts";
import { LIMITS } from "../../limits.ts";
import type { UserEntry } from "../entry/decode.ts";
import { countersAt, lastSeenMs, noteMoments } from "../facts/activity.ts";
import type { Facts } from "../facts/facts.ts";
import { newUser } from "../facts/new-user.ts";
import { keysAtHand } from "./attribution.ts";
import { launchOf } from "./source.ts";

/** Applies register, initialize, attributed, device_info, update_data and Apple's answer. */
export function applyUserEntry(facts: Facts, entry: UserEntry): void {
  const { head, body } = entry;
  const { users, tallies } = facts;
  const known = users.find(entry.user);
  if (known?.isRegistered) users.open.pastKeys.push(...keysAtHand(facts, known));
  switch (head.kind) {
    case "register":
    case "initialize":
    case "attributed":
      users.put(known?.isRegistered ? registeredAgain(facts, known, entry) : registered(facts, entry, known));
      users.open.hear(entry.user, entry.from);
      return;
    case "device_info":
      if (!known) return;
      users.put(withDevice(known, isObject(body.data) ? body.data : {}));
      users.open.hear(known, entry.from);
      return;
    case "update_data":
      if (!known) return;
      users.put(withClickId(withIds(known, body), body));
      users.open.hear(known, entry.from);
      return;
    case "apple_attribution":
      if (!known) return;
      tallies.asaTokens.push({ kind: "resolved", ...entry.user, outcome: textOf(body.outcome) });
      if (!isObject(body.attribution)) return;
      known.launch = { ...known.launch, apple: body.attribution };
      users.put(known);
      users.open.hear(known, entry.from);
      return;
    case "click":
    case "impression":
    case "collect":
    case "consumer_event":
    case "handle_event":
    case "reset_client_id":
    case "erase":
    case "refunds":
      throw new Error(`A ${head.kind} entry is not about the user itself.`);
  }
}

/** The first registration, which fixes the instant, the source and the place. */
function registered(facts: Facts, entry: UserEntry, implicit: UserAccount | undefined): UserAccount {
  const { head, body } = entry;
  const { calendar } = facts.settings.of(head.app);
  const history = isObject(body.history_info) ? body.history_info : undefined;
  const user = implicit ?? newUser(entry.user, instantOf(head, body, history), { calendar });
  const ip = textOf(head.kind === "attributed" ? body.active_ip : body.client_ip) || head.ip;
  Object.assign(user, {
    isRegistered: true,
    registrationReceivedAtMs: head.at,
    name: textOf(body.name),
    channel: dimensionText(textOf(body.channel)),
    version: typeof body.version === "number" ? body.version : 0,
    isHistory: history !== undefined,
    ip,
    ua: textOf(body.client_ua) || head.ua,
    ...placeOf(ip),
    launch: head.kind === "attributed" ? {} : launchOf(body, history),
    reported: head.kind === "attributed" ? reportOf(body) : null,
  });
  facts.users.put(user);
  const at = { atMs: user.registeredAtMs, day: user.registeredDay, receivedAtMs: head.at };
  // The registration makes its day active. The time zone may have changed since the client's first event.
  countersAt(facts, user, { ...at, day: calendar.dayOf(user.registeredAtMs) });
  // Of history nothing is told, and an import registers thousands a second.
  if (!history) noteMoments(facts, user, () => registrationMoments(at));
  noteAsaToken(facts, entry);
  return withDevice(withIds(user, body), isObject(body.device_info) ? body.device_info : {});
}

const TIME_UNTIL_MS = Date.UTC(2100, 0, 1);

function instantOf(head: EntryHead, body: JsonObject, history: JsonObject | undefined): number {
  const given = head.kind === "attributed" ? body.active_time : history?.create_time;
  return typeof given === "number" && given > 0 && given < TIME_UNTIL_MS ? Math.floor(given) : head.at;
}

/** The fields of the interface; any others that a caller adds are not kept. */
const REPORTED = [
  ...["name", "channel", "version", "turbo_promoted_object_id", "active_time", "active_ip", "click_time", "click_ip"],
  ...["click_company", "ad_data", "os_type"],
];

function reportOf(body: JsonObject): JsonObject {
  return Object.fromEntries(REPORTED.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]!]])));
}

/** A second registration updates name, version, ids and device, and leaves instant and source alone. */
function registeredAgain(facts: Facts, user: UserAccount, entry: UserEntry): UserAccount {
  const { head, body } = entry;
  const { rules } = facts.settings.of(user.appId);
  if (rules.app.reattribution && head.kind !== "attributed" && isReturn(user, head)) {
    facts.users.needDecisions(user, entry.from);
    noteReturn(user, head, body, rules.app);
  }
  // The token may not have been ready the first time. After a day it belongs to a later download, which does not count.
  if (head.at < user.registeredAtMs + DAY_MS) noteAsaToken(facts, entry);
  user.name = textOf(body.name) || user.name;
  if (typeof body.version === "number") user.version = body.version;
  return withDevice(withIds(user, body), isObject(body.device_info) ? body.device_info : {});
}

/** Whether a registration is a new return. A return lasts a day: later calls within it are the same visit. */
function isReturn({ registeredAtMs, returned }: UserAccount, { at }: EntryHead): boolean {
  return at >= registeredAtMs + DAY_MS && !(returned && at < returned.atMs + DAY_MS);
}

function noteReturn(user: UserAccount, head: EntryHead, body: JsonObject, rules: Rules): void {
  const seenMs = Math.max(user.registeredAtMs, lastSeenMs(user), user.returned?.atMs ?? 0);
  user.returned = {
    atMs: head.at,
    launch: launchOf(body, undefined),
    ip: textOf(body.client_ip) || head.ip,
    ua: textOf(body.client_ua) || head.ua,
    isReflux: head.at - seenMs >= rules.refluxDays * DAY_MS,
    beforeMs:
      user.returned && user.returned.number > 0 ? user.returned.atMs : (user.returned?.beforeMs ?? user.registeredAtMs),
    number: 0,
  };
}

function noteAsaToken({ tallies }: Facts, { head, body, user }: UserEntry): void {
  const token = textOf(body.asa_token);
  if (head.kind !== "initialize" || token === "" || token.length > LIMITS.asaTokenLength) return;
  tallies.asaTokens.push({ kind: "waiting", ...user, token, receivedAtMs: head.at });
}

/** Adds a click id that comes after the registration; it counts as if it had come with it. */
function withClickId(user: UserAccount, body: JsonObject): UserAccount {
  const { clickId, mediaType } = launchOf(body, undefined);
  if (clickId !== undefined) user.launch = { ...user.launch, clickId, ...(mediaType !== undefined && { mediaType }) };
  return user;
}

function withIds(user: UserAccount, body: JsonObject): UserAccount {
  user.wxOpenid = cleanId(body.wx_openid) || user.wxOpenid;
  user.wxUnionid = cleanId(body.wx_unionid) || user.wxUnionid;
  const os = systemOf(textOf(body.os_type));
  if (os !== "unknown") user.osPlatform = os;
  return user;
}

function withDevice(user: UserAccount, sent: JsonObject): UserAccount {
  if (Object.keys(sent).length === 0) return user;
  user.device = mergeDevice(user.device ?? undefined, deviceOf(sent));
  if (user.osPlatform === "unknown") user.osPlatform = systemOf(user.device.os_name);
  return user;
}
