import type { UserAccount } from "../db/user-account.ts";
import { deviceOf, mergeDevice } from "../domain/device.ts";
import { cleanId, cleanValue } from "../domain/identity.ts";
import { isObject, type JsonObject } from "../domain/json.ts";
import { placeOf } from "../domain/place.ts";
import type { EntryHead } from "../journal/entry.ts";
import { type AdIds, adDataOf, fieldsOf, NO_AD_IDS } from "../platform/platform.ts";
import { platformNamed, readLaunchQuery } from "../platform/registry.ts";
import { textOf } from "./decode.ts";
import { type Facts, newUser } from "./facts.ts";

/** register, initialize, attributed, device_info and update_data: everything that is about the user itself. */
export function applyUserEntry(facts: Facts, head: EntryHead, body: JsonObject): void {
  const known = facts.user({ appId: head.app, clientId: head.client });
  switch (head.kind) {
    case "register":
    case "initialize":
    case "attributed":
      facts.putUser(known?.isRegistered ? registeredAgain(known, body) : registered(facts, head, body, known));
      return;
    case "device_info":
      if (known) facts.putUser(withDevice(known, isObject(body.data) ? body.data : {}));
      return;
    case "update_data":
      if (known) facts.putUser(withIds(known, body));
      return;
    case "collect":
    case "consumer_event":
    case "handle_event":
    case "reset_client_id":
      throw new Error(`A ${head.kind} entry is not about the user itself.`);
  }
}

/** The first registration: it fixes the instant, the source and the place. */
function registered(facts: Facts, head: EntryHead, body: JsonObject, implicit: UserAccount | undefined): UserAccount {
  const app = facts.app(head.app);
  const history = isObject(body.history_info) ? body.history_info : undefined;
  const key = { appId: head.app, clientId: head.client };
  const user = implicit ?? newUser(key, instantOf(head, body, history), app);
  const ip = textOf(head.kind === "attributed" ? body.active_ip : body.client_ip) || head.ip;
  Object.assign(user, {
    isRegistered: true,
    name: textOf(body.name),
    channel: textOf(body.channel),
    version: typeof body.version === "number" ? body.version : 0,
    isHistory: history !== undefined,
    ip,
    ua: textOf(body.client_ua) || head.ua,
    ...placeOf(ip),
    ...(head.kind === "attributed" ? reportedSource(body) : launchSource(body, history)),
  });
  facts.putUser(user);
  // The registration itself makes its day an active one.
  facts.day(user, user.registeredAtMs);
  return withDevice(withIds(user, body), isObject(body.device_info) ? body.device_info : {});
}

const TIME_UNTIL_MS = Date.UTC(2100, 0, 1);

function instantOf(head: EntryHead, body: JsonObject, history: JsonObject | undefined): number {
  const given = head.kind === "attributed" ? body.active_time : history?.create_time;
  return typeof given === "number" && given > 0 && given < TIME_UNTIL_MS ? Math.floor(given) : head.at;
}

type Source = Pick<UserAccount, "adPlatform" | "turboPromotedObjectId" | "touchedAtMs" | "adData" | "reported"> & AdIds;

function launchSource(body: JsonObject, history: JsonObject | undefined): Source {
  const adData = isObject(body.ad_data) ? body.ad_data : {};
  const source = readLaunchQuery(adData);
  const campaign = cleanValue(body.promoted_object_id) || cleanValue(adData.turbo_promoted_object_id);
  const company = history ? (platformNamed(cleanValue(history.company))?.name ?? "") : "";
  return {
    adPlatform: company || (source?.platform.name ?? ""),
    turboPromotedObjectId: campaign,
    touchedAtMs: null,
    adData: source?.adData ?? adData,
    reported: null,
    ...(source?.ids ?? NO_AD_IDS),
  };
}

/** The fields of the interface; whatever else a caller adds is not ours to keep. */
const REPORTED = [
  ...["name", "channel", "version", "turbo_promoted_object_id", "active_time", "active_ip", "click_time", "click_ip"],
  ...["click_company", "ad_data", "os_type"],
];

function reportedSource(body: JsonObject): Source {
  const platform = platformNamed(cleanValue(body.click_company));
  const adData = isObject(body.ad_data) && platform ? adDataOf(body.ad_data, platform.name) : {};
  const clickTime =
    typeof body.click_time === "number" && body.click_time > 0 ? Math.floor(body.click_time) : undefined;
  const activeTime = typeof body.active_time === "number" ? Math.floor(body.active_time) : null;
  return {
    adPlatform: platform?.name ?? "",
    turboPromotedObjectId: cleanValue(body.turbo_promoted_object_id),
    touchedAtMs: platform ? (clickTime ?? activeTime) : null,
    adData,
    reported: Object.fromEntries(REPORTED.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]]))),
    ...(platform ? platform.readIds(fieldsOf(adData)) : NO_AD_IDS),
  };
}

/** A second registration brings name, version, ids and device up to date, and leaves instant and source alone. */
function registeredAgain(user: UserAccount, body: JsonObject): UserAccount {
  user.name = textOf(body.name) || user.name;
  if (typeof body.version === "number") user.version = body.version;
  return withDevice(withIds(user, body), isObject(body.device_info) ? body.device_info : {});
}

function withIds(user: UserAccount, body: JsonObject): UserAccount {
  user.wxOpenid = cleanId(body.wx_openid) || user.wxOpenid;
  user.wxUnionid = cleanId(body.wx_unionid) || user.wxUnionid;
  if (cleanId(body.click_id) !== "") user.adData = { ...user.adData, click_id: cleanId(body.click_id) };
  const os = osOf(textOf(body.os_type));
  if (os !== "unknown") user.osPlatform = os;
  return user;
}

function withDevice(user: UserAccount, sent: JsonObject): UserAccount {
  if (Object.keys(sent).length === 0) return user;
  user.device = mergeDevice(user.device ?? undefined, deviceOf(sent));
  if (user.osPlatform === "unknown") user.osPlatform = osOf(user.device.os_name);
  return user;
}

/** The device type of the reports, from os_type, os_name or `$os`, which every client spells in its own way. */
export function osOf(text: string): "ios" | "android" | "unknown" {
  const lower = text.toLowerCase();
  if (/^(ios|iphone|ipad)/.test(lower)) return "ios";
  return lower.startsWith("android") ? "android" : "unknown";
}
