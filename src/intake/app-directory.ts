import type pg from "pg";
import { elapsedMs } from "../clock.ts";
import { type App, listenForSettings, loadApps } from "../db/app.ts";
import { loadEventMeta, loadPropertyMeta, type PropertyMeta } from "../db/metadata.ts";
import { loadPlatformSecrets } from "../db/platform-secret.ts";
import { type AppMetadata, isSameMetadata, type PropertyType } from "../domain/event/metadata.ts";
import { ApiError, messageOf } from "../errors.ts";
import { LIMITS } from "../limits.ts";
import type { Log } from "../log.ts";
import { type Loop, startLoop } from "../loop.ts";
import { OpenedSecrets, type Vault } from "../vault.ts";
import { within } from "../within.ts";
import { RecentMisses } from "./recent-misses.ts";

/** Unknown app tokens and ids that are remembered. */
const UNKNOWN_APPS_MAX = 10_000;

export type ServedApp = App & {
  metadata: AppMetadata;
  /** Secrets of ad platforms, by `platform name`. */
  secrets: ReadonlyMap<string, string>;
};

const RELOAD_MS = 5_000;
/** How long a load may take. The machine of the database may have vanished, and the next load uses another connection. */
const LOAD_MS_MAX = 30_000;
/** The form of access tokens. Anything else was never issued and needs no look-up. */
const TOKEN = /^\w{1,64}$/;

/** The apps to read: all, or the named ones. */
type Wish = { kind: "all" } | Named;
type Named = { kind: "named"; ids: Set<number>; tokens: Set<string> };

export type AppDirectoryOptions = {
  pool: pg.Pool;
  /** Where a connection can listen for notifications, if `pool` goes through a pooler. */
  sessionPool?: pg.Pool;
  vault: Vault;
  log: Log;
  now?: () => number;
  loadMsMax?: number;
  /** Told all apps whenever they have been read. */
  onLoaded?: (apps: readonly ServedApp[]) => void;
};

/**
 * All apps with their metadata, in memory. Changes arrive by notification, and by a reload every few seconds in case
 * one was missed. While the database is away the last known state is used.
 */
export class AppDirectory {
  readonly #pool: pg.Pool;
  readonly #sessionPool: pg.Pool;
  /** Every reload reads all apps, and opening their keys would take most of it. */
  readonly #secrets: OpenedSecrets;
  readonly #log: Log;
  #byToken = new Map<string, ServedApp>();
  #byId = new Map<number, ServedApp>();
  #loop: Loop | undefined;
  #listener: pg.PoolClient | undefined;
  /** Tokens, and ids as `id 7`, that no app has. A notification or the next reload brings new apps. */
  readonly #missing = new RecentMisses({ namesMax: UNKNOWN_APPS_MAX, keepMs: RELOAD_MS });
  readonly #now: () => number;
  readonly #loadMsMax: number;
  readonly #onLoaded: AppDirectoryOptions["onLoaded"];
  #running: Promise<void> = Promise.resolve();
  #next: { wish: Wish; loaded: Promise<void> } | undefined;

  constructor(options: AppDirectoryOptions) {
    this.#pool = options.pool;
    this.#sessionPool = options.sessionPool ?? options.pool;
    this.#secrets = new OpenedSecrets(options.vault);
    this.#log = options.log;
    this.#now = options.now ?? elapsedMs;
    this.#loadMsMax = options.loadMsMax ?? LOAD_MS_MAX;
    this.#onLoaded = options.onLoaded;
  }

  /** Serves the apps of the database, or, while it is away, those that were known before. */
  async start(known?: readonly ServedApp[]): Promise<void> {
    if (known) this.#serveAll(known);
    else await this.reload();
    this.#loop = startLoop({
      name: "settings",
      log: this.#log,
      idleMs: RELOAD_MS,
      turn: async () => {
        await within(this.#loadMsMax, this.#listen());
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

  /** Like peek, but looks up an unknown token in the database: the app may have just been created. */
  async find(token: string | undefined): Promise<ServedApp> {
    if (!token) throw new ApiError("badToken", "access_token is missing.");
    const known = this.#byToken.get(token);
    if (known) return known;
    const wish: Named = { kind: "named", ids: new Set(), tokens: new Set([token]) };
    const app = TOKEN.test(token) ? await this.#lookFor(token, wish, () => this.#byToken.get(token)) : undefined;
    if (!app) throw new ApiError("badToken", "access_token is not known.");
    return app;
  }

  /** The app of an id, looked up in the database when unknown: it may have just been created. */
  async findById(appId: number): Promise<ServedApp> {
    const known = this.#byId.get(appId);
    if (known) return known;
    const wish: Named = { kind: "named", ids: new Set([appId]), tokens: new Set() };
    const isId = Number.isSafeInteger(appId);
    const app = isId ? await this.#lookFor(`id ${appId}`, wish, () => this.#byId.get(appId)) : undefined;
    if (!app) throw new ApiError("badToken", "app_id is not known.");
    return app;
  }

  reload(): Promise<void> {
    return this.#load({ kind: "all" });
  }

  /**
   * Looks up an unknown name. Strangers can invent names without end, so each is looked up only now and then, and the
   * number of concurrent look-ups is limited.
   */
  async #lookFor(name: string, wish: Named, get: () => ServedApp | undefined): Promise<ServedApp | undefined> {
    if (this.#missing.has(name, this.#now())) return undefined;
    const next = this.#next?.wish;
    if (next?.kind === "named" && next.tokens.size + next.ids.size >= LIMITS.appsLookedFor) {
      throw new ApiError("overloaded", "Too many unknown apps are being looked up.", { retryAfterS: 1 });
    }
    const isRead = await this.#loadIfPossible(wish);
    const app = get();
    // It may be an app that was created or given a new token since; whoever sends keeps the data and tries again.
    if (!isRead && !app)
      throw new ApiError("overloaded", "The app cannot be looked up while the database is away.", { retryAfterS: 5 });
    if (!app) this.#missing.add(name, this.#now());
    return app;
  }

  async #loadIfPossible(wish: Wish): Promise<boolean> {
    try {
      await this.#load(wish);
      return true;
    } catch (error) {
      this.#log.warn({ reason: messageOf(error) }, "The settings could not be read.");
      return false;
    }
  }

  /** Loads run one at a time, so that an older state never replaces a newer one. Calls during a load share the next. */
  #load(wish: Wish): Promise<void> {
    if (this.#next) {
      this.#next.wish = both(this.#next.wish, wish);
      return this.#next.loaded;
    }
    const next = { wish, loaded: this.#running };
    next.loaded = this.#running
      .catch(() => {})
      .then(() => {
        this.#next = undefined;
        return this.#read(next.wish);
      });
    this.#next = next;
    this.#running = next.loaded;
    return next.loaded;
  }

  async #read(wish: Wish): Promise<void> {
    // What comes too late is dropped, because a later load may have been served already.
    const served = await within(this.#loadMsMax, this.#loadServed(wish));
    if (wish.kind === "all") this.#serveAll(served);
    else this.#serveAlso(served);
    if (this.#onLoaded) this.#onLoaded([...this.#byId.values()]);
  }

  async #loadServed(wish: Wish): Promise<ServedApp[]> {
    if (wish.kind === "all") this.#secrets.beginRound();
    const named = wish.kind === "all" ? undefined : { ids: [...wish.ids], tokens: [...wish.tokens] };
    const apps = await loadApps(this.#pool, this.#secrets, named);
    return this.#serve(apps, wish.kind === "all" ? undefined : apps.map(({ appId }) => appId));
  }

  #serveAll(apps: readonly ServedApp[]): void {
    this.#byToken = new Map();
    this.#byId = new Map();
    this.#serveAlso(apps);
  }

  #serveAlso(apps: readonly ServedApp[]): void {
    for (const app of apps) {
      const before = this.#byId.get(app.appId);
      if (before) this.#byToken.delete(before.accessToken);
      this.#byToken.set(app.accessToken, app);
      this.#byId.set(app.appId, app);
    }
  }

  async #serve(apps: readonly App[], appIds: readonly number[] | undefined): Promise<ServedApp[]> {
    if (apps.length === 0) return [];
    const [secrets, events, properties] = await Promise.all([
      loadPlatformSecrets(this.#pool, this.#secrets, appIds),
      loadEventMeta(this.#pool, appIds).then(byApp),
      loadPropertyMeta(this.#pool, appIds).then(byApp),
    ]);
    return apps.map((app) => {
      const metadata: AppMetadata = {
        mode: app.metadataMode,
        events: new Map((events.get(app.appId) ?? []).map(({ name, state }) => [name, state])),
        properties: declaredOf(properties.get(app.appId) ?? []),
      };
      const before = this.#byId.get(app.appId)?.metadata;
      return {
        ...app,
        // The same object while nothing has changed: holders of a copy compare it to see whether theirs is current.
        metadata: before && isSameMetadata(before, metadata) ? before : metadata,
        secrets: secrets.get(app.appId) ?? new Map<string, string>(),
      };
    });
  }

  async #listen(): Promise<void> {
    if (this.#listener) return;
    const client = await this.#sessionPool.connect();
    this.#listener = client;
    const lost = () => {
      if (this.#listener !== client) return;
      this.#listener = undefined;
      client.release(true);
    };
    client.on("error", lost);
    client.on("end", lost);
    client.on("notification", ({ payload }) => void this.#loadIfPossible(wishOf(payload)));
    await listenForSettings(client);
  }
}

/** A notification names the app that has changed. */
function wishOf(payload = ""): Wish {
  return /^\d{1,15}$/.test(payload)
    ? { kind: "named", ids: new Set([Number(payload)]), tokens: new Set() }
    : { kind: "all" };
}

function both(one: Wish, other: Wish): Wish {
  if (one.kind === "all" || other.kind === "all") return { kind: "all" };
  for (const id of other.ids) one.ids.add(id);
  for (const token of other.tokens) one.tokens.add(token);
  return one;
}

function byApp<T extends { appId: number }>(rows: readonly T[]): Map<number, T[]> {
  const groups = new Map<number, T[]>();
  for (const row of rows) {
    const group = groups.get(row.appId);
    if (group) group.push(row);
    else groups.set(row.appId, [row]);
  }
  return groups;
}

/** The properties whose type is checked, by scope. */
function declaredOf(properties: readonly PropertyMeta[]): AppMetadata["properties"] {
  const declared = { event: new Map<string, PropertyType>(), user: new Map<string, PropertyType>() };
  for (const { scope, name, type, state } of properties)
    if (state === "declared" && type !== "any") declared[scope].set(name, type);
  return declared;
}
