import type pg from "pg";
import type { App } from "../../src/db/app.ts";
import { call } from "../support/call.ts";
import { type Answer, answerOf, type Touchpoint } from "../support/touchpoint.ts";

export const BASE = "/event_center/api/v1";

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** A row as JSON: whole numbers are numbers, days are texts. */
export type Row = Record<string, any>;

export function track(event: string, properties: unknown = {}, time: unknown = Date.now()): Row {
  return { type: "track", event, time, properties };
}

export function profile(operation: string, properties: unknown = {}, time: unknown = Date.now()): Row {
  return { type: "profile", event: operation, time, properties };
}

/** Any request to the server as it is, without a token or Content-Type. */
export async function ask(
  server: Touchpoint,
  method: string,
  path: string,
  options: {
    query?: Record<string, string>;
    body?: string | Uint8Array<ArrayBuffer> | FormData;
    headers?: Record<string, string>;
  } = {},
): Promise<Answer> {
  const { query, body, ...rest } = options;
  const url = `${server.url}${path}?${new URLSearchParams(query)}`;
  // Only fetch writes a form.
  if (body instanceof FormData) return answerOf(await fetch(url, { method, body, ...rest }));
  return call(url, { method, ...(body !== undefined && { body }), ...rest });
}

/** Bytes, because no Content-Type is added to them. */
export function bytesOf(value: unknown): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(typeof value === "string" ? value : JSON.stringify(value)));
}

/** Reads the tables behind the server, after everything acknowledged so far has been applied. */
export class Tables {
  readonly #server: Touchpoint;
  readonly #pool: pg.Pool;

  constructor(server: Touchpoint) {
    this.#server = server;
    this.#pool = server.pool;
  }

  async query(text: string, values: unknown[] = []): Promise<Row[]> {
    await this.#server.settle();
    return (await this.#pool.query(text, values)).rows;
  }

  async user(app: App, clientId: string): Promise<Row | undefined> {
    return (await this.#rows("user_account", app, clientId))[0];
  }

  /** The users of an app by their client ids. */
  async users(app: App): Promise<Map<string, Row>> {
    return new Map((await this.#rows("user_account", app)).map((user) => [user.client_id, user]));
  }

  /** Events in the order of their time, then of their name. */
  async events(app: App, clientId?: string): Promise<Row[]> {
    const rows = await this.#rows("event", app, clientId, "order by t.at_ms, t.event");
    return rows.map(({ properties_text, ...row }) => ({ ...row, properties: JSON.parse(properties_text) }));
  }

  async eventNames(app: App, clientId?: string): Promise<string[]> {
    return (await this.events(app, clientId)).map((row) => row.event);
  }

  async orders(app: App, clientId?: string): Promise<Row[]> {
    return this.#rows("orders", app, clientId, "order by t.client_id, t.pay_count");
  }

  async userDays(app: App, clientId: string): Promise<Row[]> {
    return this.#rows("user_day", app, clientId, "order by t.day, t.span_t, t.span_r");
  }

  /** Events by outcome, over all minutes. */
  async ledger(app: App): Promise<Record<string, number>> {
    const sums: Record<string, number> = {};
    for (const { outcome, events } of await this.#rows("ledger_minute", app))
      sums[outcome] = (sums[outcome] ?? 0) + events;
    return sums;
  }

  /**
   * Changes settings behind the server's back and notifies it, as the command line does. The caller waits for the effect.
   */
  async changeSettings(text: string, values: unknown[]): Promise<void> {
    await this.#pool.query(text, values);
    await this.#pool.query("select pg_notify('touchpoint_settings', '')");
  }

  async #rows(table: string, app: App, clientId?: string, order = ""): Promise<Row[]> {
    await this.#server.settle();
    const { rows } = await this.#pool.query(
      `select to_jsonb(t) as row from ${table} t where t.app_id = $1 ${clientId === undefined ? "" : "and t.client_id = $2"} ${order}`,
      clientId === undefined ? [app.appId] : [app.appId, clientId],
    );
    return rows.map(({ row }) => row);
  }
}
