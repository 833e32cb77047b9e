import type { FastifyInstance, FastifyRequest } from "fastify";
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
import {
  changeReportView,
  createReportView,
  findReportView,
  loadReportViews,
  type ReportView,
  removeReportView,
  type Stored,
} from "../../../db/report-view.ts";
import { ApiError } from "../../../errors.ts";
import { LIMITS } from "../../../limits.ts";
import type { Actor } from "../actor.ts";
import { adminRoute } from "../admin-route.ts";
import { noteChange } from "../audit.ts";
import type { AdminReportContext } from "./admin-report-context.ts";

const VIEWS_LISTED_MAX = 2_000;

/** Saved views of the ad report: people own their views; only admins change shared ones. */
export function reportViewRoutes(routes: FastifyInstance, context: AdminReportContext): void {
  const { pool, apps } = context;
  saveRoute(routes, context);
  changeRoutes(routes, context);

  adminRoute(routes, {
    path: "report/views",
    summary: "Saved views of the ad report",
    description: "The caller's own views and the shared ones.",
    access: "read",
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
  const { pool, clock } = context;

  adminRoute(routes, {
    path: "report/views/save",
    summary: "Save a view",
    access: "own",
    body: viewSaveBody,
    answer: savedViewAnswer,
    run: async ({ body, request }) => {
      const { appId } = await context.apps.findById(body.app_id);
      const kept = { name: readName(body.name), parameters: body.parameters, changedAtMs: clock() };
      if (body.view_id !== undefined) {
        const view = await changeableView(context, request, { ...body, view_id: body.view_id });
        return viewOf(await changeReportView(pool, view, kept), request.actor);
      }
      const view = { appId, owner: request.actor.name, ...kept };
      return viewOf(await createReportView(pool, view, LIMITS.reportViews), request.actor);
    },
  });
}

function changeRoutes(routes: FastifyInstance, context: AdminReportContext): void {
  const { pool, clock } = context;

  adminRoute(routes, {
    path: "report/views/rename",
    summary: "Rename a view",
    access: "own",
    body: viewRenameBody,
    answer: savedViewAnswer,
    run: async ({ body, request }) => {
      const name = readName(body.name);
      const view = await changeableView(context, request, body);
      return viewOf(await changeReportView(pool, view, { name, changedAtMs: clock() }), request.actor);
    },
  });

  adminRoute(routes, {
    path: "report/views/share",
    summary: "Share a view with everybody, or stop sharing it",
    access: "change",
    body: viewShareBody,
    answer: savedViewAnswer,
    run: async ({ body, request }) => {
      const view = await visibleView(context, request.actor, body);
      const change = { isShared: body.is_shared, changedAtMs: clock() };
      return viewOf(await changeReportView(pool, view, change), request.actor);
    },
  });

  adminRoute(routes, {
    path: "report/views/remove",
    summary: "Remove a view",
    access: "own",
    body: viewRemoveBody,
    answer: viewRemovedAnswer,
    run: async ({ body, request }) => {
      await removeReportView(pool, await changeableView(context, request, body));
      return {};
    },
  });
}

type ViewKey = { app_id: number; view_id: number };

async function visibleView(
  context: Pick<AdminReportContext, "apps" | "pool">,
  actor: Actor,
  key: ViewKey,
): Promise<ReportView> {
  const { appId } = await context.apps.findById(key.app_id);
  const view = await findReportView(context.pool, { appId, viewId: key.view_id });
  if (!view || (view.owner !== actor.name && !view.isShared)) throw noView();
  return view;
}

/** A view that the caller may change. Changes of shared views are noted in the audit log. */
async function changeableView(context: AdminReportContext, request: FastifyRequest, key: ViewKey): Promise<ReportView> {
  const view = await visibleView(context, request.actor, key);
  if (!mayChange(view, request.actor)) throw new ApiError("notGranted", "Only admins can change a shared view.");
  if (view.isShared) request.auditId = await noteChange(context, request);
  return view;
}

function mayChange({ owner, isShared }: ReportView, actor: Actor): boolean {
  return isShared ? actor.role === "admin" : owner === actor.name;
}

function readName(text: string): string {
  const name = text.trim();
  if (name === "") throw new ApiError("badParameter", "name is empty.");
  return name;
}

function viewOf(stored: Stored, actor: Actor): SavedView {
  switch (stored.kind) {
    case "stored":
      return shownView(stored.view, actor);
    case "name_taken":
      throw new ApiError("badParameter", "A view with this name already exists.");
    case "too_many":
      throw new ApiError(
        "badParameter",
        `A person can have at most ${LIMITS.reportViews} views per app; remove one first.`,
      );
    case "gone":
      throw noView();
  }
}

function noView(): ApiError {
  return new ApiError("badParameter", "The app has no view with this view_id.");
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
