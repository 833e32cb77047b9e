import { DAY_MS } from "../calendar.ts";

const HOUR_MS = 3_600_000;
const SECOND_MS = 1_000;

/** The rules of an app; each can be set for the whole app, and most of them for one platform alone. */
export type Rules = {
  /** How old a click may be that is found by click key, device id or open id. */
  clickWindowMs: number;
  /** How old a touch may be that is found by address and user agent. */
  ipUaWindowMs: number;
  impressionWindowMs: number;
  /** Whether impressions count at all. */
  impressions: boolean;
  /** The minimum time between a touch and the registration it can bring. 0: off. */
  gapMsMin: number;
  /** Whether a touch with a fraud flag may win. */
  flaggedMayWin: boolean;
  /** The most touches of one address, or of one device, within an hour; more are a flood. 0: off. */
  floodPerAddress: number;
  floodPerDevice: number;
  /** A registration sooner than this after the touch is flagged, when a download lies between them. 0: off. */
  shortGapMs: number;
  /** Networks of data centres, such as 203.0.113.0/24, whose touches are flagged. */
  datacentres: readonly string[];
  /** Whether returning users are attributed again: to a click `reclickDays` newer, or after `refluxDays` of silence. */
  reattribution: boolean;
  reclickDays: number;
  refluxDays: number;
};

export const DEFAULT_RULES: Rules = {
  clickWindowMs: 7 * DAY_MS,
  ipUaWindowMs: 24 * HOUR_MS,
  impressionWindowMs: 24 * HOUR_MS,
  impressions: false,
  gapMsMin: 0,
  flaggedMayWin: true,
  floodPerAddress: 200,
  floodPerDevice: 30,
  shortGapMs: 10 * SECOND_MS,
  datacentres: [],
  reattribution: false,
  reclickDays: 30,
  refluxDays: 90,
};

/** Rules for the app as a whole, because they concern the user and not one touch. */
export const APP_ONLY_RULES: readonly (keyof Rules)[] = ["reattribution", "reclickDays", "refluxDays"];

export type RuleSettings = { platform: string; rules: Partial<Rules> };

/** The rules of one app: its own settings over the defaults, and a platform's settings over those. */
export class RuleBook {
  readonly #app: Rules;
  readonly #byPlatform = new Map<string, Rules>();

  /** An empty `platform` holds the settings of the whole app. */
  constructor(settings: readonly RuleSettings[] = [], over: Partial<Rules> = {}) {
    const own = settings.find((setting) => setting.platform === "")?.rules;
    this.#app = { ...DEFAULT_RULES, ...own, ...over };
    for (const { platform, rules } of settings) {
      if (platform !== "") this.#byPlatform.set(platform, { ...this.#app, ...rules, ...over });
    }
  }

  get app(): Rules {
    return this.#app;
  }

  of(platform: string): Rules {
    return this.#byPlatform.get(platform) ?? this.#app;
  }

  /** No touch older than this can win, whatever its platform. */
  get longestWindowMs(): number {
    const all = [this.#app, ...this.#byPlatform.values()];
    return Math.max(...all.map((rules) => Math.max(rules.clickWindowMs, rules.ipUaWindowMs, rules.impressionWindowMs)));
  }
}
