import type { ShownMetadata } from "../../../src/contract/setting/metadata.ts";
import { useAppQuery } from "../app-query.ts";

export type KnownProperty = ShownMetadata["properties"][number];
export type KnownNames = { events: readonly string[]; properties: readonly KnownProperty[] };

/** Events and properties that the app is known to have, to choose from. Until they have come there are none. */
export function useKnownNames(): KnownNames {
  const { data } = useAppQuery<ShownMetadata>("metadata");
  return { events: data?.events.map(({ name }) => name) ?? [], properties: data?.properties ?? [] };
}
