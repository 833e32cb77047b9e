import { LATE_MS } from "../domain/postback/postback-rule.ts";
import type { Parcel } from "./parcel.ts";

/**
 * How an attempt ended. `later`: to be tried again; when the receiver is down, everything in the same channel waits.
 * The three others are final.
 */
export type Delivery =
  | { kind: "accepted"; cents: number }
  | { kind: "skipped"; reason: string }
  | { kind: "given_up"; reason: string }
  | { kind: "later"; reason: string; isDown: boolean };

/** What to do with a parcel: nothing, for a reason that is known without a call, or an attempt to deliver it. */
export type Plan = { kind: "skip"; reason: string } | { kind: "attempt"; deliver: () => Promise<Delivery> };

/** A channel to a receiver: an account at a platform, or a callback of the app. */
export type Channel = {
  lane: string;
  /** Changes whenever the settings change. */
  version: string;
  /** 0 means no limit. */
  ratePerS: number;
  plan(parcel: Parcel): Plan;
};

/** The reason when it is unknown whether the platform has counted. */
export const ANSWER_LOST =
  "The answer was lost, and the platform may have counted it. It does not detect repeats, so the postback is not sent again automatically.";

/**
 * Whether a postback that nobody has tried to send is too old, as after a replay of a journal from a time without
 * accounts. People can still request it.
 */
export function isOfThePast({ row, createdAtMs, resent }: Parcel, nowMs: number): boolean {
  return row.attempts === 1 && resent === 0 && nowMs - createdAtMs >= LATE_MS;
}
