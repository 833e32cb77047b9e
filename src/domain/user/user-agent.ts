import type { OperatingSystem } from "./operating-system.ts";

/** What a user agent says about the device. All three must be known before two agents are compared. */
export type ParsedAgent = { os: OperatingSystem; version: string; model: string };

/** Longer than real user agents. A pattern may take quadratic time, so the text is kept short. */
const LENGTH_MAX = 1_024;

/** Everything after the version up to the closing parenthesis; a model can contain parentheses: `moto g(7) power`. */
const ANDROID = /Android (\d+(?:\.\d+)*);((?:[^()]|\([^()]*\))*)\)/;
/** Safari writes `CPU iPhone OS 17_4`, an app's own requests `iOS 17.4`. */
const IOS = /\((iPhone|iPad|iPod)[^)]*?[ i]OS (\d+(?:[._]\d+)*)/;

/**
 * HarmonyOS without Android says what kind of device it is and no model, as iOS does. Earlier ones also name Android,
 * and count as that: the app's own requests on the same phone say nothing else.
 */
const HARMONY = /\((Phone|Tablet|PC|TV|Wearable)[^)]*?; ?(?:OpenHarmony|HarmonyOS) (\d+(?:\.\d+)*)/i;

/** What can stand between the version and the model. */
const NOT_THE_MODEL = /^(?:[a-z]{2}(?:[-_][a-z]{2})?|HarmonyOS)?$/i;
const BUILD = /(?:^|\s)(?:Build|MIUI)\/.*$/s;
/** Browsers that hide the model write one of these; Chrome also makes every Android a 10. */
const HIDDEN_MODELS: ReadonlySet<string> = new Set(["", "K", "MOBILE", "TABLET", "WV"]);

/**
 * Reads system, version and model, which stay the same although the browser that shows the ad and the app that
 * registers send different texts on the same phone. Undefined for other systems and for hidden models.
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
  const harmony = HARMONY.exec(text);
  return harmony ? { os: "harmony", version: harmony[2]!, model: harmony[1]!.toUpperCase() } : undefined;
}
