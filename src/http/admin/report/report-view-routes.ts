import type { FastifyInstance, FastifyRequest } from "fastify";
import { mayChange, removeView, renameView, saveView, shareView } from "../../../admin/report/report-views.ts";
import { appIdQuery } from "../../../contract/admin/admin.ts";
import {
  type SavedView,
  savedViewAnswer,
  savedViewsAnswer,
  viewRemoveBody,
  viewRemovedAnswer,
  viewRenameBody,
  viewSaveBody,
  viewShareBody,
} from "../../../contract/admin/report-view.ts";
import { loadReportViews, type ReportView } from "../../../db/report-view.ts";
import type { Actor } from "../actor.ts";
import { adminRoute } from "../admin-route.ts";
import type { AdminReportContext } from "./admin-report-context.ts";

const VIEWS_LISTED_MAX = 2_000;

/** Saved views of pages: people own their views; only admins change shared ones. */
export function reportViewRoutes(routes: FastifyInstance, context: AdminReportContext): void {
  const { pool, apps } = context;
  saveRoute(routes, context);
  changeRoutes(routes, context);

  adminRoute(routes, {
    path: "report/views",
    summary: "Saved views of the ad report and of questions",
    description: "The caller's own views and the shared ones.",
    access: "report",
    query: appIdQuery,
    answer: savedViewsAnswer,
    run: async ({ query, request }) => {
      const { appId } = await apps.findById(Number(query.app_id));
      const owner = request.actor.name;
      const views = await loadReportViews(pool, { appId, owner, limit: VIEWS_LISTED_MAX });
      return { views: views.map((view) => shownView(view, request.actor)) };
    },
  });
}

function saveRoute(routes: FastifyInstance, context: AdminReportContext): void {
  adminRoute(routes, {
    path: "report/views/save",
    summary: "Save a view",
    access: "own",
    body: viewSaveBody,
    answer: savedViewAnswer,
    run: async ({ body, request }) => shownView(await saveView(deskOf(context, request), body), request.actor),
  });
}

function changeRoutes(routes: FastifyInstance, context: AdminReportContext): void {
  adminRoute(routes, {
    path: "report/views/rename",
    summary: "Rename a view",
    access: "own",
    body: viewRenameBody,
    answer: savedViewAnswer,
    run: async ({ body, request }) => shownView(await renameView(deskOf(context, request), body), request.actor),
  });

  adminRoute(routes, {
    path: "report/views/share",
    summary: "Share a view with everybody, or stop sharing it",
    access: "setting",
    body: viewShareBody,
    answer: savedViewAnswer,
    run: async ({ body, request }) => shownView(await shareView(deskOf(context, request), body), request.actor),
  });

  adminRoute(routes, {
    path: "report/views/remove",
    summary: "Remove a view",
    access: "own",
    body: viewRemoveBody,
    answer: viewRemovedAnswer,
    run: async ({ body, request }) => {
      await removeView(deskOf(context, request), body);
      return {};
    },
  });
}

function deskOf({ pool, vault, clock }: AdminReportContext, { by, actor }: FastifyRequest) {
  return { pool, vault, clock, by, actor };
}

function shownView(view: ReportView, actor: Actor): SavedView {
  const { viewId, name, parameters, owner, isShared, changedAtMs } = view;
  return {
    view_id: viewId,
    name,
    parameters,
    owner,
    is_shared: isShared,
    may_change: mayChange(view, actor),
    changed_at: changedAtMs,
  };
}
