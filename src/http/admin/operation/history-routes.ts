import type { FastifyInstance } from "fastify";
import { noteHistory } from "../../../admin/operation/history.ts";
import { historyQuery, takenHistoryAnswer } from "../../../contract/admin/history.ts";
import { ApiError } from "../../../errors.ts";
import { takeHistory } from "../../../intake/history.ts";
import { countLines } from "../../../intake/history-line.ts";
import type { KnownClients } from "../../../intake/known-clients.ts";
import { LIMITS, MIB } from "../../../limits.ts";
import { adminRoute } from "../admin-route.ts";
import type { OperationContext } from "./operation-context.ts";

/**
 * Journal that may wait for apply before an import is made to wait. It keeps apply busy, and what users do meanwhile
 * reaches the tables a few seconds later, not after the whole import.
 */
const AHEAD_BYTES = 8 * MIB;

/** `applies`: this process fills the tables, so that waiting for them makes sense. */
export type HistoryRouteContext = Pick<
  OperationContext,
  "pool" | "vault" | "clock" | "apps" | "intake" | "progress"
> & { known: KnownClients; applies: boolean };

/** Past events from files. */
export function historyRoutes(routes: FastifyInstance, context: HistoryRouteContext): void {
  const { pool, vault, clock, apps, intake, progress } = context;

  adminRoute(routes, {
    path: "events/import",
    method: "POST",
    summary: "Import past events of many clients",
    description:
      "The body holds one event per line, as `export events` writes them (client_id, type, event, time, properties), of any " +
      `time: at most ${LIMITS.historyBytes} bytes, and ${LIMITS.historyLineBytes} per line. Unknown clients are registered at ` +
      "the time of their first event. An event that is stored stays as it is, so the same lines can be sent again.",
    access: "operate",
    query: historyQuery,
    reading: { bytesMax: LIMITS.historyBytes, keepsBytes: true },
    answer: takenHistoryAnswer,
    run: async ({ query, by, request }) => {
      const bytes = request.body instanceof Buffer ? request.body : Buffer.alloc(0);
      const app = await apps.findById(Number(query.app_id));
      if (!app.enabled) throw new ApiError("badToken", "This app is disabled.");
      const { appId } = app;
      const position = intake.positionBefore({ appId, bytes: AHEAD_BYTES });
      if (context.applies) await progress.waitFor({ appId, position }, LIMITS.appliedWaitMs);
      const note = { app_id: appId, lines: countLines(bytes) };
      await noteHistory({ pool, vault, clock, by }, note);
      return takeHistory(context, app, { bytes, registers: query.register !== "no" });
    },
  });
}
