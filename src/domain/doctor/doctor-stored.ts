import type { LedgerCounts } from "../ledger.ts";
import { Evidence, type Finding, type FindingKind } from "./finding.ts";

/** Rules about the tables' data of the last day. */

/** A value that many users share, among those who have one. */
export type SharedValue = { value: string; users: number; of: number; firstAtMs: number; lastAtMs: number };

export type StoredFacts = {
  nowMs: number;
  ledger: LedgerCounts;
  openid: SharedValue | undefined;
  address: SharedValue | undefined;
  touches: readonly { platform: string; touches: number; withoutKey: number; firstAtMs: number; lastAtMs: number }[];
  withoutRate: readonly { currency: string; orders: number; amount: number }[];
};

const OPENID_USERS_MIN = 5;
const ADDRESS_USERS_MIN = 20;
const ADDRESS_SHARE = 0.8;
const TOUCHES_MIN = 10;
const DUPLICATES_MIN = 100;
const DUPLICATE_SHARE = 0.2;
/** Every app has a few phones with a wrong clock. */
const REJECTED_SHARE = 0.01;

export function storedFindings(facts: StoredFacts): (Finding | undefined)[] {
  return [
    sharedByUsers("shared_openid", "wx_openid", facts.openid, { users: OPENID_USERS_MIN, share: 0 }),
    sharedByUsers("shared_address", "ip", facts.address, { users: ADDRESS_USERS_MIN, share: ADDRESS_SHARE }),
    touchWithoutKey(facts),
    currencyWithoutRate(facts),
    rejectedByLedger(facts),
    manyDuplicates(facts),
  ];
}

function sharedByUsers(
  kind: FindingKind,
  field: string,
  shared: SharedValue | undefined,
  min: { users: number; share: number },
): Finding | undefined {
  if (!shared || shared.users < min.users || shared.users < shared.of * min.share) return undefined;
  const example = { [field]: shared.value, users: shared.users, of: shared.of };
  const { firstAtMs, lastAtMs } = shared;
  return { kind, severity: "error", count: shared.users, subjects: [shared.value], example, firstAtMs, lastAtMs };
}

/** Touches without a key, which can never match a registration. */
function touchWithoutKey({ touches }: StoredFacts): Finding | undefined {
  const evidence = new Evidence();
  let count = 0;
  for (const { platform, touches: all, withoutKey, lastAtMs } of touches) {
    if (all < TOUCHES_MIN || withoutKey * 2 < all) continue;
    count += withoutKey;
    evidence.add(lastAtMs, { ad_platform: platform, touches: all, without_key: withoutKey }, platform);
  }
  return evidence.finding("touch_without_key", "error", count);
}

function currencyWithoutRate({ withoutRate, nowMs }: StoredFacts): Finding | undefined {
  const evidence = new Evidence();
  let count = 0;
  for (const { currency, orders, amount } of withoutRate) {
    count += orders;
    evidence.add(nowMs, { currency, orders, amount }, currency);
  }
  return evidence.finding("currency_without_rate", "warning", count);
}

/** Rejections that the answers reported too, for apps that do not read the answers. */
function rejectedByLedger({ ledger, nowMs }: StoredFacts): Finding | undefined {
  const reasons = Object.entries(ledger.rejected).filter(([reason, events]) => reason !== "undeclared" && events > 0);
  const evidence = new Evidence();
  for (const [reason, events] of reasons) evidence.add(nowMs, { reason, events }, reason);
  const rejected = reasons.reduce((sum, [, events]) => sum + events, 0);
  const isMuch = rejected >= ledger.received * REJECTED_SHARE;
  return evidence.finding("rejected_events", isMuch ? "error" : "hint", rejected);
}

/** SDKs repeat unanswered calls; this many repeats mean that the app ignores the answers. */
function manyDuplicates({ ledger, nowMs }: StoredFacts): Finding | undefined {
  const { received, duplicate } = ledger;
  if (duplicate < DUPLICATES_MIN || duplicate < received * DUPLICATE_SHARE) return undefined;
  const evidence = new Evidence();
  evidence.add(nowMs, { received, duplicate });
  return evidence.finding("many_duplicates", "warning", duplicate);
}
