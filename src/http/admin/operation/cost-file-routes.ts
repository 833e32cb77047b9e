import { Readable } from "node:stream";
import { setImmediate as yieldToLoop } from "node:timers/promises";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Static, TSchema } from "typebox";
import type { Desk } from "../../../admin/desk.ts";
import {
  type GivenFile,
  takeAdObjects,
  takeAdvertisers,
  takeCosts,
  takeRebates,
} from "../../../admin/operation/cost-files.ts";
import {
  costPreviewAnswer,
  csvBody,
  csvQuery,
  filePreviewAnswer,
  takenFileAnswer,
} from "../../../contract/admin/cost.ts";
import type { EnvelopeSchema } from "../../../contract/envelope.ts";
import { previewAdObjects, previewAdvertisers, previewCosts, previewRebates } from "../../../cost/file-preview.ts";
import { ApiError } from "../../../errors.ts";
import { LIMITS } from "../../../limits.ts";
import { adminRoute } from "../admin-route.ts";
import type { OperationContext } from "./operation-context.ts";

/** The JSON body. When the CSV file itself is the body, `csv` is empty and the bytes are in `request.csv`. */
type FileBody = Static<typeof csvBody>;

const FORMS = `Send JSON, or the file itself as \`text/csv\` (at most ${LIMITS.fileBytes} bytes) with \`app_id\` in the query.`;

type FileContext = Pick<OperationContext, "pool" | "vault" | "clock">;

/** A kind of file: how it is imported, and how it is previewed. */
type FileKind<Preview extends TSchema> = {
  path: string;
  about: string;
  take: (desk: Desk, given: GivenFile) => Promise<number>;
  preview: (csv: Readable, body: FileBody) => Promise<Static<Preview>>;
  previewAnswer: EnvelopeSchema<Preview>;
};

/** Costs, rebates and names from files. */
export function costFileRoutes(routes: FastifyInstance, context: FileContext & Pick<OperationContext, "apps">): void {
  const { pool, apps } = context;
  const running = { previews: 0 };
  const appIdOf = async ({ app_id }: FileBody) => {
    if (app_id === undefined) throw new ApiError("badParameter", "app_id is missing.");
    return (await apps.findById(app_id)).appId;
  };
  fileRoutes(
    routes,
    { ...context, running },
    {
      path: "cost",
      about: "costs",
      take: takeCosts,
      preview: async (csv, body) => previewCosts(pool, csv, await appIdOf(body)),
      previewAnswer: costPreviewAnswer,
    },
  );
  fileRoutes(
    routes,
    { ...context, running },
    {
      path: "advertiser",
      about: "accounts",
      take: takeAdvertisers,
      preview: (csv) => previewAdvertisers(pool, csv),
      previewAnswer: filePreviewAnswer,
    },
  );
  fileRoutes(
    routes,
    { ...context, running },
    {
      path: "ad-object",
      about: "names of plans and ads",
      take: takeAdObjects,
      preview: (csv) => previewAdObjects(pool, csv),
      previewAnswer: filePreviewAnswer,
    },
  );
  fileRoutes(
    routes,
    { ...context, running },
    {
      path: "rebate",
      about: "rebates",
      take: takeRebates,
      preview: async (csv, body) => previewRebates(pool, csv, await appIdOf(body)),
      previewAnswer: filePreviewAnswer,
    },
  );
}

function fileRoutes<Preview extends TSchema>(
  routes: FastifyInstance,
  { pool, vault, clock, running }: FileContext & { running: { previews: number } },
  { path, about, take, preview, previewAnswer }: FileKind<Preview>,
): void {
  adminRoute(routes, {
    path: `${path}/import`,
    summary: `Import ${about} from CSV, the whole file or nothing`,
    description: `Replaces stored rows of the same key. ${FORMS}`,
    access: "change",
    query: csvQuery,
    body: csvBody,
    reading: { bytesMax: LIMITS.fileBodyBytes, takesCsv: true },
    answer: takenFileAnswer,
    run: async ({ body, by, request }) => {
      const rows = await take({ pool, vault, clock, by }, { body, file: fileOf(request, body) });
      return { rows };
    },
  });

  adminRoute(routes, {
    path: `${path}/import/preview`,
    summary: `Preview the import of a CSV file of ${about}`,
    description: `Reads the whole file by the same rules, names each wrong line, and stores nothing. ${FORMS}`,
    access: "read",
    query: csvQuery,
    body: csvBody,
    reading: { bytesMax: LIMITS.fileBodyBytes, takesCsv: true },
    answer: previewAnswer,
    run: async ({ body, request }) => {
      if (running.previews >= LIMITS.previewsAtOnce) {
        throw new ApiError("overloaded", "Too many previews are running; try again.", { retryAfterS: 5 });
      }
      running.previews += 1;
      try {
        return await preview(fileOf(request, body), body);
      } finally {
        running.previews -= 1;
      }
    },
  });
}

const PIECE_BYTES = 64 * 1024;

/** The file in pieces, each read in its own turn of the event loop: one long read would keep other requests waiting. */
function fileOf(request: FastifyRequest, { csv }: FileBody): Readable {
  const bytes = csv === "" ? (request.csv ?? Buffer.alloc(0)) : Buffer.from(csv);
  return Readable.from(piecesOf(bytes));
}

async function* piecesOf(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    await yieldToLoop();
    yield bytes.subarray(at, at + PIECE_BYTES);
  }
}
