import type { UserAccount } from "../../db/user-account.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { UserKey } from "../../domain/user/user-key.ts";
import type { EntryHead } from "../../journal/entry.ts";
import { userKeyText } from "../entry/key-text.ts";
import type { Erasures } from "./erasures.ts";
import type { OpenDecisions } from "./open-decisions.ts";
import { standingOf } from "./standing.ts";

/** What the cube knew of a user before the batch. */
export type Before = { placeDay: string; standing: string; latestDay: string };

/** The users whom a batch is about. They are read before it, changed in place, and written whole. */
export class BatchUsers {
  readonly open: OpenDecisions;
  readonly erasures: Erasures;
  /** Profiles that the batch has made and that nothing but their user refers to. */
  readonly ownProfiles = new Set<JsonObject>();
  readonly #users: Map<string, UserAccount>;
  readonly #before: ReadonlyMap<string, Before>;
  readonly #changed = new Set<string>();

  constructor(stored: readonly UserAccount[], { open, erasures }: { open: OpenDecisions; erasures: Erasures }) {
    this.open = open;
    this.erasures = erasures;
    this.#users = new Map(stored.map((user) => [userKeyText(user), user]));
    this.#before = new Map(stored.map((user) => [userKeyText(user), beforeOf(user)]));
  }

  find(key: UserKey): UserAccount | undefined {
    return this.#users.get(userKeyText(key));
  }

  put(user: UserAccount): void {
    const text = userKeyText(user);
    this.#users.set(text, user);
    this.#changed.add(text);
  }

  /** Whether the user was in the tables before this batch. */
  isStored(user: UserKey): boolean {
    return this.#before.has(userKeyText(user));
  }

  before(user: UserKey): Before | undefined {
    return this.#before.get(userKeyText(user));
  }

  /**
   * Whether an entry must not bring its user back: it comes from before an erasure, or from a process that has not heard
   * of the erasure yet and takes the client for registered.
   */
  isErased(entry: { head: EntryHead; user: UserKey; from: number }): boolean {
    const { head, user } = entry;
    const side = this.erasures.sideOf(entry);
    if (side !== "after") return side === "before";
    const isRegistration = head.kind === "register" || head.kind === "initialize" || head.kind === "attributed";
    return head.registered === "yes" && !isRegistration && !this.find(user);
  }

  /** An entry at this position builds on the decisions about a user; those about a new user are made with it. */
  needDecisions(user: UserAccount, position: number): void {
    if (this.isStored(user) || user.returned) this.open.need(user, position);
  }

  changed(): UserAccount[] {
    return [...this.#changed].map((text) => this.#users.get(text)!);
  }

  /** New users, and those who stand elsewhere in the cube now than before. */
  placed(): UserAccount[] {
    return this.changed().filter((user) => this.before(user)?.standing !== standingOf(user));
  }

  /** Users who may have to be decided. Only a registered user has a source. */
  toDecide(): UserAccount[] {
    return [...this.open.userTexts()].flatMap((text) => {
      const user = this.#users.get(text);
      return user?.isRegistered ? [user] : [];
    });
  }
}

function beforeOf(user: UserAccount): Before {
  return { placeDay: user.placeDay, standing: standingOf(user), latestDay: user.latestLoginDay ?? "" };
}
