import type { ShownMetadata } from "../../../src/contract/setting/metadata.ts";

/** Events and properties that an app is known to have. */
export type KnownNames = { events: readonly string[]; properties: ShownMetadata["properties"] };
