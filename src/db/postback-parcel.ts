import type { TouchKind } from "../domain/attribution/touch.ts";
import { rowsOf } from "./engine/rows.ts";
import { type Executor, query, sql } from "./engine/sql.ts";
import type { PostbackKey } from "./postback.ts";

/** The content of a postback besides the user's own columns. */
export type ParcelFacts = PostbackKey & {
  moment: string;
  atMs: number;
  valueCents: number | null;
  traceId: string;
  /** The client's id when the postback was made, by which the platform recognises repeats; see dedupeIdOf. */
  madeFor: string;
  createdAtMs: number;
  /** How often people have asked to resend it. */
  resent: number;
  /** The kind of the touch that won the user, or null when none did. */
  touchKind: TouchKind | null;
};

export async function loadParcelFacts(executor: Executor, keys: readonly PostbackKey[]): Promise<ParcelFacts[]> {
  if (keys.length === 0) return [];
  const wanted = rowsOf("wanted", keys, { appId: "int", clientId: "text", eventType: "text", subject: "text" });
  return query<ParcelFacts>(
    executor,
    sql`select p.app_id, p.client_id, p.event_type, p.subject, p.moment, p.at_ms, p.value_cents, p.trace_id, p.made_for,
        p.created_at_ms, p.resent,
        (select won -> 'touch' ->> 'kind' from jsonb_array_elements(d.candidates) won where won ->> 'outcome' = 'won' limit 1) as touch_kind
      from ${wanted}
      join postback p on p.app_id = wanted.app_id and p.client_id = wanted.client_id collate "C"
        and p.event_type = wanted.event_type and p.subject = wanted.subject collate "C"
      left join user_account u on u.app_id = p.app_id and u.client_id = p.client_id
      left join attribution_decision d on d.app_id = u.app_id and d.client_id = u.client_id and d.number = u.decision_number`,
  );
}
