import { type Static, Type } from "typebox";
import {
  META_STATES,
  METADATA_MODES,
  type MetadataMode,
  type MetaState,
  OWN_NAME,
  PROPERTY_SCOPES,
  PROPERTY_TYPES,
  type PropertyScope,
  type PropertyType,
} from "../../domain/event/metadata.ts";
import { LIMITS } from "../../limits.ts";
import { choice } from "../fields.ts";

const appId = Type.Integer({ description: "Application id", minimum: 1 });
const ownName = Type.String({ pattern: OWN_NAME.source });
const state = choice<MetaState>(META_STATES, "`observed` in open mode, or the state set by a person");
const changedAt = Type.Integer({ description: "When it was first observed, or last declared, ms" });
const scope = choice<PropertyScope>(PROPERTY_SCOPES, "Whether it is a property of users or of events");

export const eventDeclareBody = Type.Object({
  app_id: appId,
  names: Type.Array(ownName, { minItems: 1, maxItems: LIMITS.namesDeclared, description: "Events" }),
  state: choice<"declared" | "disabled">(["declared", "disabled"], "A disabled event is no longer stored"),
});
export type EventDeclareBody = Static<typeof eventDeclareBody>;

export const propertyDeclareBody = Type.Object({
  app_id: appId,
  properties: Type.Array(
    Type.Object({ scope, name: ownName, type: choice<PropertyType>(PROPERTY_TYPES, "Type of its values") }),
    { minItems: 1, maxItems: LIMITS.namesDeclared, description: "`scope`, `name` and `type` of each" },
  ),
});
export type PropertyDeclareBody = Static<typeof propertyDeclareBody>;

const eventMeta = Type.Object({ name: Type.String(), state, changed_at_ms: changedAt });
export type ShownEventMeta = Static<typeof eventMeta>;

const propertyMeta = Type.Object({
  scope,
  name: Type.String(),
  type: choice<PropertyType | "any">([...PROPERTY_TYPES, "any"], "`any` until it is declared"),
  state,
  changed_at_ms: changedAt,
});
export type ShownPropertyMeta = Static<typeof propertyMeta>;

export const appMetadata = Type.Object({
  metadata: choice<MetadataMode>(METADATA_MODES, "Whether undeclared events are accepted"),
  events: Type.Array(eventMeta),
  properties: Type.Array(propertyMeta),
});
export type ShownMetadata = Static<typeof appMetadata>;
