import type { FastifyInstance } from "fastify";
import { type DoctorAnswer, doctorEnvelope, doctorQuery } from "../../../contract/admin/doctor.ts";
import { loadCampaigns } from "../../../db/campaign.ts";
import { isDatabaseAway } from "../../../db/engine/failure.ts";
import { DAY_MS } from "../../../domain/calendar.ts";
import { diagnose } from "../../../domain/doctor/doctor.ts";
import type { Finding } from "../../../domain/doctor/finding.ts";
import type { ServedApp } from "../../../intake/app-directory.ts";
import { MIB } from "../../../limits.ts";
import { loadRecentPayments, loadStoredFacts } from "../../../report/doctor-facts.ts";
import { adminRoute } from "../admin-route.ts";
import type { OperationContext } from "./operation-context.ts";

/** Bytes of the remembered calls that the doctor looks at. */
const CALLS_BYTES_MAX = 2 * MIB;

/** Points out mistakes in how an app sends its data. */
export function doctorRoutes(routes: FastifyInstance, context: OperationContext): void {
  adminRoute(routes, {
    path: "doctor",
    summary: "Mistakes in how an app sends its data",
    description:
      "Found in the last calls that the processes remember (all of debug mode, a sample of the rest) and in the tables.",
    access: "detail",
    query: doctorQuery,
    answer: doctorEnvelope,
    run: async ({ query }) => {
      const { app_id, since_ms = 0 } = query;
      const app = await context.apps.findById(Number(app_id));
      return examine(context, app, Number(since_ms));
    },
  });
}

async function examine(context: OperationContext, app: ServedApp, wantedSinceMs: number): Promise<DoctorAnswer> {
  const nowMs = context.clock();
  const sinceMs = Math.min(nowMs, Math.max(wantedSinceMs, nowMs - DAY_MS));
  const { appId, metadata } = app;
  const calls = (await context.recentCalls(appId, CALLS_BYTES_MAX)).filter(({ at_ms }) => at_ms >= sinceMs);
  const known = await knownFacts(context, app, { nowMs, sinceMs });
  const findings = diagnose({ appId, nowMs, metadata, calls, ...known });
  return {
    findings: findings.filter(({ lastAtMs }) => lastAtMs >= sinceMs).map(shownFinding),
    calls: calls.length,
    since_ms: calls[0]?.at_ms ?? null,
    has_stored: known.stored !== undefined,
  };
}

/** Facts from the tables. While the database is away, only the calls are examined. */
async function knownFacts(context: OperationContext, app: ServedApp, span: { nowMs: number; sinceMs: number }) {
  try {
    const [stored, payments, campaigns] = await Promise.all([
      context.reads.read(({ pool }) => loadStoredFacts(pool, app, span)),
      context.reads.read(({ pool }) => loadRecentPayments(pool, app, span)),
      loadCampaigns(context.pool, app.appId),
    ]);
    return { stored, payments, campaigns: new Set(campaigns.map((campaign) => campaign.campaignId)) };
  } catch (error) {
    if (!isDatabaseAway(error)) throw error;
    return { stored: undefined, payments: [], campaigns: undefined };
  }
}

function shownFinding({ firstAtMs, lastAtMs, ...finding }: Finding): DoctorAnswer["findings"][number] {
  return { ...finding, first_at_ms: firstAtMs, last_at_ms: lastAtMs };
}
