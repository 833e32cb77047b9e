import type { CallContext, Conversion } from "../connector/connector.ts";
import { deviceIdsOf, osOf } from "../connector/device-ids.ts";
import { secondsOf, yuanOf } from "../connector/prepared.ts";
import { fieldsOf } from "../platform.ts";

/** What a call is made of. `code` is the platform's code for the conversion. */
export type Source = { conversion: Conversion; context: CallContext; code: string };

export type Placeholder = {
  name: string;
  hint: string;
  /** The empty text when there is no value. */
  of: (source: Source) => string;
};

const ofTouch = (name: string, hint: string): Placeholder => ({
  name,
  hint,
  of: ({ conversion }) => fieldsOf(conversion.adData)(name),
});

const ofDevice = (name: string, hint: string, of: (ids: ReturnType<typeof deviceIdsOf>) => string): Placeholder => ({
  name,
  hint,
  of: ({ conversion }) => of(deviceIdsOf(conversion)),
});

/** What ties a conversion to its ad: a declaration that uses none of these would tell the platform nothing. */
const TIES: readonly Placeholder[] = [
  ofTouch("click_id", "Id of the click, as the link or launch query brought it"),
  ofTouch("callback", "Callback token or address, as the link brought it"),
  ofDevice("oaid", "OAID", ({ oaid }) => oaid),
  ofDevice("oaid_md5", "MD5 of the OAID", ({ oaidMd5 }) => oaidMd5),
  ofDevice("imei_md5", "MD5 of the IMEI", ({ imeiMd5 }) => imeiMd5),
  ofDevice("idfa", "IDFA", ({ idfa }) => idfa),
  ofDevice("idfa_md5", "MD5 of the IDFA", ({ idfaMd5 }) => idfaMd5),
  ofDevice("android_id_md5", "MD5 of the Android id", ({ androidIdMd5 }) => androidIdMd5),
  { name: "wx_openid", hint: "WeChat openid of the user", of: ({ conversion }) => conversion.user.wxOpenid },
];

export const TIE_NAMES: readonly string[] = TIES.map(({ name }) => name);

/** The amount, without which an order's money does not count as told. */
const AMOUNTS: readonly Placeholder[] = [
  {
    name: "amount_yuan",
    hint: "Amount in yuan with two decimals; none for conversions without one",
    of: ({ conversion: { cents } }) => (cents === null ? "" : yuanOf(cents)),
  },
  {
    name: "amount_fen",
    hint: "Amount in fen; none for conversions without one",
    of: ({ conversion: { cents } }) => (cents === null ? "" : String(cents)),
  },
];

export const AMOUNT_NAMES: readonly string[] = AMOUNTS.map(({ name }) => name);

/** Platforms that write numbers for systems agree on these two. */
const OS_NUMBERS: Readonly<Record<string, string>> = { android: "0", ios: "1" };

/** All placeholders except the account's fields, the signature and the body. A closed list. */
export const PLACEHOLDERS: readonly Placeholder[] = [
  ...TIES,
  {
    name: "advertiser_id",
    hint: "Advertiser of the ad, else of the account",
    of: ({ conversion, context }) => fieldsOf(conversion.adData)("advertiser_id") || context.account("advertiser_id"),
  },
  ofTouch("gid", "Plan of the ad"),
  ofTouch("aid", "Ad"),
  ofTouch("cid", "Creative"),
  { name: "ip", hint: "Address of the user", of: ({ conversion }) => conversion.user.ip },
  { name: "ua", hint: "User agent of the user", of: ({ conversion }) => conversion.user.ua },
  {
    name: "os",
    hint: "android, ios or another system's name",
    of: ({ conversion }) => systemNameOf(conversion),
  },
  {
    name: "os_number",
    hint: "0 for Android, 1 for iOS",
    of: ({ conversion }) => OS_NUMBERS[systemNameOf(conversion)] ?? "",
  },
  { name: "code", hint: "The platform's code for the conversion, see codes", of: ({ code }) => code },
  { name: "event", hint: "Our event type, such as pay", of: ({ conversion }) => conversion.eventType },
  {
    name: "time_s",
    hint: "When it happened, in seconds",
    of: ({ conversion }) => String(secondsOf(conversion.atMs)),
  },
  { name: "time_ms", hint: "When it happened, in milliseconds", of: ({ conversion }) => String(conversion.atMs) },
  { name: "now_s", hint: "When it is sent, in seconds", of: ({ context }) => String(secondsOf(context.nowMs)) },
  { name: "now_ms", hint: "When it is sent, in milliseconds", of: ({ context }) => String(context.nowMs) },
  ...AMOUNTS,
  { name: "order_id", hint: "The order; none when it is not an order", of: ({ conversion }) => conversion.orderId },
  { name: "id", hint: "Id of the conversion, the same in every attempt", of: ({ conversion }) => conversion.dedupeId },
  { name: "client_id", hint: "The user's id in the app", of: ({ conversion }) => conversion.user.clientId },
  { name: "nonce", hint: "32 random hexadecimal digits, new in every attempt", of: ({ context }) => context.nonce },
];

function systemNameOf(conversion: Conversion): string {
  const os = osOf(conversion);
  return os === "unknown" ? "" : os;
}

/** The signature, and what only the signature can be made of. */
export const SIGN = "sign";
export const BODY = "body";

/** How a template names a field of the account. */
export const ACCOUNT_PREFIX = "account.";

const BY_NAME: ReadonlyMap<string, Placeholder> = new Map(PLACEHOLDERS.map((one) => [one.name, one]));

export function isPlaceholder(name: string): boolean {
  return BY_NAME.has(name);
}

/** The value of a placeholder or of a field of the account. */
export function valueFor(name: string, source: Source): string {
  if (name.startsWith(ACCOUNT_PREFIX)) return source.context.account(name.slice(ACCOUNT_PREFIX.length));
  const placeholder = BY_NAME.get(name);
  if (!placeholder) throw new Error(`There is no placeholder ${name}.`);
  return placeholder.of(source);
}
