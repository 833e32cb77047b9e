import pg from "pg";
import { noteDriverFailure, noteLost } from "../engine/failure.ts";
import type { Parameter } from "./address.ts";
import { bounded, type Server } from "./server.ts";

/** Parameters of a connection for the sessions that it gets, by connection. Only where sessions are lent. */
const lentParameters = new WeakMap<object, string>();

/** The statements that begin a lent session's transaction, besides `begin`; empty elsewhere. */
export function parametersOfTransaction(client: object): string {
  return lentParameters.get(client) ?? "";
}

/** Whether what a statement leaves in its session is gone, or somebody else's, after the transaction. */
export function isLent(executor: object): boolean {
  return lentParameters.has(executor);
}

export type ServerPoolOptions = {
  waitMs: number;
  use: "writes" | "reads";
  parameters: readonly Parameter[];
  config: pg.PoolConfig;
};

/**
 * A pool that connects to whichever host fits, and whose sessions have the given parameters however they are reached:
 *
 *   own    in the start-up message
 *   kept   by one statement after connecting: poolers refuse unknown parameters in the start-up message, or drop them
 *   lent   at the beginning of each transaction; a single statement becomes a transaction for that
 */
export class ServerPool extends pg.Pool {
  readonly #server: Server;
  readonly #max: number;
  /** Finds out where the next connection goes. */
  readonly #aim: () => Promise<void>;

  constructor(server: Server, { waitMs, use, parameters, config }: ServerPoolOptions) {
    const all = [...server.parameters, ...parameters];
    // The host is known only when a connection is made.
    let target: pg.ClientConfig = {};
    class TargetClient extends pg.Client {
      constructor(own?: pg.ClientConfig) {
        super({ ...own, ...target, ...(server.sessions === "own" && { options: startUpOptions(all) }) });
        // A connection that dies while it passes from one user to the next has no other listener, and an error that nobody
        // listens to ends the process. Whoever gets it fails with the first statement.
        this.on("error", () => {});
      }
    }
    super({
      ...config,
      connectionTimeoutMillis: waitMs,
      Client: TargetClient,
      onConnect: async (client: pg.ClientBase) => {
        await server.assertFits(client, use);
        if (server.sessions === "kept") await setParameters(client, all);
        if (server.sessions === "lent") lentParameters.set(client, parametersOnce(all));
      },
    });
    this.#server = server;
    this.#max = config.max ?? 1;
    if (server.sessions === "lent") lentParameters.set(this, parametersOnce(all));
    this.#aim = async () => {
      target = await server.target(waitMs);
    };
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.PoolClient> | undefined {
    const connecting = this.#connect();
    if (!callback) return connecting;
    connecting.then(
      (client) => callback(undefined, client, client.release),
      (error: Error) => callback(error, undefined, () => {}),
    );
    return undefined;
  }

  /** Whether two statements could run now, each in a connection of its own. */
  get hasRoomForTwo(): boolean {
    return this.waitingCount === 0 && this.idleCount + this.#max - this.totalCount >= 2;
  }

  /** Runs a single statement as a transaction, so that a lent session has our parameters. */
  async queryLent(statement: pg.QueryArrayConfig): Promise<pg.QueryArrayResult<unknown[]>> {
    const client = await this.connect();
    let failure: Error | undefined;
    try {
      await client.query(`begin${parametersOfTransaction(client)}`);
      const result = await client.query<unknown[]>(statement);
      await client.query("commit");
      return result;
    } catch (error) {
      failure = error as Error;
      throw error;
    } finally {
      // Ends a connection whose transaction failed, and with it the transaction.
      client.release(failure);
    }
  }

  async #connect(): Promise<pg.PoolClient> {
    const { obstacle } = this.#server;
    if (obstacle !== undefined) {
      const error = new Error(obstacle);
      noteLost(error);
      throw error;
    }
    const isNew = this.idleCount === 0 && this.totalCount < this.#max;
    try {
      if (isNew) await this.#aim();
      return await super.connect();
    } catch (error) {
      noteDriverFailure(error);
      if (isNew) this.#server.forget();
      throw error;
    }
  }
}

type Connected = Parameters<pg.Pool["connect"]>[0];

/** In the form of the start-up message, where a backslash keeps a space or a backslash in a value. */
export function startUpOptions(parameters: readonly Parameter[]): string {
  return parameters.map(([name, value]) => `-c ${name}=${value.replace(/[\\\s]/g, "\\$&")}`).join(" ");
}

/** Sets parameters for the rest of a session. */
export async function setParameters(client: pg.ClientBase, parameters: readonly Parameter[]): Promise<void> {
  if (parameters.length === 0) return;
  const calls = parameters.map((_, index) => `set_config($${2 * index + 1}, $${2 * index + 2}, false)`);
  await bounded(client, `select ${calls.join(", ")}`, parameters.flat());
}

/** The default for transactions comes too late for the one that has begun. */
function parametersOnce(parameters: readonly Parameter[]): string {
  const calls = parameters
    .map(([name, value]) => [name === "default_transaction_read_only" ? "transaction_read_only" : name, value] as const)
    .map(([name, value]) => `set_config(${pg.escapeLiteral(name)}, ${pg.escapeLiteral(value)}, true)`);
  return calls.length === 0 ? "" : `; select ${calls.join(", ")}`;
}
