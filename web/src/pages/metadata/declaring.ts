import { useMutation } from "@tanstack/react-query";
import type {
  EventDeclareBody,
  PropertyDeclareBody,
  ShownMetadata,
} from "../../../../src/contract/setting/metadata.ts";
import { post, queries } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { say } from "../../ui/toast.tsx";

export type Scope = PropertyDeclareBody["properties"][number]["scope"];
export type PropertyType = PropertyDeclareBody["properties"][number]["type"];
export const PROPERTY_TYPES: readonly PropertyType[] = ["string", "number", "bool", "datetime", "list", "object"];

/** The most names that one call may declare. */
const NAMES_AT_ONCE = 500;

export type Declaration =
  | { kind: "events"; names: readonly string[]; state: EventDeclareBody["state"] }
  | { kind: "property"; scope: Scope; name: string; type: PropertyType };

export const METADATA = "metadata";

/** Declares names, shows the new state and says so in a toast. */
export function useDeclaring(declaration: Declaration, { said, onDone }: { said: string; onDone?: () => void }) {
  const { app_id } = useApp();
  return useMutation({
    mutationFn: () => declare(app_id, declaration),
    onSuccess: (metadata) => {
      queries.setQueryData([METADATA, app_id], metadata);
      say(said);
      onDone?.();
    },
  });
}

async function declare(appId: number, declaration: Declaration): Promise<ShownMetadata> {
  if (declaration.kind === "property") {
    const { scope, name, type } = declaration;
    const body: PropertyDeclareBody = { app_id: appId, properties: [{ scope, name, type }] };
    return post<ShownMetadata>("metadata/properties/declare", body);
  }
  const { names, state } = declaration;
  let metadata: ShownMetadata | undefined;
  for (let from = 0; from < names.length; from += NAMES_AT_ONCE) {
    const body: EventDeclareBody = { app_id: appId, names: names.slice(from, from + NAMES_AT_ONCE), state };
    metadata = await post<ShownMetadata>("metadata/events/declare", body);
  }
  return metadata!;
}
