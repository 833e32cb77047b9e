import { type Static, Type } from "typebox";
import { LIMITS } from "../../limits.ts";
import { emptyData, envelopeSchema } from "../envelope.ts";

const appId = Type.Integer({ minimum: 1, description: "Application id" });
const viewId = Type.Integer({ minimum: 1, maximum: LIMITS.tableInteger, description: "Id of the view" });
const name = Type.String({ minLength: 1, maxLength: 100, description: "Name of the view" });
const parameters = Type.Unsafe<Record<string, string>>({
  type: "object",
  additionalProperties: { type: "string", maxLength: LIMITS.reportViewParameterLength },
  maxProperties: LIMITS.reportViewParameters,
  description: "Parameters in the page's address",
});

export const viewSaveBody = Type.Object({
  app_id: appId,
  view_id: Type.Optional({ ...viewId, description: "The view to replace; absent: a new one is created" }),
  name,
  parameters,
});

export const viewRenameBody = Type.Object({ app_id: appId, view_id: viewId, name });

export const viewShareBody = Type.Object({
  app_id: appId,
  view_id: viewId,
  is_shared: Type.Boolean({ description: "Whether everybody sees it" }),
});

export const viewRemoveBody = Type.Object({ app_id: appId, view_id: viewId });

const savedView = Type.Object({
  view_id: viewId,
  name,
  parameters,
  owner: Type.String({ description: "Who saved it" }),
  is_shared: Type.Boolean(),
  may_change: Type.Boolean({ description: "Whether the caller may change or remove it" }),
  changed_at: Type.Integer({ description: "Milliseconds" }),
});
export type SavedView = Static<typeof savedView>;
export const savedViewAnswer = envelopeSchema(savedView);

const savedViews = Type.Object({ views: Type.Array(savedView, { description: "By name" }) });
export type SavedViews = Static<typeof savedViews>;
export const savedViewsAnswer = envelopeSchema(savedViews);

export const viewRemovedAnswer = envelopeSchema(emptyData);
