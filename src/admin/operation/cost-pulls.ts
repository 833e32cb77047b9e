import type { Static } from "typebox";
import { costPullBody, pullStopBody } from "../../contract/admin/cost.ts";
import type { PullDesk } from "../../cost/pull-desk.ts";
import { type AskedDays, accountsOf, askedDays, beyondReach } from "../../cost/pull-record.ts";
import type { AppRules } from "../../db/app.ts";
import { type CostAccount, loadCostAccounts } from "../../db/cost-pull.ts";
import { calendarOf, isDay } from "../../domain/calendar.ts";
import { firstScheduledDay } from "../../domain/cost-schedule.ts";
import { ApiError } from "../../errors.ts";
import { platformOfLink } from "../../platform/registry.ts";
import { assertApps, knownAppRules } from "../apps.ts";
import { act, type Desk } from "../desk.ts";

type PullBody = Static<typeof costPullBody>;

/** A requested pull that may begin. */
export type BegunPull = { app: AppRules; accounts: CostAccount[]; plan: Exclude<AskedDays, { kind: "wrong" }> };

/**
 * Begins a requested pull of costs: what is to be pulled is checked and noted. The pull itself runs for minutes and
 * stores day by day, so the note belongs to its beginning.
 */
export function beginPull(desk: Desk, body: PullBody): Promise<BegunPull> {
  return act(desk, {
    action: "cost/pull",
    schema: costPullBody,
    body,
    run: async (tx) => {
      const app = await knownAppRules(tx, body.app_id);
      const nowMs = desk.clock();
      const plan = askedDays({ from: dayOf(body.from), to: dayOf(body.to) }, calendarOf(app.timeZone).dayOf(nowMs));
      if (plan.kind === "wrong") throw bad(plan.problem);
      const asked = { adPlatform: readCostPlatform(body.ad_platform ?? ""), advertiserId: body.advertiser_id ?? "" };
      const known = await loadCostAccounts(tx, { fromDay: firstScheduledDay(nowMs), of: { appId: app.appId } });
      const accounts = accountsOf(known, asked);
      if (accounts.length === 0) throw bad("The app has no matching account with cost pulls switched on.");
      const beyond = plan.kind === "range" ? beyondReach(accounts, plan.fromDay, nowMs) : undefined;
      if (beyond !== undefined) throw bad(beyond);
      return { app, accounts, plan };
    },
  });
}

/** Stops the requested pull of an app. It is noted first: a pull in memory cannot be part of a transaction. */
export async function stopPull(desk: Desk, pulls: PullDesk, body: Static<typeof pullStopBody>): Promise<void> {
  const { app_id: appId } = body;
  await act(desk, {
    action: "cost/pull/stop",
    schema: pullStopBody,
    body,
    run: async (tx) => {
      await assertApps(tx, [appId]);
      if (pulls.of(appId)?.state !== "running") throw bad("No costs of this app are being pulled.");
    },
  });
  pulls.stop(appId);
}

/** The platform's own name; the empty text stays empty. */
export function readCostPlatform(text: string): string {
  const platform = text === "" ? undefined : platformOfLink(text);
  if (text !== "" && !platform) throw bad("ad_platform is not the name of a platform.");
  return platform?.name ?? "";
}

function dayOf(text: string | undefined): string | undefined {
  if (text !== undefined && !isDay(text)) throw bad(`${text} is not a day.`);
  return text;
}

function bad(message: string): ApiError {
  return new ApiError("badParameter", message);
}
