import { LIMITS } from "../../limits.ts";
import type { Actor } from "./actor.ts";

/** So long after a session was last looked up, its holder is still believed. */
const BELIEVED_MS = 15 * 60_000;

/**
 * Who was signed in a moment ago, in memory alone. When the database is away nobody can be looked up, and that is when
 * an operator needs to see how things are: whoever is found here may go on looking, and change nothing.
 */
export class SeenSessions {
  readonly #seen = new Map<string, { actor: Actor; atMs: number }>();

  note(session: string, actor: Actor, atMs: number): void {
    // Deleted first, so that the oldest is always the first one.
    this.#seen.delete(session);
    this.#seen.set(session, { actor, atMs });
    if (this.#seen.size > LIMITS.seenSessions) this.forget(this.#seen.keys().next().value!);
  }

  find(session: string, nowMs: number): Actor | undefined {
    const seen = this.#seen.get(session);
    return seen && nowMs - seen.atMs < BELIEVED_MS ? seen.actor : undefined;
  }

  forget(session: string): void {
    this.#seen.delete(session);
  }
}
