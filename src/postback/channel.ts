import type { ClaimedRow } from "../db/outbox.ts";
import type { UserAccount } from "../db/user-account.ts";
import type { TouchKind } from "../domain/attribution/touch.ts";
import { LATE_MS } from "../domain/postback/postback-rule.ts";

/** What receivers are told about a user. */
export type ParcelUser = Pick<
  UserAccount,
  "clientId" | "wxOpenid" | "wxUnionid" | "osPlatform" | "ip" | "ua" | "device"
>;

/** A claimed row with its facts from the tables. */
export type Parcel = {
  row: ClaimedRow;
  /** Undefined when the user is gone. */
  user: ParcelUser | undefined;
  /** The kind of the touch that won the user. */
  touchKind: TouchKind;
  /** From the postback: what happened and when, its amount, and its order. */
  moment: string;
  atMs: number;
  valueCents: number | null;
  traceId: string;
  /** The id by which receivers detect repeats. */
  dedupeId: string;
  createdAtMs: number;
  resent: number;
};

/**
 * How an attempt ended. `later`: to be tried again; when the receiver is down, everything in the same channel waits.
 * The three others are final.
 */
export type Delivery =
  | { kind: "accepted"; cents: number }
  | { kind: "skipped"; reason: string }
  | { kind: "given_up"; reason: string }
  | { kind: "later"; reason: string; isDown: boolean };

/** A channel to a receiver: an account at a platform, or a callback of the app. */
export type Channel = {
  lane: string;
  /** Changes whenever the settings change. */
  version: string;
  /** 0 means no limit. */
  ratePerS: number;
  /** Why nothing is sent, as far as that is known without a call, or undefined when the receiver is to be called. */
  skips(parcel: Parcel): string | undefined;
  deliver(parcel: Parcel): Promise<Delivery>;
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
