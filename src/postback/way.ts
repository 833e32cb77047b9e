import type { ClaimedRow } from "../db/outbox.ts";
import type { UserAccount } from "../db/user-account.ts";
import type { TouchKind } from "../domain/attribution/touch.ts";
import { LATE_MS } from "../domain/postback/postback-rule.ts";

/** A claimed row with what the tables know of it. */
export type Parcel = {
  row: ClaimedRow;
  /** Undefined: the user is gone. */
  user: UserAccount | undefined;
  /** Of the touch that won the user. */
  touchKind: TouchKind;
  /** See the postback: when it happened, what it is worth, and the order it is about. */
  atMs: number;
  valueCents: number | null;
  traceId: string;
  /** By which others know it again. */
  dedupeId: string;
  createdAtMs: number;
  resent: number;
};

/**
 * How an attempt ended. `later`: to be tried again; where the other side is down, all that goes the same way waits with
 * it. The three others are final.
 */
export type Delivery =
  | { kind: "accepted"; cents: number }
  | { kind: "skipped"; reason: string }
  | { kind: "given_up"; reason: string }
  | { kind: "later"; reason: string; isDown: boolean };

/** A way to somebody who is told: an account at a platform, or a callback of the app. */
export type Way = {
  lane: string;
  /** Another text where the settings are others. */
  version: string;
  /** 0: no limit. */
  ratePerS: number;
  /** Why nobody is told, as far as that can be known without a call; undefined: somebody is to be called. */
  skips(parcel: Parcel): string | undefined;
  deliver(parcel: Parcel): Promise<Delivery>;
};

/** What is said where it cannot be known whether the platform has counted. */
export const ANSWER_LOST =
  "The answer was lost, and the platform may have counted it: it does not tell repeats apart, so it is not sent again by itself.";

/**
 * What nobody has tried to tell for so long is history, as when the journal of a time without accounts is applied anew.
 * Who asks for it by hand still gets it.
 */
export function isOfThePast({ row, createdAtMs, resent }: Parcel, nowMs: number): boolean {
  return row.attempts === 1 && resent === 0 && nowMs - createdAtMs >= LATE_MS;
}
