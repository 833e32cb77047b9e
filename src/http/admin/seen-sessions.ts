import { nameOf } from "../../db/admin-user.ts";
import { LIMITS } from "../../limits.ts";
import type { Actor } from "./actor.ts";

/** How long after its last look-up a session is still trusted. */
const BELIEVED_MS = 15 * 60_000;

/**
 * Sessions that were valid a moment ago, in memory only. While the database is away no session can be looked up, and
 * that is when an operator needs to see the server's state: a session found here may still read, but change nothing.
 */
export class SeenSessions {
  readonly #seen = new Map<string, { actor: Actor; atMs: number }>();

  note(session: string, actor: Actor, atMs: number): void {
    // Deleted first, so that the map stays ordered from oldest to newest.
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

  /** Forgets a person, some of whose sessions have ended. */
  forgetPerson({ name }: { name: string }): void {
    for (const [session, { actor }] of this.#seen) if (actor.name === nameOf(name)) this.forget(session);
  }
}
