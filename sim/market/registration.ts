import type { RegisterCall } from "./call.ts";
import { appAgent, browserAgent, deviceInfo } from "./device.ts";
import { launchQuery, plainQuery } from "./launch.ts";
import type { Touch } from "./media.ts";
import type { Someone } from "./someone.ts";

export type Registering = {
  atMs: number;
  /** The touch that opened the game, if the launch shows it. */
  launch: Touch | undefined;
  past: { createdMs: number; company: string } | undefined;
  endMs: number;
};

const AGAIN_SHARE = 0.15;

/** The first start, and for some people a second one with the same body: clients register each time they start. */
export function registrationCalls(person: Someone, registering: Registering): RegisterCall[] {
  const first = registrationCall(person, registering);
  const isAgain = person.random.chance(AGAIN_SHARE);
  const againMs = registering.atMs + person.random.between(1, 72) * 3_600_000;
  if (!isAgain || registering.past) return [first];
  const again = registrationCall(person, { ...registering, atMs: againMs, launch: undefined });
  return [first, again];
}

function registrationCall(person: Someone, { atMs, launch, past }: Registering): RegisterCall {
  const { clientId, phone, channel, version, offer } = person;
  const named = { client_id: clientId, name: `Player ${person.index}`, channel, version };
  const sending = { kind: "register", dueMs: atMs, ip: phone.ip, mishap: "none" } as const;
  if (past) {
    const history_info = { create_time: past.createdMs, company: past.company };
    const body = JSON.stringify({ ...named, wx_openid: person.openId, history_info });
    return { ...sending, ua: browserAgent(phone), path: "user/initialize/", body };
  }
  if (offer === "app") {
    const token = launch ? { asa_token: appleToken(launch) } : {};
    const body = JSON.stringify({ ...named, device_info: deviceInfo(phone), need_return_attribution: false, ...token });
    return { ...sending, ua: appAgent(phone), path: "user/initialize/", body };
  }
  const ad_data = launch ? launchQuery(launch) : plainQuery(person.host, clientId);
  // Older clients call the older operation.
  const path = person.index % 4 === 0 ? "user/register/" : "user/initialize/";
  return {
    ...sending,
    ua: browserAgent(phone),
    path,
    body: JSON.stringify({ ...named, wx_openid: person.openId, ad_data }),
  };
}

/** A token that contains what Apple would know about the download. */
function appleToken({ ad, atMs }: Touch): string {
  const attribution = {
    attribution: true,
    orgId: Number(ad.advertiserId),
    campaignId: Number(ad.gid),
    adGroupId: Number(`${ad.gid}1`),
    adId: Number(ad.aid),
    keywordId: Number(ad.cid),
    conversionType: "Download",
    countryOrRegion: "CN",
    clickDate: `${new Date(atMs).toISOString().slice(0, 16)}Z`,
  };
  return Buffer.from(JSON.stringify(attribution)).toString("base64url");
}
