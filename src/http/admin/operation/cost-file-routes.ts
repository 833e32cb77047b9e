import type { FastifyInstance } from "fastify";
import type { Desk } from "../../../admin/desk.ts";
import {
  type GivenFile,
  takeAdObjects,
  takeAdvertisers,
  takeCosts,
  takeRebates,
} from "../../../admin/operation/cost-files.ts";
import { costPreviewAnswer, filePreviewAnswer, takenFileAnswer } from "../../../contract/admin/cost.ts";
import { previewAdObjects, previewAdvertisers, previewCosts, previewRebates } from "../../../cost/file-preview.ts";
import { appOfFile, fileRoutes, type Previews } from "./file-routes.ts";
import type { OperationContext } from "./operation-context.ts";

type CostFileContext = Pick<OperationContext, "pool" | "vault" | "clock" | "apps">;

/** Costs, rebates and names from files. */
export function costFileRoutes(routes: FastifyInstance, context: CostFileContext, running: Previews): void {
  const { pool, apps } = context;
  const rowsOf = (take: (desk: Desk, given: GivenFile) => Promise<number>) => ({
    repeats: "Replaces stored rows of the same key.",
    take: async (desk: Desk, given: GivenFile) => ({ rows: await take(desk, given) }),
    takenAnswer: takenFileAnswer,
  });
  fileRoutes(
    routes,
    { ...context, running },
    {
      path: "cost",
      apps: "one",
      about: "costs",
      ...rowsOf(takeCosts),
      preview: async (csv, body) => previewCosts(pool, csv, (await appOfFile(apps, body)).appId),
      previewAnswer: costPreviewAnswer,
    },
  );
  fileRoutes(
    routes,
    { ...context, running },
    {
      path: "advertiser",
      apps: "all",
      about: "accounts",
      ...rowsOf(takeAdvertisers),
      preview: (csv) => previewAdvertisers(pool, csv),
      previewAnswer: filePreviewAnswer,
    },
  );
  fileRoutes(
    routes,
    { ...context, running },
    {
      path: "ad-object",
      apps: "all",
      about: "names of plans, ads and creatives",
      ...rowsOf(takeAdObjects),
      preview: (csv) => previewAdObjects(pool, csv),
      previewAnswer: filePreviewAnswer,
    },
  );
  fileRoutes(
    routes,
    { ...context, running },
    {
      path: "rebate",
      apps: "one",
      about: "rebates",
      ...rowsOf(takeRebates),
      preview: async (csv, body) => previewRebates(pool, csv, (await appOfFile(apps, body)).appId),
      previewAnswer: filePreviewAnswer,
    },
  );
}
