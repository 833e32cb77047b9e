import { hash } from "node:crypto";

/**
 * The properties that say from where an event comes: the program, the phone, its address, the user. They are the same in nearly
 * all events of a user on a day, and the larger part of most of them.
 */
const ORIGIN_PROPERTIES: ReadonlySet<string> = new Set([
  ...["$ip", "$ua", "$user_agent", "$browser", "$browser_version", "$country", "$province", "$city"],
  ...["$lib", "$lib_version", "$sdk_version", "$app_id", "$app_version", "$bundle_id", "$channel", "$platform"],
  ...["$os", "$os_version", "$android_version", "$api_version", "$rom", "$rom_version", "$brand", "$manufacturer"],
  ...["$model", "$device_id", "$device_type", "$device_model", "$device_brand", "$phone_brand", "$phone_model"],
  ...["$screen_width", "$screen_height", "$pixel_ratio", "$theme", "$simulator", "$system_language", "$install_time"],
  ...["$network_type", "$carrier", "$zone_offset", "$timezone_offset", "$scene", "$first_scene", "$today_first_scene"],
  ...["$distinct_id", "$account_id", "$anonymous_id", "$user_id", "$client_id", "$wx_openid"],
]);

/**
 * From how many bytes on an origin is stored by itself. Its row and the key of it take some 110 bytes besides, so that it pays
 * from the third event of a user's day on.
 */
const BYTES_MIN = 100;

export function isOfOrigin(property: string): boolean {
  return ORIGIN_PROPERTIES.has(property);
}

/** Whether an origin of so many bytes is worth a row of its own. */
export function isKeptApart(originBytes: number): boolean {
  return originBytes >= BYTES_MIN;
}

/**
 * The JSON text of properties as it is stored, from 0 up to `until`. With an origin, its members come first: up to `originUntil`
 * without the comma behind them, and 0 without one.
 */
export type StoredProperties = { bytes: Buffer; originUntil: number; until: number };

/** Properties that are stored as they are. */
export function wholeProperties(text: string): StoredProperties {
  const bytes = Buffer.from(text);
  return { bytes, originUntil: 0, until: bytes.length };
}

/**
 * Hexadecimal digits that a double holds. Among a million users with ten origins a day each, two of one user's day share them by chance
 * once in some 270,000 years. Whoever makes up two that do only spoils the properties of the events they send themselves.
 */
const ID_DIGITS = 13;

/** Names an origin among those of a user's day. */
export function originIdOf(origin: Uint8Array): number {
  return Number.parseInt(hash("md5", origin).slice(0, ID_DIGITS), 16);
}
