import { Type } from "typebox";
import { LIMITS } from "../../limits.ts";
import { envelopeSchema } from "../envelope.ts";
import { accessToken, clientId, nonEmptyText, optionalNumber, optionalStruct, optionalText, text } from "../fields.ts";

export const appQuery = Type.Object({ access_token: accessToken });

export const appAndClientQuery = Type.Object({
  access_token: accessToken,
  client_id: Type.Optional(
    Type.String({ description: "The id used at registration", maxLength: LIMITS.clientIdLength }),
  ),
});

/** Sent by apps on ios and android. Every field except os_name may be missing: SDKs leave out what they cannot get. */
export const deviceInfo = Type.Object(
  {
    os_name: Type.Unsafe<string>({
      type: "string",
      pattern: "^([iI][oO][sS]|[aA][nN][dD][rR][oO][iI][dD])$",
      description: "`ios` or `android`",
    }),
    android_id: optionalText("Android: android id"),
    imei: optionalText("Android: imei"),
    oaid: optionalText("Android: oaid"),
    idfa: optionalText("ios: idfa; empty when unobtainable"),
    idfv: optionalText("ios: idfv; empty when unobtainable"),
    caid1_md5: optionalText("ios: md5 of the caid, version 20220111"),
    caid2_md5: optionalText("ios: md5 of the caid, version 20211207"),
    mac: optionalText("Raw MAC address; empty by default"),
    android_version: optionalText("Android release version"),
    api_version: Type.Optional(
      Type.Unsafe<number | string | null>({ type: ["number", "string", "null"], description: "Android API level" }),
    ),
    rom: optionalText("ROM name"),
    rom_version: optionalText("ROM version"),
    phone_brand: optionalText("Phone brand"),
    phone_model: optionalText("Phone model"),
  },
  { description: "Device info structure" },
);

const registration = {
  client_id: clientId({ description: "Unique user id in the business" }),
  name: text("User name"),
  channel: text("Registration channel"),
  version: Type.Integer({
    description: "Registration version",
    minimum: -Number.MAX_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
  }),
  wx_openid: optionalText("Open id; required for mini-programs and mini-games"),
  wx_unionid: optionalText("Union id"),
  ad_data: optionalStruct("The launch query, flat or nested under the platform's name"),
  device_info: Type.Optional(Type.Union([deviceInfo, Type.Null()])),
  client_ip: optionalText("Registration ip; required from a server side"),
  client_ua: optionalText("Registration user agent; required from a server side"),
};

export const registerBody = Type.Object(registration);

export const initializeBody = Type.Object({
  ...registration,
  need_return_attribution: Type.Optional(Type.Unknown({ description: "true: the answer carries the attribution" })),
  promoted_object_id: optionalText("Promotion campaign id"),
  asa_token: optionalText("Apple AdServices token"),
  history_info: Type.Optional(
    Type.Union([
      Type.Object(
        {
          create_time: optionalNumber("When the user registered, ms"),
          company: optionalText("Where the user came from"),
        },
        { description: "For users imported from another system" },
      ),
      Type.Null(),
    ]),
  ),
});

export const tokenAnswer = envelopeSchema(Type.Object({ token: Type.String({ description: "User token" }) }));

/** A value that cannot be obtained is the empty text, never null. */
const orEmpty = (description: string, type: "integer" | "object") =>
  Type.Unsafe<number | object | "">({
    description,
    anyOf: [{ type, ...(type === "integer" ? { minimum: 0, maximum: 4_102_444_800_000 } : {}) }, { const: "" }],
  });

export const attributedBody = Type.Object({
  client_id: clientId(),
  name: nonEmptyText("User name"),
  channel: text("Attribution channel"),
  version: Type.Unsafe<number | "">({
    description: "Registration version",
    anyOf: [{ type: "integer", minimum: -Number.MAX_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }, { const: "" }],
  }),
  turbo_promoted_object_id: Type.String({ pattern: "^(.{16})?$", description: "Promotion campaign id, 16 characters" }),
  active_time: Type.Integer({ minimum: 1, maximum: 4_102_444_800_000, description: "Registration time, milliseconds" }),
  active_ip: text("Registration ip"),
  click_time: orEmpty("Ad click time, milliseconds", "integer"),
  click_ip: text("Ad click ip"),
  click_company: text("Attributed ad platform; empty: organic"),
  ad_data: orEmpty("Object with one key per platform", "object"),
  os_type: Type.Unsafe<string>({ type: "string", enum: ["ios", "android", ""], description: "`ios` or `android`" }),
  device_info: Type.Optional(
    Type.Unsafe<object | "">({ anyOf: [deviceInfo, { const: "" }], description: "Device info; can follow later" }),
  ),
});

export const deviceInfoBody = Type.Object({
  data: Type.Unsafe<string | object>({
    type: ["string", "object"],
    description: "device_info as JSON, AES-ECB with PKCS7 under the app's aes key, base64; or the plain object",
  }),
});

export const userGetBody = Type.Object({
  user_list: Type.Unsafe<(string | number)[]>({
    type: "array",
    items: { type: ["string", "number"] },
    maxItems: LIMITS.userGetIds,
    description: "Client ids, at most 100",
  }),
});

const lookupRecord = Type.Object(
  {
    create_time: Type.String({ description: "YYYY-MM-DD HH:mm:ss in the app's time zone" }),
    client_id: Type.String(),
    channel: Type.String(),
    click_company: Type.String({ description: "Attributed ad platform; empty: organic" }),
    advertiser_id: Type.String(),
    aid: Type.String(),
    cid: Type.String(),
    bytedance_v2: Type.Optional(
      Type.Object({}, { description: "For users of this platform; other platforms have an object of their own name" }),
    ),
  },
  { description: "User lookup record" },
);

export const userGetAnswer = envelopeSchema(Type.Object({ user_list: Type.Array(lookupRecord) }));

export const resetClientIdBody = Type.Object({
  new_client_id: clientId({ description: "The id that replaces the old one" }),
});

export const updateDataBody = Type.Object({
  click_id: optionalText("Click id"),
  wx_openid: optionalText("Open id"),
  wx_unionid: optionalText("Union id"),
  media_type: optionalText("Ad platform as the client names it"),
});

export const refreshBody = Type.Object({
  wx_access_token: nonEmptyText("Latest access token of the mini-game platform"),
  current_time: Type.Number({ description: "Current timestamp in seconds" }),
  sign: nonEmptyText("Lower-case hex MD5 of `app_key=…&wx_access_token=…&current_time=…`"),
});
