import { isIP } from "node:net";
import type { AccountKey } from "../db/platform-account.ts";
import type { PostbackEventType } from "../domain/postback/postback.ts";
import { readToldType } from "../domain/postback/postback-request.ts";
import { readCode } from "../domain/postback/postback-rule-fields.ts";
import { TEST_DEVICE_FIELDS } from "../domain/postback/postback-test.ts";
import { deviceOf } from "../domain/user/device.ts";
import { readClientId } from "../domain/user/identity.ts";
import { ApiError } from "../errors.ts";
import { LIMITS } from "../limits.ts";
import { readAccountPlatform, readAdvertiserId } from "../platform/account.ts";
import { CODED, type Connectors } from "../platform/connectors.ts";
import { clickFieldsOf, clickKeysOf, testMarkOf } from "../platform/test-click.ts";
import type { ParcelUser } from "./parcel.ts";

type Texts = Readonly<Record<string, string>>;

/** A wish for a test, as given. */
export type GivenTest = {
  app_id: number;
  ad_platform: string;
  advertiser_id?: string | undefined;
  event_type: string;
  code?: string | undefined;
  value_cents?: number | undefined;
  client_id?: string | number | undefined;
  click?: Texts | undefined;
  device?: Texts | undefined;
  mark?: "on" | "off" | undefined;
};

/** One conversion to report now through one account: of a known user, or of a click that somebody names. */
export type TestWish = {
  account: AccountKey;
  eventType: PostbackEventType;
  /** The platform's own code; empty for the usual one. */
  code: string;
  valueCents: number | null;
  mark: "on" | "off";
  of: { kind: "user"; clientId: string } | { kind: "click"; click: Texts; user: ParcelUser };
};

/** What a test at a platform needs: the keys of a click, and the platform's mark of tests. */
export function testFormOf(
  platform: string,
  connectors: Connectors = CODED,
): { keys: readonly string[]; mark: string } {
  const adPlatform = readTestedPlatform(platform, connectors);
  return { keys: clickKeysOf(adPlatform), mark: testMarkOf(adPlatform) };
}

function readTestedPlatform(text: string, connectors: Connectors): string {
  const adPlatform = readAccountPlatform(text, connectors);
  if (!connectors.postbackOf(adPlatform)) throw bad(`${adPlatform} does not accept postbacks.`);
  return adPlatform;
}

export function readTest(given: GivenTest, connectors: Connectors = CODED): TestWish {
  const adPlatform = readTestedPlatform(given.ad_platform, connectors);
  return {
    account: { appId: given.app_id, adPlatform, advertiserId: readAdvertiserId(given.advertiser_id ?? "") },
    eventType: readToldType(given.event_type),
    code: readCode(given.code ?? ""),
    valueCents: given.value_cents ?? null,
    mark: given.mark ?? "on",
    of: given.client_id === undefined ? readClick(adPlatform, given) : readUser(given),
  };
}

function readUser({ client_id, click, device }: GivenTest): TestWish["of"] {
  if (click ?? device) throw bad("Name either client_id or a click, not both: a user's own click and ids are sent.");
  return { kind: "user", clientId: readClientId(client_id) };
}

function readClick(adPlatform: string, { click = {}, device = {} }: GivenTest): TestWish["of"] {
  const keys = clickKeysOf(adPlatform).join(", ");
  const [named, known] = [withValue("click", click), withValue("device", device)];
  if (Object.keys(named).length + Object.keys(known).length === 0)
    throw bad(`Name a user by client_id, or a click by one of its keys at ${adPlatform}: ${keys}.`);
  const fields = clickFieldsOf(adPlatform);
  const stray = Object.keys(named).find((name) => !fields.has(name));
  if (stray !== undefined)
    throw bad(`click: ${adPlatform} has no field ${JSON.stringify(stray)}; a click's keys are ${keys}.`);
  return { kind: "click", click: named, user: readDevice(known) };
}

const OS_NAMES = ["android", "ios", "harmony"];
const ID_FIELDS = ["oaid", "imei", "idfa", "android_id"];

function readDevice(device: Texts): ParcelUser {
  const stray = Object.keys(device).find((name) => !(TEST_DEVICE_FIELDS as readonly string[]).includes(name));
  if (stray !== undefined)
    throw bad(`device: there is no field ${JSON.stringify(stray)}; its fields are ${TEST_DEVICE_FIELDS.join(", ")}.`);
  const { os = "", ip = "", ua = "", wx_openid: wxOpenid = "", wx_unionid: wxUnionid = "" } = device;
  if (os !== "" && !OS_NAMES.includes(os)) throw bad(`device: os must be one of ${OS_NAMES.join(", ")}.`);
  if (ip !== "" && isIP(ip) === 0) throw bad("device: ip is not an address.");
  const hasIds = ID_FIELDS.some((name) => device[name] !== undefined);
  return {
    clientId: "",
    wxOpenid,
    wxUnionid,
    osPlatform: os,
    ip,
    ua,
    device: hasIds ? deviceOf({ ...device, os_name: os }) : null,
  };
}

/** The entries that have a value, without the spaces that come with copying. */
function withValue(what: string, texts: Texts): Texts {
  const given = Object.entries(texts).map(([name, text]) => [name, text.trim()] as const);
  const long = given.find(([, text]) => Buffer.byteLength(text) > LIMITS.linkValueBytes);
  if (long) throw bad(`${what}: ${long[0].slice(0, 40)} is longer than ${LIMITS.linkValueBytes} bytes.`);
  return Object.fromEntries(given.filter(([, text]) => text !== ""));
}

function bad(message: string): ApiError {
  return new ApiError("badParameter", message);
}
