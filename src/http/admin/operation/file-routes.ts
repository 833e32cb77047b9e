import { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Static, TSchema } from "typebox";
import type { Desk } from "../../../admin/desk.ts";
import type { GivenFile } from "../../../admin/operation/cost-files.ts";
import { csvBody, csvQuery } from "../../../contract/admin/cost.ts";
import type { EnvelopeSchema } from "../../../contract/envelope.ts";
import { ApiError } from "../../../errors.ts";
import type { AppDirectory, ServedApp } from "../../../intake/app-directory.ts";
import { KIB, LIMITS } from "../../../limits.ts";
import { ownTurn } from "../../../own-turn.ts";
import type { AppsNeeded } from "../actor.ts";
import { adminRoute } from "../admin-route.ts";
import type { OperationContext } from "./operation-context.ts";

/** The JSON body. When the CSV file itself is the body, `csv` is empty and the bytes are in `request.csv`. */
export type FileBody = Static<typeof csvBody>;

const FORMS = `Send JSON, or the file itself as \`text/csv\` (at most ${LIMITS.fileBytes} bytes) with \`app_id\` in the query.`;

type FileContext = Pick<OperationContext, "pool" | "vault" | "clock">;

/** The number of previews that run now, of all kinds together. */
export type Previews = { previews: number };

/** A kind of file: how it is imported, and how it is previewed. */
type FileKind<Taken extends TSchema, Preview extends TSchema> = {
  path: string;
  /** Whether the file belongs to one app, or its names to all of them. */
  apps: AppsNeeded;
  about: string;
  /** What becomes of rows that are stored already. */
  repeats: string;
  take: (desk: Desk, given: GivenFile) => Promise<Static<Taken>>;
  takenAnswer: EnvelopeSchema<Taken>;
  preview: (csv: Readable, body: FileBody) => Promise<Static<Preview>>;
  previewAnswer: EnvelopeSchema<Preview>;
};

/** The app of a file that belongs to one. */
export function appOfFile(apps: AppDirectory, { app_id }: FileBody): Promise<ServedApp> {
  if (app_id === undefined) throw new ApiError("badParameter", "app_id is missing.");
  return apps.findById(app_id);
}

/** Two routes for each kind of file: its import, and the preview of it. */
export function fileRoutes<Taken extends TSchema, Preview extends TSchema>(
  routes: FastifyInstance,
  { pool, vault, clock, running }: FileContext & { running: Previews },
  { path, apps, about, repeats, take, takenAnswer, preview, previewAnswer }: FileKind<Taken, Preview>,
): void {
  adminRoute(routes, {
    path: `${path}/import`,
    summary: `Import ${about} from CSV, the whole file or nothing`,
    description: `${repeats} ${FORMS}`,
    access: "operate",
    apps,
    query: csvQuery,
    body: csvBody,
    reading: { bytesMax: LIMITS.fileBodyBytes, takesCsv: true },
    answer: takenAnswer,
    run: async ({ body, by, request }) => take({ pool, vault, clock, by }, { body, file: fileOf(request, body) }),
  });

  adminRoute(routes, {
    path: `${path}/import/preview`,
    summary: `Preview the import of a CSV file of ${about}`,
    description: `Reads the whole file by the same rules, names each wrong line, and stores nothing. ${FORMS}`,
    access: "detail",
    apps,
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

const PIECE_BYTES = 32 * KIB;

/** The file in pieces, each read in its own turn of the event loop: one long read would keep other requests waiting. */
function fileOf(request: FastifyRequest, { csv }: FileBody): Readable {
  const bytes = csv === "" ? (request.csv ?? Buffer.alloc(0)) : Buffer.from(csv);
  return Readable.from(piecesOf(bytes));
}

async function* piecesOf(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    await ownTurn();
    yield bytes.subarray(at, at + PIECE_BYTES);
  }
}
