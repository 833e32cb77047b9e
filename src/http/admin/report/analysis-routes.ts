import type { FastifyInstance } from "fastify";
import { noteSql } from "../../../admin/report/exports.ts";
import { type FilledIn, fillIn } from "../../../admin/report/segments.ts";
import { storedProperties } from "../../../admin/report/stored-properties.ts";
import { appIdQuery } from "../../../contract/admin/admin.ts";
import {
  askedAnswer,
  askedBody,
  type LakeState,
  lakeStateAnswer,
  type Origin,
  sqlAnswer,
  sqlBody,
  usersBehindAnswer,
  usersBehindBody,
} from "../../../contract/analysis/asked.ts";
import { loadLakeApp } from "../../../db/lake-app.ts";
import { type LakeRows, objectsOf } from "../../../lake/asker.ts";
import { LIMITS } from "../../../limits.ts";
import { textOf } from "../../../report/analysis/duck-sql.ts";
import { type NamedQuestion, QUESTIONS } from "../../../report/analysis/questions.ts";
import { usersAnswer } from "../../../report/analysis/users-sql.ts";
import { adminRoute } from "../admin-route.ts";
import type { AdminReportContext } from "./admin-report-context.ts";
import { lakeOf, put } from "./lake-question.ts";

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
      const { question: asked, saved } = await filled(context, body);
      const stored = await storedProperties(context.pool, body.app_id, asked);
      const sql = textOf(question.sql(asked, stored));
      const result = await put(context, request, { appId: body.app_id, statement: sql });
      return { answer: question.shape(asked, objectsOf(result)), sql, ...segmentsIn(saved), ...originOf(result) };
    },
  });

  adminRoute(routes, {
    path: `analysis/${name}/users`,
    summary: `The users behind a number of: ${says.charAt(0).toLowerCase()}${says.slice(1)}`,
    access: "detail",
    body: usersBehindBody(question.schema, question.cell),
    answer: usersBehindAnswer,
    run: async ({ body, request }) => {
      const { question: asked, saved } = await filled(context, body);
      const sql = textOf(question.usersSql(asked, body.cell));
      const rowsMax = LIMITS.analysisUsers;
      const result = await put(context, request, { appId: body.app_id, statement: sql, rowsMax });
      return { ...usersAnswer(objectsOf(result)), sql, ...segmentsIn(saved), ...originOf(result) };
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
      const { app_id: appId, statement, limit: rowsMax = LIMITS.questionRows } = body;
      const result = await put(context, request, { appId, statement, byHand: true, rowsMax });
      return {
        columns: [...result.columns],
        rows: result.rows.map((row) => [...row]),
        is_cut: result.isCut,
        ...originOf(result),
      };
    },
  });
}

/** The question with its saved segments. From the primary: one may have been saved a moment ago. */
function filled<Asked extends object>(
  { pool }: AdminReportContext,
  { app_id: appId, question }: { app_id: number; question: Asked },
): Promise<FilledIn<Asked>> {
  return fillIn(pool, { appId, question });
}

function segmentsIn(saved: FilledIn<object>["saved"]): Pick<Origin, "saved_segments"> {
  return saved.length === 0 ? {} : { saved_segments: saved };
}

function originOf({ writtenUntilMs, tookMs }: LakeRows): { received_until: string; took_ms: number } {
  return { received_until: new Date(writtenUntilMs).toISOString(), took_ms: tookMs };
}
