import type { FastifyInstance } from "fastify";
import type pg from "pg";
import type { Clock } from "../clock.ts";
import { success } from "../contract/envelope.ts";
import { refreshProgress } from "../db/dirty-day.ts";
import { canAnswer } from "../db/engine/pool.ts";
import { ApiError } from "../errors.ts";
import type { Intake } from "../intake/intake.ts";
import type { Metrics } from "../intake/metrics.ts";
import type { Progress } from "../intake/progress.ts";
import { within } from "../within.ts";
import { StoredFigures } from "./stored-figures.ts";

export type OpsContext = {
  pool: pg.Pool;
  clock: Clock;
  intake: Intake;
  progress: Progress;
  metrics: Metrics;
  /** Why journaled entries do not reach the tables, or undefined when they do. */
  applyObstacle: () => string | undefined;
  /** Why this process cannot write the lake, or keep its bucket in step. */
  lakeObstacle: () => string | undefined;
  /** What does not work since a start without the database. */
  missing: () => string | undefined;
  /** What an acknowledgement means, where that depends on other servers. */
  journalPromise: () => string | undefined;
};

/** A database that hangs is as good as away: whoever asks for readiness gives up soon. */
const DATABASE_MS_MAX = 800;

/** Routes for operators and machines. None of them needs an access token or reveals a secret. */
export function opsRoutes(server: FastifyInstance, context: OpsContext): void {
  server.get("/healthz", {
    schema: { summary: "Liveness of the process", tags: ["operations"] },
    handler: async () => success({ status: "alive" }),
  });

  // Concurrent callers share one query: there may be hundreds, and others need the connections.
  let asking: Promise<boolean> | undefined;
  server.get("/readyz", {
    schema: {
      summary: "Readiness to accept new data",
      description:
        "503 when new data is refused: disk short, journal full. `database` is `there` or `away`. `apply` is present only while accepted data does not reach the tables, and says why; nothing is lost. `lake` is present only while this process cannot write the files of the lake or keep its bucket in step, and says why. `missing` is present only after a start without the database, until it is open, and says what does not work. `log` is present where LOG_URL is set, and says what an acknowledgement means.",
      tags: ["operations"],
    },
    handler: async (_request, reply) => {
      const { trouble } = context.intake;
      if (trouble) throw new ApiError("overloaded", trouble, { retryAfterS: 10 });
      asking ??= canAnswer(context.pool).finally(() => {
        asking = undefined;
      });
      const isThere = await within(DATABASE_MS_MAX, asking).catch(() => false);
      const database = isThere ? "there" : "away";
      const apply = database === "there" ? context.applyObstacle() : undefined;
      const lake = context.lakeObstacle();
      const missing = context.missing();
      const log = context.journalPromise();
      return reply.send(
        success({
          status: "ready",
          database,
          ...(log && { log }),
          ...(apply && { apply }),
          ...(lake && { lake }),
          ...(missing && { missing }),
        }),
      );
    },
  });

  const storedFigures = new StoredFigures(context);
  server.get("/metrics", {
    schema: { summary: "Metrics for Prometheus", tags: ["operations"] },
    handler: async (_request, reply) => {
      const [own, stored] = await Promise.all([context.metrics.text(), storedFigures.text()]);
      return reply.type(context.metrics.registry.contentType).send(`${own}\n${stored}`);
    },
  });

  server.get("/progress", {
    schema: {
      summary: "How far the journal has been applied, and the cube refreshed",
      description:
        "Positions, in bytes where the journal is in files, and numbers of marks; `cli settle` waits on them.",
      tags: ["operations"],
    },
    handler: async () => {
      // Other processes may have appended. When the log cannot be asked, what is known must do.
      await context.intake.freshEnds().catch(() => {});
      const { reach } = context.intake;
      // Read after `reach`, so that everything applied has left its marks.
      const cube = await refreshProgress(context.pool).catch(() => undefined);
      return success({
        ...reach,
        backlog_bytes: context.intake.backlogBytes,
        ...cube,
      });
    },
  });
}
