import type pg from "pg";
import { type App, listenForSettings, loadApps } from "../db/app.ts";
import { loadEventMeta, loadPropertyMeta } from "../db/metadata.ts";
import { loadPlatformSecrets } from "../db/platform-secret.ts";
import type { AppMetadata, MetaState, PropertyType } from "../domain/metadata.ts";
import { ApiError, messageOf } from "../errors.ts";
import type { Log } from "../log.ts";
import { type Loop, startLoop } from "../loop.ts";
import type { Vault } from "../vault.ts";

export type ServedApp = App & {
  metadata: AppMetadata;
  /** Secrets of ad platforms, by `platform name`. */
  secrets: ReadonlyMap<string, string>;
};

const RELOAD_MS = 5_000;

/**
 * All apps with their metadata, in memory. Changes arrive by notification, and by a reload every few seconds in case
 * one was missed. While the database is away the last known state is used.
 */
export class AppDirectory {
  readonly #pool: pg.Pool;
  readonly #vault: Vault;
  readonly #log: Log;
  #byToken = new Map<string, ServedApp>();
  #byId = new Map<number, ServedApp>();
  #loop: Loop | undefined;
  #listener: pg.PoolClient | undefined;
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(options: { pool: pg.Pool; vault: Vault; log: Log }) {
    this.#pool = options.pool;
    this.#vault = options.vault;
    this.#log = options.log;
  }

  async start(): Promise<void> {
    await this.reload();
    this.#loop = startLoop({
      name: "settings",
      log: this.#log,
      idleMs: RELOAD_MS,
      turn: async () => {
        await this.#listen();
        await this.reload();
        return "idle";
      },
    });
  }

  async stop(): Promise<void> {
    await this.#loop?.stop();
    this.#listener?.release(true);
    this.#listener = undefined;
  }

  byId(appId: number): ServedApp | undefined {
    return this.#byId.get(appId);
  }

  /** The app of an access token, from memory; undefined when it needs a second look or does not exist. */
  peek(token: string): ServedApp | undefined {
    return this.#byToken.get(token);
  }

  /** Like peek, but an unknown token is looked for in the database once more: the app may have been made just now. */
  async find(token: string | undefined): Promise<ServedApp> {
    let app = token === undefined ? undefined : this.#byToken.get(token);
    if (!app && token) {
      await this.#reloadIfPossible();
      app = this.#byToken.get(token);
    }
    if (!app) throw new ApiError("badToken", token ? "access_token is not known." : "access_token is missing.");
    return app;
  }

  /** For those who name an app by its id; it may have been made just now. */
  async findById(appId: number): Promise<ServedApp> {
    if (!this.#byId.has(appId)) await this.#reloadIfPossible();
    const app = this.#byId.get(appId);
    if (!app) throw new ApiError("badToken", "app_id is not known.");
    return app;
  }

  async #reloadIfPossible(): Promise<void> {
    await this.reload().catch((error) =>
      this.#log.warn({ reason: messageOf(error) }, "The settings could not be read."),
    );
  }

  /** One at a time, so that an older state never replaces a newer one; calls that come while one runs share the next. */
  reload(): Promise<void> {
    this.#next ??= this.#running
      .catch(() => {})
      .then(() => {
        this.#next = undefined;
        return this.#load();
      });
    this.#running = this.#next;
    return this.#next;
  }

  async #load(): Promise<void> {
    const [apps, secrets, events, properties] = await Promise.all([
      loadApps(this.#pool, this.#vault),
      loadPlatformSecrets(this.#pool, this.#vault),
      loadEventMeta(this.#pool),
      loadPropertyMeta(this.#pool),
    ]);
    const byToken = new Map<string, ServedApp>();
    const byId = new Map<number, ServedApp>();
    for (const app of apps) {
      const declared = properties.filter(
        (meta) => meta.appId === app.appId && meta.state === "declared" && meta.type !== "any",
      );
      const inScope = (scope: string) =>
        new Map<string, PropertyType>(
          declared.filter((meta) => meta.scope === scope).map((meta) => [meta.name, meta.type as PropertyType]),
        );
      const states = new Map<string, MetaState>(
        events.filter((meta) => meta.appId === app.appId).map((meta) => [meta.name, meta.state]),
      );
      const metadata: AppMetadata = {
        mode: app.metadataMode,
        events: states,
        properties: { event: inScope("event"), user: inScope("user") },
      };
      const served = { ...app, metadata, secrets: secrets.get(app.appId) ?? new Map<string, string>() };
      byToken.set(app.accessToken, served);
      byId.set(app.appId, served);
    }
    this.#byToken = byToken;
    this.#byId = byId;
  }

  async #listen(): Promise<void> {
    if (this.#listener) return;
    const client = await this.#pool.connect();
    this.#listener = client;
    const lost = () => {
      if (this.#listener !== client) return;
      this.#listener = undefined;
      client.release(true);
    };
    client.on("error", lost);
    client.on("end", lost);
    client.on("notification", () => {
      this.reload().catch((error) => this.#log.warn({ reason: messageOf(error) }, "The settings could not be read."));
    });
    await listenForSettings(client);
  }
}
