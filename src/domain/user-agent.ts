/** What a user agent tells of the device. All three must be known before two of them are compared. */
export type ParsedAgent = { os: "android" | "ios"; version: string; model: string };

const ANDROID =
  /Android (\d+(?:\.\d+)*)(?:;\s*[a-zA-Z]{2}[-_][a-zA-Z]{2})?;\s*([^;()]+?)\s*(?:Build\/[^;)]*)?(?:;\s*wv)?[;)]/;
const IOS = /\((iPhone|iPad|iPod)[^)]*? OS (\d+(?:[._]\d+)*)/;

/**
 * Equal texts are too much to ask: the browser that shows the ad and the app that registers write different ones on
 * the same phone. System, its version and the model stay the same. Other systems are left out.
 */
export function parseUserAgent(ua: string): ParsedAgent | undefined {
  const android = ANDROID.exec(ua);
  if (android) return { os: "android", version: android[1]!, model: android[2]!.toUpperCase() };
  const ios = IOS.exec(ua);
  if (ios) return { os: "ios", version: ios[2]!.replaceAll("_", "."), model: ios[1]!.toUpperCase() };
  return undefined;
}
