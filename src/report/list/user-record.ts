import type { OrderListRecord, UserListRecord } from "../../contract/report/list-record.ts";
import type { AppRules } from "../../db/app.ts";
import type { UserAccount } from "../../db/user-account.ts";
import { ORGANIC } from "../../domain/attribution/attribution.ts";
import { calendarOf } from "../../domain/calendar.ts";
import type { JsonValue } from "../../domain/json.ts";
import type { Device } from "../../domain/user/device.ts";

const EMPTY = "empty";
const OS_NUMBERS: Readonly<Record<string, number>> = { android: 1, ios: 2, harmony: 3 };

/** The properties of a user's profile that records show. */
export const SHOWN_PROPERTIES = [
  "$brand",
  "$channel",
  "$first_scene",
  "$first_visit_time",
  "$gender",
  "$manufacturer",
  "$model",
  "$name",
  "$os",
  "$ta_account_id",
  "$ta_distinct_id",
] as const;

type ShownProperty = (typeof SHOWN_PROPERTIES)[number];

/** The fields that records of users and of orders have in common. */
type SharedRecord = Pick<UserListRecord, Extract<keyof UserListRecord, keyof OrderListRecord>>;

/** A record of the user list, with the interface's field names. */
export function userListRecord(user: UserAccount, app: Pick<AppRules, "timeZone">): UserListRecord {
  return {
    ...sharedFields(user, app),
    user$first_visit_time: propertyOf(user, "$first_visit_time"),
    user$name: propertyOf(user, "$name"),
    re_attribute_info: reAttributeInfo(user, app),
    device_info: deviceFields(user.device, user.osPlatform),
  };
}

/**
 * Payments in cents; ad revenue in major units with up to 6 decimals; eCPM in major units per thousand.
 * One literal without a spread: V8 creates it at once, but adds fields after a spread one by one, many times slower.
 */
export function sharedFields(user: UserAccount, app: Pick<AppRules, "timeZone">): SharedRecord {
  const property = (name: ShownProperty): JsonValue => propertyOf(user, name);
  return {
    CreateTime: calendarOf(app.timeZone).textOf(user.registeredAtMs),
    ClientID: user.clientId,
    AdPlatform: user.adPlatform || ORGANIC,
    Channel: user.channel,
    Version: user.version,
    TurboPromotedObjectID: user.campaignId,
    Name: user.name,
    WXOpenID: user.wxOpenid,
    AdvertiserID: user.advertiserId,
    AdAid: user.aid,
    AdGid: user.gid,
    AdCid: user.cid,
    CSite: user.csite,
    LatestLoginDay: (user.latestLoginDay ?? "").replaceAll("-", ""),
    user$ad_24h_avg_ecpm: averageEcpm(user.ad24hMicros, user.ad24hCount),
    user$ad_24h_count: user.ad24hCount,
    user$ad_24h_ltv: user.ad24hMicros / 1e6,
    user$ad_avg_ecpm: averageEcpm(user.adMicros, user.adCount),
    user$ad_count: user.adCount,
    user$ad_ltv: user.adMicros / 1e6,
    user$ad_max_ecpm: user.adMaxEcpmMicros / 1e6,
    user$first_pay_method: user.firstPayMethod,
    user$first_pay_reason: user.firstPayReason,
    user$first_pay_time: user.firstPayAtMs === null ? "" : calendarOf(app.timeZone).textOf(user.firstPayAtMs),
    user$interstitial_ad_24_ltv: user.interstitialAd24hMicros / 1e6,
    user$interstitial_ad_count: user.interstitialAdCount,
    user$interstitial_ad_ltv: user.interstitialAdMicros / 1e6,
    user$interstitial_ad_max_ecpm: user.interstitialAdMaxEcpmMicros / 1e6,
    user$pay_amount_sum: user.payCents,
    user$pay_count: user.payCount,
    user$pay_max_amount: user.payMaxCents,
    user$reward_ad_24h_ltv: user.rewardAd24hMicros / 1e6,
    user$reward_ad_count: user.rewardAdCount,
    user$reward_ad_ltv: user.rewardAdMicros / 1e6,
    user$reward_ad_max_ecpm: user.rewardAdMaxEcpmMicros / 1e6,
    user$brand: property("$brand"),
    user$channel: property("$channel"),
    user$city: user.city,
    user$country: user.country,
    user$first_scene: property("$first_scene"),
    user$gender: property("$gender"),
    user$manufacturer: property("$manufacturer"),
    user$model: property("$model"),
    user$os: property("$os"),
    user$province: user.province,
    user$ta_account_id: property("$ta_account_id"),
    user$ta_distinct_id: property("$ta_distinct_id"),
  };
}

function propertyOf(user: UserAccount, name: ShownProperty): JsonValue {
  return user.properties[name] ?? "";
}

/** Null for a user whom no return has moved. The user's own fields are those of the current decision. */
function reAttributeInfo(user: UserAccount, app: Pick<AppRules, "timeZone">): UserListRecord["re_attribute_info"] {
  const { returned } = user;
  if (!returned || user.decisionNumber <= 1) return null;
  const calendar = calendarOf(app.timeZone);
  return {
    ReAttributeAdAid: user.aid,
    ReAttributeAdCid: user.cid,
    ReAttributeAdGid: user.gid,
    ReAttributeAdPlatform: user.adPlatform,
    ReAttributeAdvertiserID: user.advertiserId,
    ReAttributeCSite: user.csite,
    ReAttributeChannel: user.channel,
    // A later visit that changed nothing has replaced the return that did; `beforeMs` is the time of that return.
    ReAttributeCreateTime: calendar.textOf(returned.number > 0 ? returned.atMs : returned.beforeMs),
    ReAttributeTurboPromotedObjectID: user.campaignId,
    ReAttributeRetargetingCount: user.decisionNumber - 1,
    ReAttributeAdClickTime: user.touchedAtMs === null ? "" : calendar.textOf(user.touchedAtMs),
  };
}

/** Ad revenue per thousand views, to 4 decimals. */
function averageEcpm(micros: number, count: number): number {
  return count === 0 ? 0 : Math.round((micros * 10) / count) / 1e4;
}

function deviceFields(device: Device | null, osPlatform: string): UserListRecord["device_info"] {
  const text = (value: string | undefined) => value || EMPTY;
  return {
    DeviceId: 0,
    OS: OS_NUMBERS[device?.os_name ?? ""] ?? OS_NUMBERS[osPlatform] ?? 0,
    Idfa: text(device?.idfa),
    Idfv: text(device?.idfv),
    Caid1: text(device?.caid1_md5),
    Caid2: text(device?.caid2_md5),
    Oaid: text(device?.oaid),
    Imei: text(device?.imei),
    AndroidId: text(device?.android_id),
    Android_Version: text(device?.android_version),
    Api_Version: device?.api_version ?? 0,
    Rom: text(device?.rom),
    Rom_version: text(device?.rom_version),
    Aspect_Ratio: EMPTY,
    Phone_Brand: text(device?.phone_brand),
    Phone_Model: text(device?.phone_model),
  };
}
