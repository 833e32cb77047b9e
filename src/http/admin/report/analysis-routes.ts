import type { FastifyInstance, FastifyRequest } from "fastify";
import { noteSql } from "../../../admin/report/exports.ts";
import { appIdQuery } from "../../../contract/admin/admin.ts";
import {
  askedAnswer,
  askedBody,
  type LakeState,
  lakeStateAnswer,
  sqlAnswer,
  sqlBody,
  usersBehindAnswer,
  usersBehindBody,
} from "../../../contract/analysis/asked.ts";
import { loadLakeApp } from "../../../db/lake-app.ts";
import { ApiError } from "../../../errors.ts";
import { type LakeQuestion, type LakeRows, objectsOf } from "../../../lake/asker.ts";
import { LIMITS } from "../../../limits.ts";
import { textOf } from "../../../report/analysis/duck-sql.ts";
import { type NamedQuestion, QUESTIONS } from "../../../report/analysis/questions.ts";
import { usersAnswer } from "../../../report/analysis/users-sql.ts";
import { adminRoute } from "../admin-route.ts";
import type { AdminReportContext } from "./admin-report-context.ts";

/** Questions about events, each with the users behind its numbers, and queries that people write. */
export function analysisRoutes(routes: FastifyInstance, context: AdminReportContext): void {
  stateRoute(routes, context);
  for (const question of QUESTIONS) questionRoutes(routes, context, question);
  sqlRoute(routes, context);
}

/** Lets a page say what is missing before somebody has written a question. */
function stateRoute(routes: FastifyInstance, { lake, apps, reads }: AdminReportContext): void {
  adminRoute(routes, {
    path: "analysis",
    summary: "Whether questions about an app's events can be asked",
    access: "detail",
    query: appIdQuery,
    answer: lakeStateAnswer,
    run: async ({ query }): Promise<LakeState> => {
      const { appId } = await apps.findById(Number(query.app_id));
      if (!lake) return { lake: "none" };
      const state = await reads.read(({ pool }) => loadLakeApp(pool, appId));
      return { lake: state?.isBegun ? "ready" : "preparing" };
    },
  });
}

function questionRoutes(routes: FastifyInstance, context: AdminReportContext, question: NamedQuestion): void {
  const { name, says } = question;
  adminRoute(routes, {
    path: `analysis/${name}`,
    summary: says,
    access: "detail",
    body: askedBody(question.schema),
    answer: askedAnswer(question.answer),
    run: async ({ body, request }) => {
      const sql = textOf(question.sql(body.question));
      const result = await put(context, request, { appId: body.app_id, statement: sql });
      return { answer: question.shape(body.question, objectsOf(result)), sql, ...originOf(result) };
    },
  });

  adminRoute(routes, {
    path: `analysis/${name}/users`,
    summary: `The users behind a number of: ${says.charAt(0).toLowerCase()}${says.slice(1)}`,
    access: "detail",
    body: usersBehindBody(question.schema, question.cell),
    answer: usersBehindAnswer,
    run: async ({ body, request }) => {
      const sql = textOf(question.usersSql(body.question, body.cell));
      const wanted = { appId: body.app_id, statement: sql, rowsMax: LIMITS.analysisUsers };
      const result = await put(context, request, wanted);
      return { ...usersAnswer(objectsOf(result)), sql, ...originOf(result) };
    },
  });
}

function sqlRoute(routes: FastifyInstance, context: AdminReportContext): void {
  adminRoute(routes, {
    path: "analysis/sql",
    summary: "A query over the app's events, users, orders and costs",
    description: "One `select` in the SQL of DuckDB. It reaches nothing else, and is noted in the audit log.",
    access: "detail",
    body: sqlBody,
    answer: sqlAnswer,
    run: async ({ body, by, request }) => {
      const { pool, vault, clock } = context;
      lakeOf(context);
      await noteSql({ pool, vault, clock, by }, body);
      const rowsMax = body.limit ?? LIMITS.questionRows;
      const result = await put(context, request, { appId: body.app_id, statement: body.statement, rowsMax });
      return {
        columns: [...result.columns],
        rows: result.rows.map((row) => [...row]),
        is_cut: result.isCut,
        ...originOf(result),
      };
    },
  });
}

async function put(
  context: AdminReportContext,
  request: FastifyRequest,
  { appId, ...question }: { appId: number } & Pick<LakeQuestion, "statement" | "rowsMax">,
): Promise<LakeRows> {
  const lake = lakeOf(context);
  const app = await context.apps.findById(appId);
  const left = new AbortController();
  const leave = () => left.abort();
  request.raw.socket.once("close", leave);
  try {
    // From the primary: a replica that is behind would name files that are gone.
    return await lake.ask({ ...question, read: context.pool, app, signal: left.signal });
  } finally {
    request.raw.socket.off("close", leave);
  }
}

function lakeOf({ lake }: AdminReportContext): NonNullable<AdminReportContext["lake"]> {
  if (lake) return lake;
  throw new ApiError("badParameter", "This server has no lake: ask one whose ROLES have `lake` (docs/LAKE.md).");
}

function originOf({ writtenUntilMs, tookMs }: LakeRows): { received_until: string; took_ms: number } {
  return { received_until: new Date(writtenUntilMs).toISOString(), took_ms: tookMs };
}
