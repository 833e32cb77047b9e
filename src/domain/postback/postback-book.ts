import { AD_MOMENTS, ownEventOf, retentionDaysOf } from "./moment-name.ts";
import {
  type JudgedUser,
  type Judgement,
  judge,
  type Occurrence,
  type PostbackRule,
  type Reach,
} from "./postback-rule.ts";

/** An account at a platform that sends an app's postbacks. */
export type Account = { adPlatform: string; advertiserId: string };

/** The callbacks that the app's own systems have asked for. */
export type OwnWishes = { attribution: boolean; events: ReadonlySet<string> };

/** Everything that decides which postbacks an app sends, and to whom. */
export class PostbackBook {
  /** The app's own events and the days after registration that rules name; other moments can be ignored. */
  readonly events: ReadonlySet<string>;
  readonly retentionDays: ReadonlySet<number>;
  readonly hasAdViews: boolean;
  readonly own: OwnWishes;
  readonly rules: readonly PostbackRule[];
  readonly #appId: number;
  readonly #accounts: ReadonlySet<string>;
  readonly #takesPostbacks: (platform: string) => boolean;

  constructor(parts: {
    appId: number;
    rules: readonly PostbackRule[];
    accounts: readonly Account[];
    own: OwnWishes;
    takesPostbacks: (platform: string) => boolean;
  }) {
    this.#appId = parts.appId;
    this.rules = parts.accounts.length > 0 ? parts.rules.filter((rule) => rule.enabled) : [];
    this.#accounts = new Set(parts.accounts.map(keyOf));
    this.#takesPostbacks = parts.takesPostbacks;
    this.own = parts.own;
    const moments = this.rules.map((rule) => rule.moment);
    this.events = new Set(moments.flatMap((moment) => ownEventOf(moment) ?? []));
    this.retentionDays = new Set(moments.flatMap((moment) => retentionDaysOf(moment) ?? []));
    this.hasAdViews = moments.some((moment) => AD_MOMENTS.includes(moment));
  }

  /** Whether the app has an account. Without one, nothing is sent or noted. */
  get tellsPlatforms(): boolean {
    return this.#accounts.size > 0;
  }

  judge(occurrence: Occurrence, user: JudgedUser): Judgement[] {
    if (!this.tellsPlatforms) return [];
    return judge(occurrence, user, { rules: this.rules, reach: this.reachOf(user) });
  }

  reachOf(user: Account): Reach {
    if (!this.#takesPostbacks(user.adPlatform)) return "takes_none";
    return this.#accountOf(user) === undefined ? "no_account" : "account";
  }

  /** The advertiser's own account, else the platform's general one. */
  #accountOf({ adPlatform, advertiserId }: Account): Account | undefined {
    return [
      { adPlatform, advertiserId },
      { adPlatform, advertiserId: "" },
    ].find((account) => this.#accounts.has(keyOf(account)));
  }

  /** The lane for messages to the user's platform. */
  laneOf(user: Account): string {
    const account = this.#accountOf(user);
    if (!account) throw new Error("A platform without an account has no lane.");
    return laneOf({ appId: this.#appId, ...account });
  }
}

function keyOf({ adPlatform, advertiserId }: Account): string {
  return `${adPlatform} ${advertiserId}`;
}

export function laneOf({ appId, adPlatform, advertiserId }: Account & { appId: number }): string {
  return `${appId} ${adPlatform} ${advertiserId}`;
}

/** The lane for callbacks to the app's own systems. */
export function callbackLaneOf(appId: number, kind: string): string {
  return `${appId} $${kind}`;
}

/** The app that a lane belongs to. */
export function appOfLane(lane: string): number {
  return Number.parseInt(lane, 10);
}
