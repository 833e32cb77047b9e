import { newRows } from "./engine/rows.ts";
import { type Executor, execute, type Sql, sql } from "./engine/sql.ts";

/** `propertiesText`: the beginning of the JSON text. */
type Origin = { appId: number; day: string; clientId: string; originId: number; propertiesText: string };

/**
 * New origins of events: what is the same in nearly all events of a user on a day (see domain/event/origin.ts). Each is stored
 * once, and the events name it. With the events of a mini-game that the bench sends, this halved what an event takes.
 */
export class EventOrigins {
  readonly #origins = new Map<string, Origin>();

  /** The first one with an id counts, in a batch as in the table, so that it does not matter how batches are cut. */
  add(origin: Origin): void {
    const { appId, day, clientId, originId } = origin;
    const key = `${appId} ${day} ${originId} ${clientId}`;
    if (!this.#origins.has(key)) this.#origins.set(key, origin);
  }

  get list(): readonly Origin[] {
    return [...this.#origins.values()];
  }
}

/** Stores those that are not stored yet. They must be there when the transaction that stores their events ends. */
export async function storeOrigins(tx: Executor, { list }: EventOrigins): Promise<void> {
  if (list.length === 0) return;
  const columns = sql`app_id, day, client_id, origin_id, properties_text`;
  await execute(
    tx,
    sql`insert into event_origin (${columns}) select ${columns} from ${newRows(tx, "new", list, {
      appId: "int",
      day: "date",
      clientId: "text",
      originId: "bigint",
      propertiesText: "text",
    })} on conflict do nothing`,
  );
}

/** Deletes the origins of days whose events are gone. `condition`: about their days. */
export async function deleteOrigins(tx: Executor, condition: Sql): Promise<void> {
  await execute(tx, sql`delete from event_origin where ${condition}`);
}
