import type pg from "pg";
import { type Clock, elapsedMs } from "../clock.ts";
import { loadAppRules } from "../db/app.ts";
import { loadCallbacks } from "../db/callback.ts";
import { isDistributed } from "../db/engine/distribute.ts";
import { loadMediaTokens } from "../db/media-token.ts";
import { findDueLanes, hastenOutbox } from "../db/outbox.ts";
import { loadAccounts } from "../db/platform-account.ts";
import { loadPlatformSecrets } from "../db/platform-secret.ts";
import { calendarOf } from "../domain/calendar.ts";
import { callable } from "../domain/network.ts";
import { appOfLane } from "../domain/postback/postback-book.ts";
import type { Log } from "../log.ts";
import { type Loop, startLoop } from "../loop.ts";
import { TokenDesk } from "../outbound/account-token.ts";
import { loadAllConnectors } from "../outbound/connectors.ts";
import { Sender } from "../outbound/sender.ts";
import type { Vault } from "../vault.ts";
import { CallbackChannel } from "./callback-channel.ts";
import type { Channel } from "./channel.ts";
import { Lane } from "./lane.ts";
import { lentTo, PlatformChannel } from "./platform-channel.ts";

export type WorkerOptions = {
  pool: pg.Pool;
  vault: Vault;
  log: Log;
  clock: Clock;
  /** The clock for durations: pauses of a platform, and calls per second. */
  elapsed?: Clock;
  backOffMs: readonly number[];
  deadlineMs: number;
  connectionsMax: number;
  /** Whether no other process sends; absent when there is none. */
  maySend?: () => Promise<boolean>;
  /** Whether addresses of private networks may be called. */
  mayCallPrivate: { platforms: boolean; callbacks: boolean };
};

const IDLE_MS = 500;
const SETTINGS_MS = 2_000;
/** How often rows are looked for that a wrong clock has put off. It reads the outbox, which is long while a platform is down. */
const HASTEN_MS = 10_000;
/** The lease in deadlines: an attempt may need a new token, and each of three calls may take its whole deadline. */
const LEASE_DEADLINES = 6;

/** Sends the postbacks in the outbox. */
export class PostbackWorker {
  readonly #options: WorkerOptions;
  readonly #elapsed: Clock;
  readonly #toPlatforms: Sender;
  readonly #toApps: Sender;
  readonly #tokens: TokenDesk;
  readonly #lanes = new Map<string, Lane>();
  readonly #running = new Map<string, Promise<void>>();
  #timeZones = new Map<number, string>();
  #settingsDueMs = Number.NEGATIVE_INFINITY;
  /** Whether no other process sends, as of the last turn. */
  #isDistributed = false;
  #isSender = false;
  #hastenDueMs = Number.NEGATIVE_INFINITY;

  constructor(options: WorkerOptions) {
    const { pool, vault, clock, deadlineMs, connectionsMax, mayCallPrivate } = options;
    this.#options = options;
    this.#elapsed = options.elapsed ?? elapsedMs;
    const reach = (isAllowed: boolean) => ({ mayCall: callable({ mayCallPrivate: isAllowed }) });
    this.#toPlatforms = new Sender({ deadlineMs, connectionsMax, ...reach(mayCallPrivate.platforms) });
    this.#tokens = new TokenDesk({ pool, vault, clock, sender: this.#toPlatforms });
    this.#toApps = new Sender({ deadlineMs, connectionsMax, ...reach(mayCallPrivate.callbacks) });
  }

  start(): Loop {
    const { log } = this.#options;
    const loop = startLoop({ name: "postback", log, idleMs: IDLE_MS, turn: (signal) => this.turn(signal) });
    return {
      stop: async () => {
        await loop.stop();
        await this.finish();
      },
    };
  }

  /** Starts every lane in which something is due. Returns at once: a lane takes as long as its platform. */
  async turn(signal: AbortSignal): Promise<"idle"> {
    const { maySend = async () => true } = this.#options;
    // While nobody knows, nobody sends.
    this.#isSender = await maySend().catch((error: unknown) => {
      this.#isSender = false;
      throw error;
    });
    if (!this.#isSender) return "idle";
    if (this.#elapsed() >= this.#settingsDueMs) await this.#loadSettings();
    if (this.#elapsed() >= this.#hastenDueMs) await this.#hasten();
    for (const name of await this.#findDue()) {
      const running = this.#lanes
        .get(name)!
        .run(signal, () => this.#isSender)
        .catch((error: unknown) => this.#options.log.warn({ lane: name, reason: String(error) }, "A lane stopped."))
        .finally(() => this.#running.delete(name));
      this.#running.set(name, running);
    }
    return "idle";
  }

  /** The lanes that could run and have something due. */
  async #findDue(): Promise<string[]> {
    const { pool, clock } = this.#options;
    const still = [...this.#lanes].flatMap(([name, lane]) => (!this.#running.has(name) && lane.isOpen() ? [name] : []));
    const due: string[] = [];
    for (const lanes of this.#isDistributed ? groupedByApp(still) : [still])
      due.push(...(await findDueLanes(pool, lanes, clock())));
    return due;
  }

  /** Waits until all running lanes have ended. */
  async rest(): Promise<void> {
    await Promise.all(this.#running.values());
  }

  async finish(): Promise<void> {
    await this.rest();
    this.#toPlatforms.close();
    this.#toApps.close();
  }

  async #hasten(): Promise<void> {
    const { pool, clock, backOffMs } = this.#options;
    await hastenOutbox(pool, { nowMs: clock(), waitMsMax: Math.max(0, ...backOffMs) });
    this.#hastenDueMs = this.#elapsed() + HASTEN_MS;
  }

  async #loadSettings(): Promise<void> {
    const { pool, log, clock, backOffMs, deadlineMs } = this.#options;
    this.#isDistributed = await isDistributed(pool);
    this.#timeZones = new Map((await loadAppRules(pool)).map((app) => [app.appId, app.timeZone]));
    const channels = await this.#loadChannels();
    const dayOf = (appId: number, atMs: number) => calendarOf(this.#timeZones.get(appId) ?? "UTC").dayOf(atMs);
    const deps = { pool, log, clock, elapsed: this.#elapsed, backOffMs, dayOf, leaseMs: deadlineMs * LEASE_DEADLINES };
    const names = new Set(channels.map((channel) => channel.lane));
    for (const name of this.#lanes.keys()) if (!names.has(name)) this.#lanes.delete(name);
    for (const channel of channels) {
      const known = this.#lanes.get(channel.lane);
      if (known) known.use(channel);
      else this.#lanes.set(channel.lane, new Lane(deps, channel));
    }
    this.#settingsDueMs = this.#elapsed() + SETTINGS_MS;
  }

  async #loadChannels(): Promise<Channel[]> {
    const { pool, vault, clock } = this.#options;
    const lenders = { tokens: await loadMediaTokens(pool, vault), secrets: await loadPlatformSecrets(pool, vault) };
    const connectorsOf = await loadAllConnectors(pool);
    const platforms = (await loadAccounts(pool, vault)).flatMap((account) => {
      const connector = connectorsOf(account.appId).postbackOf(account.adPlatform);
      if (!account.postbacks || !connector) return [];
      const deps = { pool, vault, clock, sender: this.#toPlatforms, tokens: this.#tokens };
      return [new PlatformChannel(deps, { account, connector, lent: lentTo(account, connector, lenders) })];
    });
    const callbacks = (await loadCallbacks(pool, vault)).filter((callback) => callback.enabled);
    return [
      ...platforms,
      ...callbacks.map((callback) => new CallbackChannel({ sender: this.#toApps, clock }, callback)),
    ];
  }
}

function groupedByApp(lanes: readonly string[]): string[][] {
  const byApp = new Map<number, string[]>();
  for (const lane of lanes) {
    const known = byApp.get(appOfLane(lane));
    if (known) known.push(lane);
    else byApp.set(appOfLane(lane), [lane]);
  }
  return [...byApp.values()];
}
