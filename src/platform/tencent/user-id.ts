import { isObject, type JsonObject } from "../../domain/json.ts";
import { cleanValue } from "../../domain/user/identity.ts";
import type { Conversion } from "../connector/connector.ts";
import { deviceIdsOf } from "../connector/device-ids.ts";
import { known } from "../connector/prepared.ts";
import { fieldsOf } from "../platform.ts";

/** The user's ids with Tencent's names. An open id means nothing without its app's id, so it is never sent alone. */
export function tencentUserId(conversion: Conversion, wechatAppId: string): JsonObject {
  const { user, adData } = conversion;
  const ids = deviceIdsOf(conversion);
  const openid = user.wxOpenid || fieldsOf(adData)("wx_openid");
  const hasWechat = wechatAppId !== "" && (openid !== "" || user.wxUnionid !== "");
  return known({
    hash_imei: ids.imeiMd5,
    hash_idfa: ids.idfaMd5,
    hash_android_id: ids.androidIdMd5,
    hash_oaid: ids.oaidMd5,
    ...newestCaid(fieldsOf(adData)("caid")),
    ...(hasWechat && { wechat_app_id: wechatAppId, wechat_openid: openid, wechat_unionid: user.wxUnionid }),
  });
}

/** The newest version of the caid: Tencent lists several for one device, and accepts one. */
function newestCaid(text: string): { caid: string; caid_version: number } | undefined {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    return undefined;
  }
  const caids = (Array.isArray(list) ? (list as unknown[]) : []).flatMap((item) => {
    if (!isObject(item)) return [];
    const [caid, caid_version] = [cleanValue(item.caid), Number(cleanValue(item.version))];
    return caid !== "" && caid_version > 0 ? [{ caid, caid_version }] : [];
  });
  return caids.sort((a, b) => b.caid_version - a.caid_version)[0];
}
