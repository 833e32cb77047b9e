import type { UserDay } from "../../db/user-day.ts";
import { microsOfEcpm } from "../../domain/money.ts";

/** Adds one track event to its day, in the same way for a new event and for a recount. */
export function countTrackEvent(day: UserDay, { event, ecpm }: { event: string; ecpm: number }): void {
  day.trackEvents += 1;
  switch (event) {
    case "$AdShow":
      day.adCount += 1;
      day.adMicros += microsOfEcpm(ecpm);
      break;
    case "$AppRegister":
    case "$MPRegister":
      day.registerEvents += 1;
      break;
  }
}

export function countPayment(day: UserDay, cents: number): void {
  day.payCount += 1;
  day.payCents += cents;
}

export function addCounters(sum: UserDay, more: UserDay): void {
  sum.trackEvents += more.trackEvents;
  sum.registerEvents += more.registerEvents;
  sum.payCount += more.payCount;
  sum.payCents += more.payCents;
  sum.adCount += more.adCount;
  sum.adMicros += more.adMicros;
}
