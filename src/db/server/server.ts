import pg from "pg";
import { elapsedMs } from "../../clock.ts";
import { messageOf } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import { isDatabaseAway, noteDriverFailure, noteLost } from "../engine/failure.ts";
import { type Address, type Host, type Parameter, readAddress } from "./address.ts";
import { isWayRefused, tlsOptions, waysOf } from "./tls.ts";

/**
 * What a connection is to PostgreSQL. "own": a session of its own. "kept": a pooler lends a session for as long as the
 * connection lasts. "lent": a pooler lends one for each transaction, so that nothing outlives a transaction.
 */
export type Sessions = "own" | "kept" | "lent";

/** The database's address as plain data, which can go to another thread. */
export type Connection =
  | { kind: "url"; url: string; sessions: Sessions }
  /** A host that begins with / is the folder of a Unix socket. */
  | { kind: "local"; host: string; port: number; user: string; password: string; database: string };

type Candidate = { host: Host; way: "plain" | "tls" };

/**
 * A database server, which may be one of several. Where only one host and one way to connect are possible it is used
 * straight away; otherwise the candidates are tried in order, and the first that fits is used until it fails.
 */
export class Server {
  #connection: Connection;
  #address: Address;
  #chosen: Candidate | undefined;
  #choosing: Promise<Candidate> | undefined;
  #obstacle: string | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#address = addressOf(connection);
  }

  get address(): Address {
    return this.#address;
  }

  /** Moves to another address: that of an embedded database is certain only once it runs. */
  moveTo(connection: Connection): void {
    this.#connection = connection;
    this.#address = addressOf(connection);
    this.forget();
  }

  get connection(): Connection {
    return this.#connection;
  }

  get sessions(): Sessions {
    return this.#connection.kind === "url" ? this.#connection.sessions : "own";
  }

  /** What the server's sessions were found to be; see sessions.ts. */
  set sessions(sessions: Sessions) {
    if (this.#connection.kind === "url") this.#connection = { ...this.#connection, sessions };
  }

  /** Parameters that the URL asks for. */
  get parameters(): readonly Parameter[] {
    return this.address.parameters;
  }

  /** Why nobody may connect, or undefined when everybody may. */
  get obstacle(): string | undefined {
    return this.#obstacle;
  }

  /** Keeps everybody out, as if the database were away, until `allow`. */
  forbid(reason: string): void {
    this.#obstacle = reason;
  }

  allow(): void {
    this.#obstacle = undefined;
  }

  /** How to connect now, in the driver's form. */
  async target(waitMs: number): Promise<pg.ClientConfig> {
    if (this.#obstacle !== undefined) throw away(this.#obstacle);
    const only = this.#onlyCandidate();
    if (only) return this.#configOf(only);
    return this.#configOf(this.#chosen ?? (await this.#choice(waitMs)));
  }

  /** Tries all candidates again at the next connection. */
  forget(): void {
    this.#chosen = undefined;
  }

  /**
   * Throws when a new connection has reached a server that does not fit any more, such as a former primary. Sessions
   * that only read are read-only by themselves.
   */
  async assertFits(client: pg.ClientBase, use: "writes" | "reads"): Promise<void> {
    const { attrs } = this.address;
    if (attrs === "any") return;
    const { rows } = await bounded<{ recovers: boolean; reads: string }>(
      client,
      "select pg_is_in_recovery() as recovers, current_setting('transaction_read_only') as reads",
    );
    const { recovers, reads } = rows[0]!;
    if (!recovers && (attrs === "primary" || use === "reads" || reads === "off")) return;
    this.forget();
    throw away(`The server is ${recovers ? "a standby" : "read-only"}, and target_session_attrs is ${attrs}.`);
  }

  #onlyCandidate(): Candidate | undefined {
    const { hosts, attrs } = this.address;
    const all = this.#candidates();
    return hosts.length === 1 && attrs === "any" && all.length === 1 ? all[0] : undefined;
  }

  #candidates(): Candidate[] {
    const { hosts, tls } = this.address;
    return hosts.flatMap((host) => waysOf(tls, host).map((way) => ({ host, way })));
  }

  #configOf({ host, way }: Candidate): pg.ClientConfig {
    const { user, password, database, tls } = this.address;
    return { ...host, user, password, database, ssl: way === "tls" ? tlsOptions(tls) : false };
  }

  /** Callers that come together share one round of tries. */
  #choice(waitMs: number): Promise<Candidate> {
    this.#choosing ??= this.#choose(waitMs)
      .then((chosen) => {
        this.#chosen = chosen;
        return chosen;
      })
      .finally(() => {
        this.#choosing = undefined;
      });
    return this.#choosing;
  }

  /** The first host that answers and fits. The time is shared among the hosts, so a silent one does not use it up. */
  async #choose(waitMs: number): Promise<Candidate> {
    const { hosts, hostMs } = this.address;
    const startedMs = elapsedMs();
    const failures: string[] = [];
    let last: unknown;
    for (const host of hosts) {
      const leftMs = waitMs - (elapsedMs() - startedMs);
      if (leftMs <= 0) break;
      const evenMs = hosts.length === 1 ? waitMs : waitMs / (hosts.length + 1);
      const shareMs = Math.max(1, Math.min(hostMs ?? evenMs, leftMs));
      try {
        return await this.#tryHost(host, shareMs);
      } catch (error) {
        last = error;
        // A refused password is the same everywhere, and must not be hidden by the failure of the next host.
        if (!isDatabaseAway(error)) throw error;
        failures.push(`${host.host}:${host.port}: ${messageOf(error)}`);
      }
    }
    if (hosts.length === 1) throw last ?? away("No answer in time.");
    throw away(`No host of the database can be used. ${failures.join(" ")}`);
  }

  async #tryHost(host: Host, waitMs: number): Promise<Candidate> {
    const ways = waysOf(this.address.tls, host);
    for (const way of ways) {
      try {
        await this.#try({ host, way }, waitMs);
        return { host, way };
      } catch (error) {
        if (way === ways.at(-1) || !isWayRefused(error)) throw error;
      }
    }
    throw new Error("There is always one way.");
  }

  async #try(candidate: Candidate, waitMs: number): Promise<void> {
    const client = await connect({ ...this.#configOf(candidate), connectionTimeoutMillis: waitMs });
    try {
      await this.assertFits(client, "writes");
    } finally {
      end(client);
    }
  }
}

/** A connection of the caller's own. */
export async function connect(config: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client({ application_name: "touchpoint", ...config });
  // A connection that is lost between two statements must not end the process; the next statement fails.
  client.on("error", () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    noteDriverFailure(error);
    end(client);
    throw error;
  }
}

/** Ends a connection without waiting for a server that may never answer. */
export function end(client: pg.Client): void {
  void client.end().catch(() => {});
}

/** A statement on a new connection, which must not wait for a server that has become silent. */
export async function bounded<Row extends pg.QueryResultRow>(
  client: pg.ClientBase,
  text: string,
  values: unknown[] = [],
): Promise<pg.QueryResult<Row>> {
  const statement: pg.QueryConfig & { query_timeout: number } = {
    text,
    values,
    query_timeout: LIMITS.connectionCheckMs,
  };
  try {
    return await client.query<Row>(statement);
  } catch (error) {
    noteDriverFailure(error);
    throw error;
  }
}

/** An error that counts as the database being away. */
function away(message: string): Error {
  const error = new Error(message);
  noteLost(error);
  return error;
}

function addressOf(connection: Connection): Address {
  return connection.kind === "url" ? readAddress(connection.url) : localAddress(connection);
}

function localAddress(connection: Connection & { kind: "local" }): Address {
  const { host, port, user, password, database } = connection;
  const tls = { mode: "disable", rootCert: "", cert: "", key: "", keyPassword: "" } as const;
  return { hosts: [{ host, port }], user, password, database, tls, attrs: "any", parameters: [], hostMs: undefined };
}
