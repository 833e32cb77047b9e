import type { Command } from "commander";
import { systemClock } from "../../clock.ts";
import { type LedgerCount, readLedger } from "../../db/ledger-minute.ts";
import { addDays, calendarOf, DAY_MS } from "../../domain/calendar.ts";
import { parseDay, parseInteger, print, tableOf } from "../output.ts";
import { findApp, withDatabase } from "../session.ts";

type Minute = { minute: string; received: number; stored: number; duplicate: number; rejected: Record<string, number> };

const DEFAULT_DAYS = 7;

export function ledgerCommand(program: Command): void {
  program
    .command("ledger")
    .description("Show what was received and what became of it, minute by minute (default: the last 7 days)")
    .requiredOption("--app <app>", "app id", parseInteger)
    .option("--from <day>", "first local day", parseDay)
    .option("--to <day>", "last local day", parseDay)
    .option("--touches", "count the ad platforms' link calls instead of events")
    .option("--json", "print JSON")
    .action((options: { app: number; from?: string; to?: string; touches?: boolean; json?: boolean }) =>
      withDatabase(async (session) => {
        const app = await findApp(session, options.app);
        const calendar = calendarOf(app.timeZone);
        const nowMs = systemClock();
        const fromMs = options.from ? calendar.startOf(options.from) : nowMs - DEFAULT_DAYS * DAY_MS;
        const untilMs = options.to ? calendar.startOf(addDays(options.to, 1)) : nowMs + DAY_MS;
        const ledger = options.touches ? "touch_minute" : "ledger_minute";
        const minutes = minutesOf(await readLedger(session.pool, ledger, { appId: app.appId, fromMs, untilMs }));
        print(minutes, options, () => tableOf([...minutes, totalOf(minutes)].map(asRow)));
      }),
    );
}

function minutesOf(counts: readonly LedgerCount[]): Minute[] {
  const minutes = new Map<number, Minute>();
  for (const { minuteMs, outcome, events } of counts) {
    const text = new Date(minuteMs).toISOString().replace(".000", "");
    const minute = minutes.get(minuteMs) ?? { minute: text, received: 0, stored: 0, duplicate: 0, rejected: {} };
    minutes.set(minuteMs, minute);
    if (outcome === "received" || outcome === "stored" || outcome === "duplicate") minute[outcome] = events;
    else minute.rejected[outcome] = events;
  }
  return [...minutes.values()];
}

function totalOf(minutes: readonly Minute[]): Minute {
  const total: Minute = { minute: "total", received: 0, stored: 0, duplicate: 0, rejected: {} };
  for (const minute of minutes) {
    total.received += minute.received;
    total.stored += minute.stored;
    total.duplicate += minute.duplicate;
    for (const [reason, events] of Object.entries(minute.rejected))
      total.rejected[reason] = (total.rejected[reason] ?? 0) + events;
  }
  return total;
}

function asRow({ rejected, ...counts }: Minute): Record<string, unknown> {
  const sum = Object.values(rejected).reduce((left, right) => left + right, 0);
  const reasons = Object.entries(rejected).map(([reason, events]) => `${reason} ${events}`);
  return { ...counts, rejected: sum, reasons: reasons.join(", ") };
}
