import { type ChildProcess, spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { clusterOf, stopPostmaster } from "../../sim/chaos/postmaster.ts";
import { type App, insertApp } from "../../src/db/app.ts";
import { embeddedConnection } from "../../src/db/engine/embedded-role.ts";
import { openPool } from "../../src/db/engine/pool.ts";
import type { MetadataMode } from "../../src/domain/event/metadata.ts";
import { createLog } from "../../src/log.ts";
import { openVault } from "../../src/vault.ts";
import { START } from "../process/launch.ts";
import { type Answer, call } from "./call.ts";
import { LOOK_MS_MAX, PATIENCE_MS } from "./patience.ts";
import { prepareDataDir } from "./prepared.ts";

export type { Answer };

type AppOptions = { name?: string; timeZone?: string; metadataMode?: MetadataMode };

/** A running server as a test sees it: its address, its data folder, its database. */
export class Touchpoint {
  readonly url: string;
  readonly dataDir: string;
  #pool: pg.Pool | undefined;

  constructor(server: { url: string; dataDir: string }) {
    this.url = server.url;
    this.dataDir = server.dataDir;
  }

  /** Kept open for all tests of this process: connecting takes longer than most queries. */
  get pool(): pg.Pool {
    this.#pool ??= this.database();
    return this.#pool;
  }

  /** A pool of the caller's own. Numbers and days are read as in the server. */
  database(name?: string): pg.Pool {
    const connection = embeddedConnection(this.dataDir);
    if (connection?.kind !== "local") throw new Error("The server has no database of its own.");
    const database = name ?? connection.database;
    const patience = { waitMs: PATIENCE_MS, transactionIdleMs: PATIENCE_MS };
    return openPool(
      { ...connection, database },
      { log: createLog("silent"), connectionsMax: 4, name: "test", ...patience },
    );
  }

  async createApp(options: AppOptions = {}): Promise<App> {
    return insertApp(this.pool, openVault({ dataDir: this.dataDir, secretKey: "" }), {
      name: options.name ?? "Test",
      timeZone: options.timeZone ?? "Asia/Shanghai",
      metadataMode: options.metadataMode ?? "open",
      createdAtMs: Date.now(),
    });
  }

  /** An app with these clients registered. */
  async appWith(clientIds: readonly string[], options: AppOptions = {}): Promise<App> {
    const app = await this.createApp(options);
    for (const clientId of clientIds) await this.register(app, clientId);
    return app;
  }

  /** POST to a collection endpoint, e.g. `post("event/collect/", app, body)`. */
  async post(
    path: string,
    app: Pick<App, "accessToken">,
    body: unknown,
    options: { query?: Record<string, string>; headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    const query = new URLSearchParams({ access_token: app.accessToken, ...options.query });
    const payload = typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
    return call(`${this.url}/event_center/api/v1/${path}?${query}`, {
      method: "POST",
      body: payload,
      headers: { "content-type": "application/json", ...options.headers },
    });
  }

  async get(path: string, query: Record<string, string> = {}): Promise<Answer> {
    return call(`${this.url}${path}?${new URLSearchParams(query)}`);
  }

  async register(app: App, clientId: string, more: object = {}): Promise<Answer> {
    return this.post("user/register/", app, { client_id: clientId, name: "n", channel: "c", version: 1, ...more });
  }

  async collect(app: App, clientId: string, events: unknown[], more: object = {}): Promise<Answer> {
    return this.post("event/collect/", app, { client_id: clientId, event_list: events, ...more });
  }

  /** The `user/get` records of these clients, once everything acknowledged so far has been applied. */
  async lookUp(app: App, ...clientIds: string[]): Promise<any[]> {
    await this.settle();
    return (await this.post("user/get/", app, { user_list: clientIds })).data.user_list;
  }

  /** Waits until everything acknowledged before the call is in the tables. */
  async settle(): Promise<void> {
    const until = Date.now() + PATIENCE_MS;
    const first = await this.get("/progress");
    const target = first.data.durable;
    let { applied } = first.data;
    // Each check costs the server a query, so the pauses between them grow.
    for (let waitMs = 20; applied < target; waitMs = Math.min(2 * waitMs, LOOK_MS_MAX)) {
      if (Date.now() > until) throw new Error(`Not settled: applied ${applied} of ${target}.`);
      await sleep(waitMs);
      applied = (await this.get("/progress")).data.applied;
    }
  }
}

export async function answerOf(response: Response): Promise<Answer> {
  return { status: response.status, headers: response.headers, ...((await response.json()) as object) } as Answer;
}

/** A separate server process. The test must end it with stop() or kill(). */
export class TouchpointProcess extends Touchpoint {
  readonly child: ChildProcess;
  readonly #output: () => string;

  private constructor(server: { url: string; dataDir: string }, child: ChildProcess, output: () => string) {
    super(server);
    this.child = child;
    this.#output = output;
  }

  /** Everything that the process has printed. */
  get output(): string {
    return this.#output();
  }

  /** `script`: the arguments of the shell that start the server, if not the one that was just built. */
  static async start(
    options: { dataDir?: string; env?: Record<string, string>; script?: readonly string[] } = {},
  ): Promise<TouchpointProcess> {
    const dataDir = options.dataDir ?? prepareDataDir();
    const child = spawn("sh", options.script ?? START, {
      env: {
        ...plainEnvironment(),
        PORT: "0",
        HOST: "127.0.0.1",
        DATA_DIR: dataDir,
        LOG_LEVEL: "warn",
        // Tests of the lake ask for it: its process would cost every other one time.
        ROLES: "http,apply,refresh,postback,cost",
        // No server listens there: a test that needs an answer names its own server.
        APPLE_ATTRIBUTION_URL: "http://127.0.0.1:9/",
        // The stand-ins for the ad platforms are on this machine.
        PLATFORM_PRIVATE_NETWORKS: "allow",
        // A test reads them as a person would.
        PRINT_SECRETS: "always",
        ...options.env,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    child.stdout!.on("data", (chunk) => (output += chunk));
    child.stderr!.on("data", (chunk) => (output += chunk));
    const until = Date.now() + PATIENCE_MS;
    for (;;) {
      const ready = /ready at (http:\/\/\S+)/.exec(output);
      if (ready) return new TouchpointProcess({ url: ready[1]!, dataDir }, child, () => output);
      if (child.exitCode !== null) throw new Error(`The server ended with ${child.exitCode}:\n${output}`);
      if (Date.now() > until) {
        child.kill("SIGKILL");
        throw new Error(`The server is not ready:\n${output}`);
      }
      await sleep(10);
    }
  }

  /** SIGTERM; resolves with the exit code. */
  async stop(): Promise<number | null> {
    return this.#end("SIGTERM");
  }

  /** Sends SIGKILL. The embedded database stays behind, as after a crash. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return this.child.exitCode;
    const exited = new Promise<number | null>((resolve) => this.child.once("exit", resolve));
    this.child.kill(signal);
    return exited;
  }
}

/** Stops a database that a killed server has left, and removes the folder. */
export async function cleanUp(dataDir: string): Promise<void> {
  await stopPostmaster(dataDir);
  rmSync(clusterOf(dataDir), { recursive: true, force: true });
  rmSync(dataDir, { recursive: true, force: true });
}

/** The environment without the server's settings, which must not leak into the server under test. */
function plainEnvironment(): Record<string, string> {
  const { PATH = "", HOME = "" } = process.env;
  return { PATH, HOME };
}
