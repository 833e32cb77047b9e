import type { ShownMetadata } from "../../../src/contract/setting/metadata.ts";
import { useAppQuery } from "../app-query.ts";
import type { KnownNames } from "./names.ts";

/** Events and properties that the app is known to have, to choose from. Until they have come there are none. */
export function useKnownNames(): KnownNames {
  const { data } = useAppQuery<ShownMetadata>("metadata");
  return { events: data?.events.map(({ name }) => name) ?? [], properties: data?.properties ?? [] };
}
