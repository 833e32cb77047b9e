import { Readable } from "node:stream";
import { setImmediate as yieldToLoop } from "node:timers/promises";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { TSchema } from "typebox";
import {
  type CostPreview,
  costPreviewAnswer,
  csvBody,
  csvQuery,
  type FilePreview,
  filePreviewAnswer,
  type TakenFile,
  takenFileAnswer,
} from "../../../contract/admin/cost.ts";
import { success } from "../../../contract/envelope.ts";
import { FileError } from "../../../cost/csv-file.ts";
import { importAdObjects, importAdvertisers, importCosts } from "../../../cost/file-import.ts";
import { previewAdObjects, previewAdvertisers, previewCosts } from "../../../cost/file-preview.ts";
import { ApiError } from "../../../errors.ts";
import { LIMITS } from "../../../limits.ts";
import type { OperationContext } from "./operation-context.ts";

const BASE = "/admin/api/v1";

/** As JSON; of a file that is sent as itself, `csv` is empty and the bytes are the request's. */
type FileBody = { app_id?: number; csv: string };

const WAYS = `As JSON, or the file itself as \`text/csv\` of at most ${LIMITS.fileBytes} bytes with \`app_id\` in the query.`;

/** A kind of file: how it is taken in, and how it is only looked at. */
type FileKind = {
  path: string;
  about: string;
  take: (csv: Readable, body: FileBody) => Promise<number>;
  preview: (csv: Readable, body: FileBody) => Promise<FilePreview | CostPreview>;
  previewAnswer: TSchema;
};

/** Costs and names from files. */
export function costFileRoutes(
  routes: FastifyInstance,
  context: Pick<OperationContext, "pool" | "apps" | "clock">,
): void {
  const running = { previews: 0 };
  for (const kind of kindsOf(context)) {
    const { path, about, take, preview, previewAnswer } = kind;

    routes.post(`${BASE}/${path}/import`, {
      schema: {
        summary: `Take in ${about} from CSV, whole or not at all`,
        description: `What is known of the same is replaced. ${WAYS}`,
        ...{ tags: ["admin"], querystring: csvQuery, body: csvBody, response: { 200: takenFileAnswer } },
      },
      bodyLimit: LIMITS.fileBodyBytes,
      config: { takesCsv: true },
      handler: async (request) => {
        const body = request.body as FileBody;
        const rows = await take(fileOf(request), body).catch((error: unknown) => {
          throw error instanceof FileError ? new ApiError("badParameter", error.message) : error;
        });
        return success({ rows } satisfies TakenFile);
      },
    });

    routes.post(`${BASE}/${path}/import/preview`, {
      schema: {
        summary: `What a CSV file of ${about} would do, without doing it`,
        description: `The whole file is read by the same rules; each line that is wrong is named. ${WAYS}`,
        ...{ tags: ["admin"], querystring: csvQuery, body: csvBody, response: { 200: previewAnswer } },
      },
      bodyLimit: LIMITS.fileBodyBytes,
      config: { access: "read", takesCsv: true },
      handler: async (request) => {
        const body = request.body as FileBody;
        if (running.previews >= LIMITS.previewsAtOnce) {
          throw new ApiError("overloaded", "Other files are being looked at; try again.", { retryAfterS: 5 });
        }
        running.previews += 1;
        try {
          return success(await preview(fileOf(request), body));
        } finally {
          running.previews -= 1;
        }
      },
    });
  }
}

function kindsOf({ pool, apps, clock }: Pick<OperationContext, "pool" | "apps" | "clock">): FileKind[] {
  const appIdOf = async ({ app_id }: FileBody) => {
    if (app_id === undefined) throw new ApiError("badParameter", "app_id is missing.");
    return (await apps.findById(app_id)).appId;
  };
  return [
    {
      ...{ path: "cost", about: "costs", previewAnswer: costPreviewAnswer },
      take: async (csv, body) => importCosts(pool, csv, { appId: await appIdOf(body), changedAtMs: clock() }),
      preview: async (csv, body) => previewCosts(pool, csv, await appIdOf(body)),
    },
    {
      ...{ path: "advertiser", about: "accounts", previewAnswer: filePreviewAnswer },
      take: (csv) => importAdvertisers(pool, csv),
      preview: (csv) => previewAdvertisers(pool, csv),
    },
    {
      ...{ path: "ad-object", about: "names of plans and ads", previewAnswer: filePreviewAnswer },
      take: (csv) => importAdObjects(pool, csv),
      preview: (csv) => previewAdObjects(pool, csv),
    },
  ];
}

const PIECE_BYTES = 64 * 1024;

/** In pieces, each in a turn of the event loop of its own: what is read in one go keeps everybody else waiting. */
function fileOf(request: FastifyRequest): Readable {
  const { csv } = request.body as FileBody;
  const bytes = csv === "" ? (request.csv ?? Buffer.alloc(0)) : Buffer.from(csv);
  return Readable.from(piecesOf(bytes));
}

async function* piecesOf(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    await yieldToLoop();
    yield bytes.subarray(at, at + PIECE_BYTES);
  }
}
