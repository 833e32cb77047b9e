import { addDays } from "../../src/domain/calendar.ts";
import type { Played } from "../market/simulation.ts";
import { daysOf } from "./findings.ts";

export type EventScore = {
  acknowledged: number;
  stored: number;
  /** Acknowledged, but not stored. */
  lost: number;
  /** Stored more than once. */
  doubled: number;
  /** Stored, but never acknowledged. */
  unasked: number;
  /** Events refused although their time was right, and answers that must not occur. */
  complaints: number;
};

/** How far back events can lie: clients with a wrong clock and people migrated from another system have old ones. */
const LONG_AGO_DAYS = 260;

export async function scoreEvents(played: Played): Promise<EventScore> {
  const { from, to } = daysOf(played);
  const lines = await played.operator.exportEvents({ from: addDays(from, -LONG_AGO_DAYS), to: addDays(to, 2) });
  const counts = new Map<string, number>();
  for (const line of lines) {
    const { properties } = JSON.parse(line) as { properties: { serial?: string } };
    const serial = properties.serial ?? "";
    counts.set(serial, (counts.get(serial) ?? 0) + 1);
  }
  const acknowledged = new Set(played.truth.people.flatMap(({ events }) => events.map(({ serial }) => serial)));
  return {
    acknowledged: acknowledged.size,
    stored: lines.length,
    lost: [...acknowledged].filter((serial) => !counts.has(serial)).length,
    doubled: [...counts.values()].filter((count) => count > 1).length,
    unasked: [...counts.keys()].filter((serial) => !acknowledged.has(serial)).length,
    complaints: played.truth.complaints.length,
  };
}
