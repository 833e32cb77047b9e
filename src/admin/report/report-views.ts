import type { Static, TSchema } from "typebox";
import { viewRemoveBody, viewRenameBody, viewSaveBody, viewShareBody } from "../../contract/admin/report-view.ts";
import type { Executor } from "../../db/engine/sql.ts";
import {
  changeReportView,
  createReportView,
  findReportView,
  type ReportView,
  type ReportViewChange,
  removeReportView,
} from "../../db/report-view.ts";
import type { Stored } from "../../db/stored.ts";
import { type Grants, mayIn } from "../../domain/access/role.ts";
import { ApiError } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import { assertApps } from "../apps.ts";
import { act, assertName, type Desk } from "../desk.ts";

/** People own their views by name; only admins of the app change shared ones. */
type ViewDesk = Desk & { actor: Viewer };
type Viewer = { name: string; grants: Grants };
type ViewKey = { app_id: number; view_id: number };

/** Saves a new view, or replaces one. */
export async function saveView(desk: ViewDesk, body: Static<typeof viewSaveBody>): Promise<ReportView> {
  const { app_id: appId, view_id, name, parameters } = body;
  const kept = () => ({ name: readName(name), parameters, changedAtMs: desk.clock() });
  const about = { action: "report/views/save", schema: viewSaveBody, body };
  if (view_id !== undefined)
    return onView(desk, { ...about, key: { ...body, view_id }, run: (tx, view) => changed(tx, view, kept()) });
  return act(desk, {
    ...about,
    isNoted: () => false,
    run: async (tx) => {
      await assertApps(tx, [appId]);
      return viewOf(await createReportView(tx, { appId, owner: desk.actor.name, ...kept() }, LIMITS.reportViews));
    },
  });
}

export async function renameView(desk: ViewDesk, body: Static<typeof viewRenameBody>): Promise<ReportView> {
  const change = () => ({ name: readName(body.name), changedAtMs: desk.clock() });
  return onView(desk, {
    action: "report/views/rename",
    schema: viewRenameBody,
    body,
    key: body,
    run: (tx, view) => changed(tx, view, change()),
  });
}

export async function removeView(desk: ViewDesk, body: Static<typeof viewRemoveBody>): Promise<void> {
  await onView(desk, {
    action: "report/views/remove",
    schema: viewRemoveBody,
    body,
    key: body,
    run: async (tx, view) => {
      await removeReportView(tx, view);
      return view;
    },
  });
}

/** Shares a view with everybody, or stops sharing it. */
export function shareView(desk: ViewDesk, body: Static<typeof viewShareBody>): Promise<ReportView> {
  return act(desk, {
    action: "report/views/share",
    schema: viewShareBody,
    body,
    run: async (tx) => {
      const view = await visibleView(tx, desk, body);
      return changed(tx, view, { isShared: body.is_shared, changedAtMs: desk.clock() });
    },
  });
}

export function mayChange({ appId, owner, isShared }: ReportView, { name, grants }: Viewer): boolean {
  return isShared ? mayIn(grants, "setting", appId) : owner === name;
}

type ViewAct<Body extends TSchema> = {
  action: string;
  schema: Body;
  body: Static<Body>;
  key: ViewKey;
  run: (tx: Executor, view: ReportView) => Promise<ReportView>;
};

/** Changes a view that the person may change. Only changes of shared views are noted. */
async function onView<Body extends TSchema>(
  desk: ViewDesk,
  { action, schema, body, key, run }: ViewAct<Body>,
): Promise<ReportView> {
  const { after } = await act<Body, { before: ReportView; after: ReportView }>(desk, {
    action,
    schema,
    body,
    isNoted: ({ before }) => before.isShared,
    run: async (tx) => {
      const before = await visibleView(tx, desk, key);
      if (!mayChange(before, desk.actor)) throw new ApiError("notGranted", "Only admins can change a shared view.");
      return { before, after: await run(tx, before) };
    },
  });
  return after;
}

async function visibleView(
  tx: Executor,
  { actor }: ViewDesk,
  { app_id: appId, view_id: viewId }: ViewKey,
): Promise<ReportView> {
  await assertApps(tx, [appId]);
  const view = await findReportView(tx, { appId, viewId });
  if (!view || (view.owner !== actor.name && !view.isShared)) throw noView();
  return view;
}

async function changed(
  tx: Executor,
  view: ReportView,
  change: ReportViewChange & { changedAtMs: number },
): Promise<ReportView> {
  return viewOf(await changeReportView(tx, view, change));
}

function readName(text: string): string {
  assertName(text);
  return text.trim();
}

function viewOf(stored: Stored<ReportView>): ReportView {
  switch (stored.kind) {
    case "stored":
      return stored.row;
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
