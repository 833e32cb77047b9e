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
import { JSON_TYPE } from "./answer.ts";
import { docsPage, type OpenApi } from "./docs-page.ts";
import { StoredFigures } from "./stored-figures.ts";
import { once, type WarmUp } from "./warm-up.ts";

export type OpsContext = {
  pool: pg.Pool;
  clock: Clock;
  intake: Intake;
  progress: Progress;
  metrics: Metrics;
  durable: () => number;
  /** Why journaled entries do not reach the tables, or undefined when they do. */
  applyObstacle: () => string | undefined;
  /** What does not work since a start without the database. */
  missing: () => string | undefined;
};

/** A database that hangs is as good as away: whoever asks for readiness gives up soon. */
const DATABASE_MS_MAX = 800;

/** The page contains its style and needs nothing else: no script may run, and no page may frame it. */
const PAGE_HEADERS = {
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};

/** Routes for operators and machines. None of them needs an access token or reveals a secret. */
export function opsRoutes(server: FastifyInstance, context: OpsContext, warmUp: WarmUp): void {
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
        "503 when new data is refused: disk short, journal full. `database` is `there` or `away`. `apply` is present only while accepted data does not reach the tables, and says why; nothing is lost. `missing` is present only after a start without the database, until it is open, and says what does not work.",
      tags: ["operations"],
    },
    handler: async (_request, reply) => {
      const obstacle = context.intake.obstacle();
      if (obstacle) throw new ApiError("overloaded", obstacle, { retryAfterS: 10 });
      asking ??= canAnswer(context.pool).finally(() => {
        asking = undefined;
      });
      const isThere = await within(DATABASE_MS_MAX, asking).catch(() => false);
      const database = isThere ? "there" : "away";
      const apply = database === "there" ? context.applyObstacle() : undefined;
      const missing = context.missing();
      return reply.send(success({ status: "ready", database, ...(apply && { apply }), ...(missing && { missing }) }));
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
      description: "Positions in bytes, and numbers of marks; `cli settle` waits on them.",
      tags: ["operations"],
    },
    handler: async () => {
      const { applied } = context.progress;
      // Read after `applied`, so that everything applied has left its marks.
      const cube = await refreshProgress(context.pool).catch(() => undefined);
      return success({
        durable: context.durable(),
        applied,
        backlog_bytes: context.intake.backlogBytes,
        ...cube,
      });
    },
  });

  describeOperations(server, warmUp);
}

/**
 * Both texts are long and the same for everybody. They are made once, and as bytes, because a text would be copied into
 * each answer: a client that requests them without reading the answers costs neither time nor memory.
 */
function describeOperations(server: FastifyInstance, warmUp: WarmUp): void {
  const openApi = once(() => Buffer.from(JSON.stringify(server.swagger())));
  const page = once(() => Buffer.from(docsPage(server.swagger() as OpenApi)));
  warmUp.add(openApi);
  warmUp.add(page);

  server.get("/openapi.json", {
    schema: { hide: true },
    handler: async (_request, reply) => reply.type(JSON_TYPE).send(openApi()),
  });

  server.get("/docs", {
    schema: { hide: true },
    handler: async (_request, reply) => reply.type("text/html; charset=utf-8").headers(PAGE_HEADERS).send(page()),
  });
}
