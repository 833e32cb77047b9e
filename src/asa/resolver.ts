import type pg from "pg";
import type { Clock } from "../clock.ts";
import { type AsaToken, claimAsaTokens, findAppsWithDueTokens, postponeAsaToken } from "../db/asa-token.ts";
import { isObject, type JsonObject } from "../domain/json.ts";

const TOKENS_AT_ONCE = 20;

/** Apple's answer about a token. `unanswered`: ask again later. */
export type AsaAnswer =
  | { kind: "resolved"; outcome: "attributed" | "not_attributed" | "test" | "invalid"; attribution?: JsonObject }
  | { kind: "not_found" }
  | { kind: "unanswered" };

export type ResolverDeps = {
  pool: pg.Pool;
  clock: Clock;
  /** Apple's AdServices endpoint. */
  url: string;
  /** Makes the result durable. It reaches the tables through the journal, like everything else received. */
  accept: (result: { appId: number; clientId: string; outcome: string; attribution?: JsonObject }) => Promise<void>;
};

const DEADLINE_MS = 10_000;
const LEASE_MS = 60_000;
/** Apple's rule: a token that is not found yet may be requested again after 5 seconds, three times in all. */
const NOT_FOUND_WAIT_MS = 5_000;
const NOT_FOUND_TRIES = 3;
const TOKEN_LIFE_MS = 24 * 3_600_000;
const BACK_OFF_MS = [60_000, 300_000, 900_000, 1_800_000, 7_200_000];
/** The campaign id that Apple returns to builds under development. */
const TEST_ID = "1234567890";

/** Resolves all due tokens at the same time. Returns their number. */
export async function resolveTokens(deps: ResolverDeps): Promise<number> {
  const nowMs = deps.clock();
  const due: AsaToken[] = [];
  for (const appId of await findAppsWithDueTokens(deps.pool, nowMs)) {
    const limit = TOKENS_AT_ONCE - due.length;
    if (limit === 0) break;
    due.push(...(await claimAsaTokens(deps.pool, { appId, nowMs, leaseUntilMs: nowMs + LEASE_MS, limit })));
  }
  await Promise.all(due.map((token) => resolve(deps, token)));
  return due.length;
}

async function resolve(deps: ResolverDeps, token: AsaToken): Promise<void> {
  const { appId, clientId, attempts } = token;
  const answer = await ask(deps.url, token.token);
  const nowMs = deps.clock();
  switch (answer.kind) {
    case "resolved":
      return deps.accept({ appId, clientId, ...answer });
    case "not_found":
      if (attempts >= NOT_FOUND_TRIES) return deps.accept({ appId, clientId, outcome: "not_found" });
      return postponeAsaToken(deps.pool, { appId, clientId, dueAtMs: nowMs + NOT_FOUND_WAIT_MS });
    case "unanswered": {
      const waitMs = BACK_OFF_MS[Math.min(attempts, BACK_OFF_MS.length) - 1] ?? NOT_FOUND_WAIT_MS;
      if (nowMs + waitMs >= token.receivedAtMs + TOKEN_LIFE_MS) {
        return deps.accept({ appId, clientId, outcome: "expired" });
      }
      return postponeAsaToken(deps.pool, { appId, clientId, dueAtMs: nowMs + waitMs });
    }
  }
}

async function ask(url: string, token: string): Promise<AsaAnswer> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "text/plain" },
      body: token,
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
    return readAnswer(response.status, await response.text());
  } catch {
    // No connection, or too slow: treated like a server error.
    return { kind: "unanswered" };
  }
}

export function readAnswer(status: number, text: string): AsaAnswer {
  if (status === 404) return { kind: "not_found" };
  if (status === 400) return { kind: "resolved", outcome: "invalid" };
  if (status !== 200) return { kind: "unanswered" };
  const attribution = parsed(text);
  if (!attribution) return { kind: "unanswered" };
  if (attribution.attribution !== true) return { kind: "resolved", outcome: "not_attributed" };
  if (String(attribution.campaignId) === TEST_ID) return { kind: "resolved", outcome: "test" };
  return { kind: "resolved", outcome: "attributed", attribution };
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
