import type { FastifyInstance } from "fastify";
import { takeRefunds } from "../../../admin/operation/refund-files.ts";
import { refundPreviewAnswer, type TakenRefunds, takenRefundsAnswer } from "../../../contract/admin/refund.ts";
import { previewRefunds } from "../../../cost/refund-preview.ts";
import type { EntryHead } from "../../../journal/entry.ts";
import { LIMITS } from "../../../limits.ts";
import { appOfFile, fileRoutes, type Previews } from "./file-routes.ts";
import type { OperationContext } from "./operation-context.ts";

/** How long the answer waits until the refunds are in the tables. */
const APPLIED_WAIT_MS = 60_000;

/** `applies`: this process fills the tables, so that waiting for them makes sense. */
export type RefundFileContext = Pick<OperationContext, "pool" | "vault" | "clock" | "apps" | "intake" | "progress"> & {
  applies: boolean;
};

/** Refunds from files. */
export function refundFileRoutes(routes: FastifyInstance, context: RefundFileContext, running: Previews): void {
  const { pool, clock, apps, progress, applies } = context;
  fileRoutes(
    routes,
    { ...context, running },
    {
      path: "refund",
      apps: "one",
      about: "refunds",
      repeats:
        "A refund whose `refund_id` is known stays as it is; without one, the id is made from the row, so that a file " +
        "can be imported again. A refund of an unknown order is counted in `unknown_orders` and waits for its order.",
      take: async (desk, given): Promise<TakenRefunds> => {
        // An order that came a moment ago may not have reached the tables yet.
        if (applies) await progress.waitForAll(await context.intake.freshEnds(), LIMITS.appliedWaitMs);
        let last = { appId: 0, position: 0 };
        const taken = await takeRefunds(desk, given, async (appId, refunds) => {
          const body = Buffer.from(JSON.stringify({ refunds }));
          last = { appId, position: await context.intake.accept(headOf(appId, clock()), body) };
        });
        const isApplied = applies && (await progress.waitFor(last, APPLIED_WAIT_MS));
        return { ...taken, state: isApplied ? "applied" : "accepted" };
      },
      takenAnswer: takenRefundsAnswer,
      preview: async (csv, body) => previewRefunds(pool, csv, { app: await appOfFile(apps, body), nowMs: clock() }),
      previewAnswer: refundPreviewAnswer,
    },
  );
}

/** The operator's address and user agent do not belong in the payers' records. */
function headOf(app: number, at: number): EntryHead {
  return { kind: "refunds", app, client: "", at, ip: "", ua: "", registered: "not_required" };
}
