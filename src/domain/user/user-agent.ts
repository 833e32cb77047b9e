/** What a user agent tells of the device. All three must be known before two of them are compared. */
export type ParsedAgent = { os: "android" | "ios"; version: string; model: string };

/** Longer than real ones. A pattern may look at each place of a text from each other one, so the text is kept short. */
const LENGTH_MAX = 1_024;

/** All that stands behind the version, up to the parenthesis; a model can hold a pair of its own: `moto g(7) power`. */
const ANDROID = /Android (\d+(?:\.\d+)*);((?:[^()]|\([^()]*\))*)\)/;
/** Safari writes `CPU iPhone OS 17_4`, an app's own requests `iOS 17.4`. */
const IOS = /\((iPhone|iPad|iPod)[^)]*?[ i]OS (\d+(?:[._]\d+)*)/;

/** What can stand between the version and the model. */
const NOT_THE_MODEL = /^(?:[a-z]{2}(?:[-_][a-z]{2})?|HarmonyOS)?$/i;
const BUILD = /(?:^|\s)(?:Build|MIUI)\/.*$/s;
/** Browsers that hide the model write one of these; Chrome also makes every Android a 10. */
const HIDDEN_MODELS: ReadonlySet<string> = new Set(["", "K", "MOBILE", "TABLET", "WV"]);

/**
 * Equal texts are too much to ask: the browser that shows the ad and the app that registers write different ones on
 * the same phone. System, its version and the model stay the same. Other systems are left out.
 */
export function parseUserAgent(ua: string): ParsedAgent | undefined {
  const text = ua.slice(0, LENGTH_MAX);
  const android = ANDROID.exec(text);
  if (android) {
    const parts = android[2]!.split(";").map((part) => part.trim());
    const model = (parts.find((part) => !NOT_THE_MODEL.test(part)) ?? "").replace(BUILD, "").trim().toUpperCase();
    return HIDDEN_MODELS.has(model) ? undefined : { os: "android", version: android[1]!, model };
  }
  const ios = IOS.exec(text);
  if (ios) return { os: "ios", version: ios[2]!.replaceAll("_", "."), model: ios[1]!.toUpperCase() };
  return undefined;
}
