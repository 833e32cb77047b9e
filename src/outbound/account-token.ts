import { randomBytes } from "node:crypto";
import type pg from "pg";
import type { Clock } from "../clock.ts";
import { allowIdle, inTransaction } from "../db/engine/pool.ts";
import { type AccountKey, lockSharers, type PlatformAccount, storeAccount } from "../db/platform-account.ts";
import { LIMITS } from "../limits.ts";
import {
  type AccountField,
  type AccountSettings,
  settingsOf,
  type TokenAnswer,
  type TokenFlow,
} from "../platform/connector/connector.ts";
import type { Vault } from "../vault.ts";
import type { Sender } from "./sender.ts";

export type TokenDeps = { pool: pg.Pool; vault: Vault; clock: Clock; sender: Sender };

export function newNonce(): string {
  return randomBytes(16).toString("hex");
}

/** The values of an account's fields, with the values lent to it. */
export function settingsOfAccount(
  account: PlatformAccount,
  fields: readonly AccountField[],
  lent: Readonly<Record<string, string>> = {},
): AccountSettings {
  return settingsOf(fields, { advertiser_id: account.advertiserId, ...lent, ...account.settings, ...account.secrets });
}

export type Refreshed = { kind: "refreshed"; account: PlatformAccount } | { kind: "refused"; reason: string };

/**
 * Gets a new access token in place of `used`, one at a time per authorisation across all processes: platforms invalidate
 * the old tokens when they issue new ones, for all accounts that the person has authorised together.
 */
export async function refreshToken(
  deps: TokenDeps,
  key: AccountKey,
  options: { flow: TokenFlow; fields: readonly AccountField[]; used: string },
): Promise<Refreshed> {
  return inTransaction(deps.pool, async (tx): Promise<Refreshed> => {
    const sharers = await lockSharers(tx, deps.vault, key);
    const account = sharers.find(({ advertiserId, appId }) => advertiserId === key.advertiserId && appId === key.appId);
    if (!account) return { kind: "refused", reason: "The account is gone." };
    if ((account.secrets.access_token ?? "") !== options.used) return { kind: "refreshed", account };
    const nowMs = deps.clock();
    const call = { account: settingsOfAccount(account, options.fields), nowMs, nonce: newNonce() };
    const request = options.flow.request(call);
    if (!request)
      return { kind: "refused", reason: "The account lacks the fields that are needed to get a new access token." };
    await allowIdle(tx, deps.sender.deadlineMs + LIMITS.transactionIdleMs);
    const sent = await deps.sender.send(request, "fresh");
    if (sent.kind !== "reply") return { kind: "refused", reason: sent.reason };
    const answer = options.flow.read(sent.reply, nowMs);
    if (answer.kind !== "token") return { kind: "refused", reason: answer.reason };
    for (const sharer of sharers) await storeAccount(tx, deps.vault, renewed(sharer, options.fields, answer), nowMs);
    return { kind: "refreshed", account: renewed(account, options.fields, answer) };
  });
}

type NewToken = Extract<TokenAnswer, { kind: "token" }>;

function renewed(account: PlatformAccount, fields: readonly AccountField[], token: NewToken): PlatformAccount {
  // Nothing is known about the end of a new refresh token unless the platform says it.
  const knownEnd = token.values.refresh_token === undefined ? account.refreshExpiresAtMs : null;
  return {
    ...withValues(account, fields, token.values),
    tokenExpiresAtMs: token.expiresAtMs,
    refreshExpiresAtMs: token.refreshExpiresAtMs ?? knownEnd,
    lastError: "",
    lastErrorAtMs: null,
  };
}

/** The most accounts that get a token at the same time: each holds a database connection meanwhile. */
const AT_ONCE_MAX = 2;

/**
 * Gets tokens for many callers of one process; callers who need the same token wait for it together. Otherwise a
 * platform that does not answer would occupy a connection for each call in flight, until none were left.
 */
export class TokenDesk {
  readonly #deps: TokenDeps;
  readonly #asked = new Map<string, Promise<Refreshed>>();

  constructor(deps: TokenDeps) {
    this.#deps = deps;
  }

  async refresh(
    key: AccountKey,
    options: { flow: TokenFlow; fields: readonly AccountField[]; used: string },
  ): Promise<Refreshed> {
    const name = JSON.stringify([key.appId, key.adPlatform, key.advertiserId, options.used]);
    for (;;) {
      const asked = this.#asked.get(name);
      if (asked) return asked;
      if (this.#asked.size < AT_ONCE_MAX) break;
      await Promise.race([...this.#asked.values()].map((other) => other.catch(() => {})));
    }
    const asking = refreshToken(this.#deps, key, options).finally(() => this.#asked.delete(name));
    this.#asked.set(name, asking);
    return asking;
  }
}

/** The account with new values, each among the secrets or the settings as its field says. */
export function withValues(
  account: PlatformAccount,
  fields: readonly AccountField[],
  values: Readonly<Record<string, string>>,
): PlatformAccount {
  const secret = new Set(fields.filter((field) => field.isSecret).map((field) => field.name));
  const [settings, secrets] = [{ ...account.settings }, { ...account.secrets }];
  for (const [name, value] of Object.entries(values)) {
    const target = secret.has(name) ? secrets : settings;
    if (value === "") delete target[name];
    else target[name] = value;
  }
  return { ...account, settings, secrets };
}
