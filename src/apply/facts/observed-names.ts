import type { ObservedName } from "../../db/metadata.ts";
import { LIMITS } from "../../limits.ts";

type Kind = ObservedName["kind"];

/**
 * Every event and property name that an app has ever sent, so that each is written to the database once. Bounded per
 * app: when a client keeps inventing names, further ones are not noted, but its events are still stored.
 */
export class ObservedNames {
  readonly #names = new Map<number, Readonly<Record<Kind, Set<string>>>>();

  of(appId: number, kind: Kind): ReadonlySet<string> {
    return this.#setOf(appId, kind);
  }

  /** Returns whether the name is new and must be noted. */
  add(appId: number, kind: Kind, name: string): boolean {
    const names = this.#setOf(appId, kind);
    if (names.has(name) || names.size >= LIMITS.observedNamesPerApp) return false;
    names.add(name);
    return true;
  }

  #setOf(appId: number, kind: Kind): Set<string> {
    let names = this.#names.get(appId);
    if (!names) {
      names = { event: new Set(), event_property: new Set(), user_property: new Set() };
      this.#names.set(appId, names);
    }
    return names[kind];
  }
}
