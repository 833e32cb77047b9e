import type { AsaTokenChange } from "../../db/asa-token.ts";
import { type EventRows, eventRowsFor } from "../../db/event.ts";
import { EventOrigins } from "../../db/event-origin.ts";
import type { ObservedName } from "../../db/metadata.ts";
import type { Order } from "../../db/orders.ts";
import type { UserMoment } from "../../db/past-moments.ts";
import type { Refund } from "../../db/refund.ts";
import type { UserAccount } from "../../db/user-account.ts";
import type { SentEvent } from "../entry/sent-event.ts";
import { Ledger } from "./ledger.ts";
import { UserDays } from "./user-days.ts";

/** An event that the app's own systems have asked for. */
export type OwnEvent = { user: UserAccount; event: SentEvent; receivedAtMs: number };

/** What a batch adds to the tables: new rows, and sums. */
export class Tallies {
  readonly eventRows: EventRows;
  readonly origins = new EventOrigins();
  readonly orders: Order[] = [];
  readonly refunds: Refund[] = [];
  readonly observed: ObservedName[] = [];
  readonly asaTokens: AsaTokenChange[] = [];
  /** Moments that may have to be reported to a platform. */
  readonly moments: UserMoment[] = [];
  readonly ownEvents: OwnEvent[] = [];
  readonly days = new UserDays();
  /** The number of users whom the batch has added, by app. */
  readonly newUsers = new Map<number, number>();
  /** The outcome of every event and of every touch received. */
  readonly ledger = new Ledger();
  readonly touchLedger = new Ledger();
  /** Properties that had no room in the profiles of their users. */
  leftOut = 0;

  /** `tx`: the transaction that is to store it. */
  constructor(tx: object = {}) {
    this.eventRows = eventRowsFor(tx);
  }
}
