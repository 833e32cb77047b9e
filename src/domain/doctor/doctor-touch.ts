import { isObject } from "../json.ts";
import { isMacro } from "../user/identity.ts";
import { Evidence, type Finding } from "./finding.ts";
import { bodyOf, isRegistration, isTouch, type SeenCall, textOf } from "./seen-call.ts";

/** Rules about monitoring links and their touches. */

/**
 * Macros that are never replaced: the link was entered in the wrong place, or the platform names the macro differently.
 * A macro that is replaced in some calls is fine: platforms leave out what they do not know about a person.
 */
export function unreplacedMacro(calls: readonly SeenCall[]): Finding | undefined {
  const replaced = new Set<string>();
  const left: { name: string; parameter: string; value: string; call: SeenCall }[] = [];
  for (const call of calls) {
    const { source, parameters } = parametersOf(call);
    for (const [parameter, value] of Object.entries(parameters)) {
      const name = `${source} ${parameter}`;
      if (isMacro(textOf(value))) left.push({ name, parameter, value: textOf(value), call });
      else if (textOf(value) !== "") replaced.add(name);
    }
  }
  const evidence = new Evidence();
  for (const { name, parameter, value, call } of left) {
    if (replaced.has(name)) continue;
    const [source = ""] = name.split(" ");
    evidence.add(call.at_ms, { endpoint: call.endpoint, from: source, parameter, value }, `${source} ${parameter}`);
  }
  return evidence.finding("unreplaced_macro", "error");
}

/** The query of a link, or the launch data of a registration. */
function parametersOf(call: SeenCall) {
  const body = bodyOf(call);
  if (isTouch(call)) return { source: textOf(body.company).toLowerCase(), parameters: body };
  const adData = isRegistration(call) && isObject(body.ad_data) ? body.ad_data : {};
  return { source: "ad_data", parameters: adData };
}

/** Links and launches that name a campaign that does not exist, so that their users belong to none. */
export function unknownCampaign(calls: readonly SeenCall[], campaigns: ReadonlySet<string>): Finding | undefined {
  const evidence = new Evidence();
  for (const call of calls) {
    const { track_id, promoted_object_id, turbo_promoted_object_id, ad_data } = bodyOf(call);
    const ofQuery = isObject(ad_data) ? textOf(ad_data.turbo_promoted_object_id) : "";
    const campaign = isTouch(call)
      ? textOf(track_id)
      : isRegistration(call)
        ? textOf(promoted_object_id) || textOf(turbo_promoted_object_id) || ofQuery
        : "";
    if (campaign === "" || isMacro(campaign) || campaigns.has(campaign)) continue;
    evidence.add(call.at_ms, { endpoint: call.endpoint, turbo_promoted_object_id: campaign }, campaign);
  }
  return evidence.finding("unknown_campaign", "warning");
}
