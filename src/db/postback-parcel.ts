import type { TouchKind } from "../domain/attribution/touch.ts";
import type { Device } from "../domain/user/device.ts";
import { rowsOf } from "./engine/rows.ts";
import { type Executor, query, sql } from "./engine/sql.ts";
import type { PostbackKey } from "./postback.ts";

/** What the tables know about a claimed row: the postback and its user. */
export type ParcelFacts = PostbackKey & PostbackFacts & UserFacts;

/** Null when there is no such postback. */
type PostbackFacts = {
  moment: string | null;
  atMs: number | null;
  valueCents: number | null;
  traceId: string | null;
  /** The client's id when the postback was made, by which the platform recognises repeats; see dedupeIdOf. */
  madeFor: string | null;
  createdAtMs: number | null;
  /** How often people have asked to resend it. */
  resent: number | null;
};

type UserFacts = {
  /** Whether the user exists; without one, the columns below are null. */
  hasUser: boolean;
  wxOpenid: string;
  wxUnionid: string;
  osPlatform: string;
  ip: string;
  ua: string;
  device: Device | null;
  /** The kind of the touch that won the user, or null when none did. */
  touchKind: TouchKind | null;
};

/** One row for each key. */
export async function loadParcelFacts(executor: Executor, keys: readonly PostbackKey[]): Promise<ParcelFacts[]> {
  if (keys.length === 0) return [];
  const wanted = rowsOf("wanted", keys, { appId: "int", clientId: "text", eventType: "text", subject: "text" });
  return query<ParcelFacts>(
    executor,
    sql`select wanted.app_id, wanted.client_id, wanted.event_type, wanted.subject, p.moment, p.at_ms, p.value_cents, p.trace_id,
        p.made_for, p.created_at_ms, p.resent, u.client_id is not null as has_user, u.wx_openid, u.wx_unionid, u.os_platform, u.ip,
        u.ua, u.device,
        (select won -> 'touch' ->> 'kind' from jsonb_array_elements(d.candidates) won where won ->> 'outcome' = 'won' limit 1) as touch_kind
      from ${wanted}
      left join postback p on p.app_id = wanted.app_id and p.client_id = wanted.client_id collate "C"
        and p.event_type = wanted.event_type and p.subject = wanted.subject collate "C"
      left join user_account u on u.app_id = wanted.app_id and u.client_id = wanted.client_id collate "C"
      left join attribution_decision d on d.app_id = u.app_id and d.client_id = u.client_id and d.number = u.decision_number`,
    "parcel_facts",
  );
}
