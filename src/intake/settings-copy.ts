import { createHash } from "node:crypto";
import { open, readFile, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Clock, elapsedMs } from "../clock.ts";
import type { App } from "../db/app.ts";
import type { AppMetadata } from "../domain/event/metadata.ts";
import { messageOf } from "../errors.ts";
import type { Position } from "../journal/entry-log.ts";
import { syncFolder } from "../journal/segment.ts";
import type { Log } from "../log.ts";
import type { Vault } from "../vault.ts";
import type { ServedApp } from "./app-directory.ts";

/** Grows with every change of what the copy holds. A copy of another version is not used. */
const VERSION = 2;
const RENEW_MS = 60_000;
/** The least time between two comparisons with the copy, each of which may write, seal and sync the settings of all apps. */
const REST_MS = 1_000;
/** The age up to which a copy is trusted. Tokens that were replaced since would still be accepted. */
const KEPT_MS_MAX = 7 * 86_400_000;

/** What a start without the database needs. */
export type KnownSettings = {
  savedAtMs: number;
  userTokenKey: Buffer;
  erasureKey: Buffer;
  /** Positions that the cursors of this journal have reached; none if the copy was written beside another one. */
  applied: readonly Position[];
  apps: ServedApp[];
};

type Head = { version: number; saved_at_ms: number; key: string; sha256: string };
type Body = {
  user_token: string;
  erasure: string;
  journal: string;
  /** A single number in copies that were written before there were partitions. */
  applied: Position | readonly Position[];
  apps: (App & { metadata: StoredMetadata; secrets: [string, string][] })[];
};
type StoredMetadata = {
  mode: AppMetadata["mode"];
  events: [string, never][];
  properties: { event: [string, never][]; user: [string, never][] };
};

export const settingsFileOf = (dataDir: string): string => join(dataDir, "settings.sealed");

/**
 * A copy of the settings in DATA_DIR: one line that describes it, then everything else sealed by the vault, because it
 * holds tokens and keys. It is written under another name and renamed, so that a crash leaves the old copy or the new one.
 */
export class SettingsCopy {
  readonly #options: SettingsCopyOptions;
  #digest = "";
  #renewAtMs = 0;
  #latest: readonly ServedApp[] = [];
  /** A comparison that is still to come. */
  #coming: Promise<void> | undefined;
  #restsUntilMs = 0;
  readonly #stopping = new AbortController();
  #writing: Promise<void> = Promise.resolve();

  constructor(options: SettingsCopyOptions) {
    this.#options = options;
  }

  /**
   * Stores the settings when they have changed, and now and then to say that they still hold. Of calls in quick succession
   * the last one counts for all.
   */
  store(apps: readonly ServedApp[]): Promise<void> {
    this.#latest = apps;
    this.#coming ??= this.#storeLatest();
    return this.#coming;
  }

  /** Stores at once what is still to be stored. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#coming;
    await this.#writing;
  }

  async #storeLatest(): Promise<void> {
    const { signal } = this.#stopping;
    const restMs = Math.max(0, this.#restsUntilMs - elapsedMs());
    await sleep(restMs, undefined, { ref: false, signal }).catch(() => {});
    await this.#writing;
    this.#coming = undefined;
    this.#restsUntilMs = elapsedMs() + REST_MS;
    this.#writing = this.#storeIfNeeded(this.#latest).catch((error: unknown) => {
      this.#digest = "";
      this.#options.log.warn({ reason: messageOf(error) }, "The copy of the settings could not be written.");
    });
    await this.#writing;
  }

  async #storeIfNeeded(apps: readonly ServedApp[]): Promise<void> {
    const { vault, journalId, applied } = this.#options;
    const { userTokenKey, erasureKey } = this.#options.keys;
    const settings = {
      user_token: userTokenKey.toString("hex"),
      erasure: erasureKey.toString("hex"),
      apps: apps.map(stored),
    };
    const digest = digestOf(JSON.stringify(settings));
    if (digest === this.#digest && elapsedMs() < this.#renewAtMs) return;
    this.#digest = digest;
    this.#renewAtMs = elapsedMs() + RENEW_MS;
    const body: Body = { ...settings, journal: journalId, applied: applied() };
    await this.#write(vault.seal(JSON.stringify(body)));
  }

  async #write(sealed: string): Promise<void> {
    const { dataDir, vault, clock } = this.#options;
    const head: Head = {
      version: VERSION,
      saved_at_ms: clock(),
      key: vault.fingerprint,
      sha256: digestOf(sealed),
    };
    const path = settingsFileOf(dataDir);
    const file = await open(`${path}.draft`, "w", 0o600);
    try {
      await file.writeFile(`${JSON.stringify(head)}\n${sealed}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(`${path}.draft`, path);
    await syncFolder(dirname(path));
  }
}

export type SettingsCopyOptions = {
  dataDir: string;
  vault: Vault;
  keys: { userTokenKey: Buffer; erasureKey: Buffer };
  journalId: string;
  clock: Clock;
  log: Log;
  /** The positions that the cursors are known to have reached. */
  applied: () => readonly Position[];
};

/** The copy, or why there is none that can be used. */
export async function readSettingsCopy(
  dataDir: string,
  { vault, journalId, nowMs }: { vault: Vault | undefined; journalId: string; nowMs: number },
): Promise<KnownSettings | string> {
  const text = await readFile(settingsFileOf(dataDir), "utf8").catch(() => undefined);
  if (text === undefined) return "there is no copy of the settings yet";
  const [first = "", sealed = ""] = text.split("\n");
  const head = parsed<Head>(first);
  if (!head || head.sha256 !== digestOf(sealed)) return "the copy of the settings is damaged";
  if (head.version !== VERSION) return "the copy of the settings was written by another version";
  if (vault === undefined || head.key !== vault.fingerprint)
    return "the copy of the settings is sealed with another key";
  if (nowMs - head.saved_at_ms > KEPT_MS_MAX) return "the copy of the settings is too old";
  const body = parsed<Body>(vault.open(sealed))!;
  return {
    savedAtMs: head.saved_at_ms,
    userTokenKey: Buffer.from(body.user_token, "hex"),
    erasureKey: Buffer.from(body.erasure, "hex"),
    applied: body.journal === journalId ? [body.applied].flat() : [],
    apps: body.apps.map(served),
  };
}

function stored({ metadata, secrets, ...app }: ServedApp): Body["apps"][number] {
  const { mode, events, properties } = metadata;
  return {
    ...app,
    metadata: {
      mode,
      events: [...events] as [string, never][],
      properties: {
        event: [...properties.event] as [string, never][],
        user: [...properties.user] as [string, never][],
      },
    },
    secrets: [...secrets],
  };
}

function served({ metadata, secrets, ...app }: Body["apps"][number]): ServedApp {
  const { mode, events, properties } = metadata;
  return {
    ...app,
    metadata: {
      mode,
      events: new Map(events),
      properties: { event: new Map(properties.event), user: new Map(properties.user) },
    },
    secrets: new Map(secrets),
  };
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function parsed<T>(text: string): T | undefined {
  try {
    return JSON.parse(text) as T;
  } catch {
    return undefined;
  }
}
