import type { ShownMetadata } from "../../../src/contract/setting/metadata.ts";
import { useAppQuery } from "../app-query.ts";
import { type KnownNames, PRESET_EVENTS } from "./names.ts";

/** Events and properties to choose from: the app's own, then the events that every SDK sends. */
export function useKnownNames(): KnownNames {
  const { data } = useAppQuery<ShownMetadata>("metadata");
  const own = data?.events.map(({ name }) => name) ?? [];
  return { events: [...new Set([...own, ...PRESET_EVENTS])], properties: data?.properties ?? [] };
}
