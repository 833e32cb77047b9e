import type { UserAccount } from "../../db/user-account.ts";
import type { Counted } from "../../db/user-total.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { UserKey } from "../../domain/user/user-key.ts";
import type { EntryHead } from "../../journal/entry.ts";
import { UserMap } from "../entry/user-map.ts";
import type { Erasures } from "./erasures.ts";
import type { OpenDecisions } from "./open-decisions.ts";
import { countedOf, isSameJudged, type Judged, judgedOf, standingOf } from "./standing.ts";

/** Where the cube and the totals counted a user before the batch, and what postbacks were judged by. */
export type Before = {
  cohortDay: string;
  standing: string;
  latestDay: string;
  judged: Judged;
  wxOpenid: string;
  version: number;
  cid: string;
  registeredAtMs: number;
  counted: Counted;
};

/** The users of a batch: read before it, changed in place, and written whole. */
export class BatchUsers {
  readonly open: OpenDecisions;
  readonly erasures: Erasures;
  /** Profiles that the batch has made and that only their user refers to, so they may be changed in place. */
  readonly ownProfiles = new Set<JsonObject>();
  readonly #users = new UserMap<UserAccount>();
  readonly #before = new UserMap<Before>();
  readonly #changed = new UserMap<UserAccount>();

  constructor(stored: readonly UserAccount[], { open, erasures }: { open: OpenDecisions; erasures: Erasures }) {
    this.open = open;
    this.erasures = erasures;
    for (const user of stored) {
      this.#users.set(user, user);
      this.#before.set(user, beforeOf(user));
    }
  }

  find(key: UserKey): UserAccount | undefined {
    return this.#users.get(key);
  }

  put(user: UserAccount): void {
    this.#users.set(user, user);
    this.#changed.set(user, user);
  }

  /** Whether the user was in the tables before this batch. */
  isStored(user: UserKey): boolean {
    return this.#before.has(user);
  }

  before(user: UserKey): Before | undefined {
    return this.#before.get(user);
  }

  /**
   * Whether an entry must be dropped because its user was erased: it dates from before the erasure, or comes from a
   * process that does not know of the erasure yet and still treats the client as registered.
   */
  isErased(entry: { head: EntryHead; user: UserKey; from: number }): boolean {
    const { head, user } = entry;
    const side = this.erasures.sideOf(entry);
    if (side !== "after") return side === "before";
    const isRegistration = head.kind === "register" || head.kind === "initialize" || head.kind === "attributed";
    return head.registered === "yes" && !isRegistration && !this.find(user);
  }

  /** Notes that the entry at this position depends on the decisions about a user. A new user has none yet. */
  needDecisions(user: UserAccount, position: number): void {
    if (this.isStored(user) || user.returned) this.open.need(user, position);
  }

  changed(): UserAccount[] {
    return this.#changed.values();
  }

  /** The changed users, each with what the totals counted of the user before the batch. */
  recounted(): { user: UserAccount; before: Counted | undefined }[] {
    const recounted: { user: UserAccount; before: Counted | undefined }[] = [];
    for (const user of this.changed()) recounted.push({ user, before: this.before(user)?.counted });
    return recounted;
  }

  /** New users, and users whom the cube now counts in another group. */
  regrouped(): UserAccount[] {
    const regrouped: UserAccount[] = [];
    for (const user of this.changed()) {
      const before = this.before(user);
      if (!before || before.standing !== standingOf(user)) regrouped.push(user);
    }
    return regrouped;
  }

  /** Whether the lake shows another version, creative or instant of a stored user. */
  isShownAnew(user: UserAccount): boolean {
    const before = this.before(user);
    if (!before) return false;
    const { version, cid, registeredAtMs, adData } = user;
    const isSame = before.version === version && before.cid === cid && before.registeredAtMs === registeredAtMs;
    return !isSame || before.judged.adData !== adData;
  }

  /** Stored users who have told another open id, by which platforms tell what their ads earned. */
  reidentified(): UserAccount[] {
    const reidentified: UserAccount[] = [];
    for (const user of this.changed()) {
      const before = this.before(user);
      if (before && before.wxOpenid !== user.wxOpenid) reidentified.push(user);
    }
    return reidentified;
  }

  /** Stored users whose postbacks have to be judged again. */
  judgedAnew(): UserAccount[] {
    return this.changed().filter((user) => {
      const before = this.before(user);
      return before && !isSameJudged(before.judged, judgedOf(user));
    });
  }

  /** Users whose source may have to be decided. Only a registered user has one. */
  toDecide(): UserAccount[] {
    const users = new UserMap<UserAccount>();
    for (const key of this.open.users()) {
      const user = this.find(key);
      if (user?.isRegistered) users.set(key, user);
    }
    return users.values();
  }
}

function beforeOf(user: UserAccount): Before {
  return {
    cohortDay: user.cohortDay,
    standing: standingOf(user),
    latestDay: user.latestLoginDay ?? "",
    judged: judgedOf(user),
    wxOpenid: user.wxOpenid,
    version: user.version,
    cid: user.cid,
    registeredAtMs: user.registeredAtMs,
    counted: countedOf(user),
  };
}
