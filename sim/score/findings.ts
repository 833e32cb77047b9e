import type { ReportClient, UserList } from "../../src/client/report-client.ts";
import type { ExplainedCandidate } from "../../src/contract/admin/why.ts";
import { addDays, calendarOf } from "../../src/domain/calendar.ts";
import type { Played } from "../market/simulation.ts";
import type { Person } from "../market/truth.ts";

/** The server's view of a user. */
export type Found = {
  clientId: string;
  platform: string;
  method: string;
  advertiserId: string;
  gid: string;
  aid: string;
  csite: string;
  campaignId: string;
  channel: string;
  os: string;
  /** Null if no touch is known. */
  touchedAtMs: number | null;
  flags: readonly string[];
  candidates: readonly ExplainedCandidate[];
};

type UserRecord = UserList["list"][number];

export type Pair = { person: Person; found: Found };

/** The part that says whether the server is right. */
export type Attributed = { person: Person; found: Pick<Found, "platform" | "aid" | "touchedAtMs"> };

type Explained = {
  method: string;
  flags: string[];
  touch: { touched_at: string } | null;
  candidates: ExplainedCandidate[];
};

const PAGE_SIZE = 500;
const ASKED_AT_ONCE = 8;

/** Asks the server about everyone: the user list for the sources, `why` for the methods. */
export async function findEverybody(played: Played, client: ReportClient): Promise<Map<string, Found>> {
  const { operator, market } = played;
  const { appId } = operator.app;
  const found = new Map<string, Found>();
  const left: UserRecord[] = [];
  for (let page = 1; ; page += 1) {
    const asked = { app_id: appId, user_filtering: {}, event_filtering: {}, page, page_size: PAGE_SIZE };
    const { list } = await client.userList(asked);
    left.push(...list);
    if (list.length < PAGE_SIZE) break;
  }
  const ask = async () => {
    for (let one = left.pop(); one; one = left.pop()) {
      const query = { app_id: String(appId), client_id: one.ClientID };
      const why = await operator.get<Explained>("attribution/why", query);
      found.set(one.ClientID, foundOf(one, why, market.options.timeZone));
    }
  };
  await Promise.all(Array.from({ length: ASKED_AT_ONCE }, ask));
  return found;
}

function foundOf(record: UserRecord, why: Explained, timeZone: string): Found {
  const os = ["unknown", "android", "ios"][record.device_info.OS] ?? "unknown";
  return {
    clientId: record.ClientID,
    platform: record.AdPlatform === "natural" ? "" : record.AdPlatform,
    method: why.method,
    advertiserId: record.AdvertiserID,
    gid: record.AdGid,
    aid: record.AdAid,
    csite: record.CSite,
    campaignId: record.TurboPromotedObjectID,
    channel: record.Channel,
    os,
    touchedAtMs: why.touch === null ? null : instantOf(why.touch.touched_at, timeZone),
    flags: why.flags,
    candidates: why.candidates,
  };
}

/** Touches have whole seconds, so the text of one is exact. */
function instantOf(text: string, timeZone: string): number {
  const [day = "", time = ""] = text.split(" ");
  const [hours = 0, minutes = 0, seconds = 0] = time.split(":").map(Number);
  return calendarOf(timeZone).startOf(day) + ((hours * 60 + minutes) * 60 + seconds) * 1000;
}

/** The local days of the market. */
export function daysOf({ market }: Played): { from: string; to: string } {
  const { endMs, days, timeZone } = market.options;
  const to = calendarOf(timeZone).dayOf(endMs);
  return { from: addDays(to, -days), to };
}
