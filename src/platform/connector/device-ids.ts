import { hashOf } from "../../domain/attribution/touch-key.ts";
import { cleanId, md5 } from "../../domain/user/identity.ts";
import { type OperatingSystem, systemOf } from "../../domain/user/operating-system.ts";
import { fieldsOf } from "../platform.ts";
import type { Conversion } from "./connector.ts";

/** The ids of the user's device; empty when unknown. */
export type DeviceIds = {
  imeiMd5: string;
  oaid: string;
  oaidMd5: string;
  idfa: string;
  idfaMd5: string;
  androidIdMd5: string;
};

/** The ids that the device itself reported, else those of the touch, which often has only hashes. */
export function deviceIdsOf(conversion: Conversion): DeviceIds {
  const { device } = conversion.user;
  const field = fieldsOf(conversion.adData);
  const hash = (name: string) => hashOf(field(name)) ?? "";
  const muid = hash("muid");
  const isIos = osOf(conversion) === "ios";
  const oaid = device?.oaid || cleanId(field("oaid"));
  const idfa = (device?.idfa || cleanId(field("idfa"))).toUpperCase();
  const imei = device?.imei ?? "";
  const androidId = device?.android_id ?? "";
  return {
    imeiMd5: imei === "" ? hash("imei_md5") || (isIos ? "" : muid) : md5(imei.toLowerCase()),
    oaid,
    oaidMd5: oaid === "" ? hash("oaid_md5") : md5(oaid),
    idfa,
    idfaMd5: idfa === "" ? hash("idfa_md5") || (isIos ? muid : "") : md5(idfa),
    androidIdMd5: androidId === "" ? hash("android_id_md5") : md5(androidId.toLowerCase()),
  };
}

export function osOf({ user, adData }: Conversion): OperatingSystem | "unknown" {
  const own = systemOf(user.osPlatform);
  return own === "unknown" ? systemOf(fieldsOf(adData)("os")) : own;
}
