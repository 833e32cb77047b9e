import type { UserAccount } from "../../db/user-account.ts";
import type { Subject, Verdict } from "../../domain/attribution/attribution.ts";
import type { Launch, Source } from "../../domain/attribution/launch.ts";
import { type AdIds, NO_AD_IDS, type Touch } from "../../domain/attribution/touch.ts";
import { clickKeys, deviceKeys, ipUaKeys, type Key, openIdKeys } from "../../domain/attribution/touch-key.ts";
import { dimensionText } from "../../domain/cube.ts";
import { isObject, type JsonObject } from "../../domain/json.ts";
import { cleanId, cleanValue } from "../../domain/user/identity.ts";
import { apple, appleTouchedAtMs } from "../../platform/apple/link.ts";
import { adDataOf, fieldsOf, type Platform } from "../../platform/platform.ts";
import { PLATFORMS_WITH_LINKS, platformNamed, platformOfLink, readLaunchQuery } from "../../platform/registry.ts";

/** The source that the user's own data names: the launch query, or Apple's answer. */
type LaunchSource = { platform: Platform; ids: AdIds; adData: JsonObject };

/** A registration, or a return, that is to be attributed. */
export type Arrival = { atMs: number; launch: Launch; ip: string; ua: string };

export function launchOf(body: JsonObject, history: JsonObject | undefined): Launch {
  const adData = isObject(body.ad_data) ? body.ad_data : {};
  const campaignId =
    cleanValue(body.promoted_object_id) ||
    cleanValue(body.turbo_promoted_object_id) ||
    cleanValue(adData.turbo_promoted_object_id);
  const clickId = cleanId(body.click_id);
  const mediaType = cleanValue(body.media_type);
  return {
    ...(Object.keys(adData).length > 0 && { adData }),
    ...(campaignId !== "" && { campaignId }),
    ...(clickId !== "" && { clickId }),
    ...(mediaType !== "" && { mediaType }),
    ...(history && { company: platformNamed(cleanValue(history.company))?.name ?? "" }),
  };
}

export function registrationOf(user: UserAccount): Arrival {
  return { atMs: user.registeredAtMs, launch: user.launch, ip: user.ip, ua: user.ua };
}

/** `campaigns`: the platform of a campaign, by its id. */
export function subjectOf(user: UserAccount, arrival: Arrival, campaigns: (id: string) => string | undefined): Subject {
  const launch = launchSource(arrival.launch)?.platform.name;
  const id = launch === undefined ? (arrival.launch.campaignId ?? "") : "";
  const platform = id === "" ? undefined : platformOfLink(campaigns(id) ?? "")?.name;
  const campaign = platform === undefined ? undefined : { id, platform };
  return { atMs: arrival.atMs, launch, campaign, reported: reportedPlatform(user) };
}

/** The platform reported by an attributed registration or by history, which is final. */
function reportedPlatform(user: UserAccount): string | undefined {
  if (user.reported) return platformNamed(cleanValue(user.reported.click_company))?.name ?? "";
  return user.launch.company || undefined;
}

export function keysOf(user: UserAccount, arrival: Arrival): Key[] {
  return [
    ...launchKeys(arrival.launch),
    ...(user.device ? deviceKeys(user.device) : []),
    ...openIdKeys(user.wxOpenid),
    ...ipUaKeys([arrival.ip], arrival.ua),
  ];
}

/** Every key under which the user can be found, as a registration and as a return. */
export function allKeysOf(user: UserAccount): string[] {
  const arrivals = [registrationOf(user), ...(user.returned ? [user.returned] : [])];
  return arrivals.flatMap((arrival) => keysOf(user, arrival)).map((key) => key.value);
}

function launchKeys(launch: Launch): Key[] {
  const source = launchSource(launch);
  const clickId = launch.clickId ?? "";
  if (!source && clickId === "") return [];
  const named = source?.platform ?? platformNamed(launch.mediaType ?? "");
  const field = fieldsOf({ ...source?.adData, ...(clickId !== "" && { click_id: clickId }) });
  // A click id without a known platform can belong to any platform with links, or to a custom one of that name.
  const other = platformOfLink(launch.mediaType ?? "");
  const any = clickId === "" ? [] : [...PLATFORMS_WITH_LINKS, ...(other ? [other] : [])];
  const platforms = named ? [named] : any;
  const keys: Key[] = [];
  for (const platform of platforms) {
    for (const key of clickKeys(platform.name, cleanIds(platform.launchClickIds(field)))) keys.push(key);
  }
  return keys;
}

function cleanIds(ids: readonly unknown[]): string[] {
  const clean: string[] = [];
  for (const one of ids) {
    const id = cleanId(one);
    if (id !== "") clean.push(id);
  }
  return clean;
}

/** Sources by launch: each decision asks for its keys, its subject and its source, and a launch never changes. */
const launchSources = new WeakMap<Launch, LaunchSource | undefined>();

function launchSource(launch: Launch): LaunchSource | undefined {
  if (!launch.adData && !launch.apple) return undefined;
  if (launchSources.has(launch)) return launchSources.get(launch);
  const source = readLaunchSource(launch);
  launchSources.set(launch, source);
  return source;
}

function readLaunchSource(launch: Launch): LaunchSource | undefined {
  const source = readLaunchQuery(launch.adData ?? {});
  if (source || !launch.apple) return source;
  return { platform: apple, ids: apple.readIds(fieldsOf(launch.apple)), adData: launch.apple };
}

/** The source that a user has at the moment. */
export function heldSource(user: UserAccount): Source {
  const { adPlatform, campaignId, touchedAtMs, adData, method, advertiserId, gid, aid, cid, csite } = user;
  return { adPlatform, campaignId, touchedAtMs, adData, method, advertiserId, gid, aid, cid, csite };
}

/** The user's source columns for a verdict. */
export function sourceOf(user: UserAccount, arrival: Arrival, verdict: Verdict): Source {
  const source = fullSource(user, arrival, verdict);
  return {
    adPlatform: source.adPlatform,
    method: source.method,
    touchedAtMs: source.touchedAtMs,
    adData: source.adData,
    campaignId: dimensionText(source.campaignId),
    advertiserId: dimensionText(source.advertiserId),
    gid: dimensionText(source.gid),
    aid: dimensionText(source.aid),
    cid: dimensionText(source.cid),
    csite: dimensionText(source.csite),
  };
}

function fullSource(user: UserAccount, arrival: Arrival, verdict: Verdict): Source {
  if (user.reported) return reportedSource(user.reported);
  const own = launchSource(arrival.launch);
  const campaignId = arrival.launch.campaignId ?? "";
  const clickId = arrival.launch.clickId ?? "";
  const adData = { ...(own?.adData ?? arrival.launch.adData), ...(clickId !== "" && { click_id: clickId }) };
  if (verdict.kind === "organic") {
    return { adPlatform: "", method: "", campaignId, touchedAtMs: null, adData, ...NO_AD_IDS };
  }
  const { method, platform, touch } = verdict;
  const ownIds = own?.platform.name === platform ? own.ids : NO_AD_IDS;
  if (!touch) {
    const touchedAtMs = platform === apple.name ? appleTouchedAtMs(fieldsOf(adData)) : null;
    return { adPlatform: platform, method, campaignId, touchedAtMs, adData, ...ownIds };
  }
  return {
    adPlatform: platform,
    method,
    campaignId: touch.campaignId || campaignId,
    touchedAtMs: touch.touchedAtMs,
    adData: { ...(ownIds === NO_AD_IDS ? {} : adData), ...touchAdData(touch) },
    advertiserId: touch.advertiserId || ownIds.advertiserId,
    gid: touch.gid || ownIds.gid,
    aid: touch.aid || ownIds.aid,
    cid: touch.cid || ownIds.cid,
    csite: touch.csite || ownIds.csite,
  };
}

/** A touch as ad_data, in its platform's own field names. */
function touchAdData(touch: Touch): JsonObject {
  const { advertiserId: advertiser_id, gid, aid, cid, csite, details } = touch;
  const ids: Readonly<Record<string, string>> = { advertiser_id, gid, aid, cid, csite };
  const adData: JsonObject = {};
  for (const [name, parameter] of platformOfLink(touch.platform)?.adData ?? []) {
    const value = ids[parameter] ?? details[parameter];
    if (value) adData[name] = value;
  }
  return adData;
}

function reportedSource(body: JsonObject): Source {
  const platform = platformNamed(cleanValue(body.click_company));
  const adData = isObject(body.ad_data) && platform ? adDataOf(body.ad_data, platform.name) : {};
  const clickTime =
    typeof body.click_time === "number" && body.click_time > 0 ? Math.floor(body.click_time) : undefined;
  const activeTime = typeof body.active_time === "number" ? Math.floor(body.active_time) : null;
  return {
    adPlatform: platform?.name ?? "",
    method: "reported",
    campaignId: cleanValue(body.turbo_promoted_object_id),
    touchedAtMs: platform ? (clickTime ?? activeTime) : null,
    adData,
    ...(platform ? platform.readIds(fieldsOf(adData)) : NO_AD_IDS),
  };
}
