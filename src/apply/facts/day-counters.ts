import type { AdUnitCounters } from "../../db/user-ad-day.ts";
import type { UserDay } from "../../db/user-day.ts";
import { microsOfEcpm } from "../../domain/money.ts";

/** A track event, with the fields that the counters need. */
export type CountedEvent = { event: string; ecpm: number; adUnit: string };

/** Adds one track event to its day, in the same way for a new event and for a recount. */
export function countTrackEvent(day: UserDay, { event, ecpm, adUnit }: CountedEvent): void {
  day.trackEvents += 1;
  switch (event) {
    case "$AdShow":
      day.adCount += 1;
      day.adMicros += microsOfEcpm(ecpm);
      countAdUnit(day, adUnit, microsOfEcpm(ecpm));
      break;
    case "$AppRegister":
    case "$MPRegister":
      day.registerEvents += 1;
      break;
  }
}

/** An ad that earned nothing is one whose client does not know what it earned. */
function countAdUnit(day: UserDay, adUnit: string, micros: number): void {
  day.adUnits ??= new Map();
  const unit = unitIn(day.adUnits, adUnit);
  if (micros === 0) unit.unpricedCount += 1;
  else {
    unit.reportedCount += 1;
    unit.reportedMicros += micros;
  }
}

function unitIn(units: Map<string, AdUnitCounters>, adUnit: string): AdUnitCounters {
  const unit = units.get(adUnit) ?? { reportedCount: 0, reportedMicros: 0, unpricedCount: 0 };
  units.set(adUnit, unit);
  return unit;
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
  for (const [adUnit, added] of more.adUnits ?? []) {
    sum.adUnits ??= new Map();
    const unit = unitIn(sum.adUnits, adUnit);
    unit.reportedCount += added.reportedCount;
    unit.reportedMicros += added.reportedMicros;
    unit.unpricedCount += added.unpricedCount;
  }
}
