import { createDecipheriv } from "node:crypto";
import { ApiError } from "../../errors.ts";
import { isObject, type JsonObject, type JsonValue, parseJsonWithIds } from "../json.ts";
import { cleanId, cleanValue } from "./identity.ts";

/** The ids of a device that clients may report, raw or hashed as the interface says. */
export const DEVICE_IDS = ["android_id", "imei", "oaid", "idfa", "idfv", "caid1_md5", "caid2_md5", "mac"] as const;
const TEXT_FIELDS = ["android_version", "rom", "rom_version", "phone_brand", "phone_model"] as const;

/** A device as it is stored: every field of the interface, empty when it has no value. */
export type Device = { os_name: string; api_version: number } & Record<
  (typeof DEVICE_IDS)[number] | (typeof TEXT_FIELDS)[number],
  string
>;

export function deviceOf(sent: JsonObject): Device {
  const device: Record<string, string | number> = {
    os_name: cleanValue(sent.os_name).toLowerCase(),
    api_version: Number(cleanValue(sent.api_version)) || 0,
  };
  for (const field of DEVICE_IDS) device[field] = cleanId(sent[field]);
  for (const field of TEXT_FIELDS) device[field] = cleanValue(sent[field]);
  // One SDK names these two without the prefix.
  device.phone_brand ||= cleanValue(sent.brand);
  device.phone_model ||= cleanValue(sent.model);
  return device as Device;
}

/** Merges a later report: it adds new values and never erases known ones. */
export function mergeDevice(known: Device | undefined, fresh: Device): Device {
  if (!known) return fresh;
  const merged: Record<string, string | number> = { ...known };
  for (const [field, value] of Object.entries(fresh)) if (value !== "" && value !== 0) merged[field] = value;
  return merged as Device;
}

/**
 * Reads `data` of the device info operation: AES-ECB with PKCS7 in base64 (the key decides 128, 192 or 256 bits), or,
 * as the public SDKs send it, the plain object or its JSON text.
 */
export function readDeviceData(data: JsonValue | undefined, aesKey: string): JsonObject {
  if (isObject(data)) return data;
  if (typeof data !== "string" || data === "") {
    throw new ApiError("badParameter", "data is missing: send the encrypted device_info text, or the object itself.");
  }
  const plain = data.trimStart().startsWith("{") ? Buffer.from(data) : decrypt(data, aesKey);
  try {
    const value = parseJsonWithIds(plain);
    if (isObject(value)) return value;
  } catch {
    // Falls through: the same answer as for a text that is JSON but not an object.
  }
  throw new ApiError("undecipherable", "data does not decrypt to a device_info object with this app's aes key.");
}

function decrypt(data: string, aesKey: string): Buffer {
  const key = Buffer.from(aesKey, "base64");
  try {
    const decipher = createDecipheriv(`aes-${key.length * 8}-ecb`, key, null);
    return Buffer.concat([decipher.update(data, "base64"), decipher.final()]);
  } catch {
    throw new ApiError("undecipherable", "data does not decrypt with this app's aes key (AES-ECB, PKCS7, base64).");
  }
}
