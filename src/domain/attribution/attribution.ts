import type { RuleBook, Rules } from "./attribution-rules.ts";
import type { Flag } from "./fraud.ts";
import { METHODS, type TouchMethod } from "./method.ts";
import type { Touch } from "./touch.ts";

/** The platform that reports show for a user whom no platform brought. */
export const ORGANIC = "natural";

export type NamedCampaign = { id: string; platform: string };

/** The registration or return to attribute. */
export type Subject = {
  /** The instant of the registration or return. */
  atMs: number;
  /** The platform that the launch query names. */
  launch: string | undefined;
  /** The campaign that the registration names, when the launch query names no platform and the campaign's is known. */
  campaign?: NamedCampaign | undefined;
  /** The platform that the caller reported; empty reports an organic user. */
  reported: string | undefined;
};

/** A stored touch that shares a key with the subject. */
export type FoundTouch = {
  touch: Touch;
  /** The methods that matched, each with its keys ("oaid", "idfa" …). */
  matches: readonly { method: TouchMethod; by: readonly string[] }[];
  flags: readonly Flag[];
};

/** Why a candidate won or lost. */
export const OUTCOMES = [
  "won",
  "reported_stands",
  "earlier_method_won",
  "click_won",
  "later_touch_won",
  "greater_id_won",
  "after_registration",
  "outside_window",
  "too_fast",
  "impressions_off",
  "flagged",
] as const;
export type Outcome = (typeof OUTCOMES)[number];

export type Candidate = FoundTouch & {
  /** The surest method by which the touch could win, else the surest one that matched. */
  method: TouchMethod;
  outcome: Outcome;
  /** The window that applied, ms. */
  windowMs: number;
};

export type Verdict =
  | { kind: "attributed"; method: TouchMethod; platform: string; touch: Touch }
  | { kind: "attributed"; method: "launch_query" | "reported"; platform: string; touch: undefined }
  | { kind: "organic"; method: "reported" | undefined };

export type Decision = { verdict: Verdict; candidates: Candidate[] };

/**
 * Decides which touch brought the subject. Pure and total: the same touches in any order give the same decision, and
 * a touch that loses changes nothing for the others.
 */
export function decide(subject: Subject, found: readonly FoundTouch[], rules: RuleBook): Decision {
  const standings = found.map((one) => standingOf(one, subject, rules.of(one.touch.platform)));
  const able = standings.filter((one) => one.obstacle === undefined && !isOutweighed(one, subject)).sort(better);
  const winner = subject.reported === undefined ? able[0] : undefined;
  const outcomeOf = (standing: Standing): Outcome => {
    if (subject.reported !== undefined) return "reported_stands";
    if (standing.obstacle) return standing.obstacle;
    return winner && !isOutweighed(standing, subject) ? comparison(standing, winner) : "earlier_method_won";
  };
  const candidates = standings.sort(better).map((standing): Candidate => {
    const { obstacle: _, ...rest } = standing;
    return { ...rest, outcome: outcomeOf(standing) };
  });
  return { verdict: verdictOf(subject, winner), candidates };
}

type Standing = Omit<Candidate, "outcome"> & { obstacle: Outcome | undefined };

function standingOf(found: FoundTouch, subject: Subject, rules: Rules): Standing {
  const tried = [...found.matches]
    .sort((left, right) => rank(left.method) - rank(right.method))
    .map(({ method }) => {
      const windowMs = windowOf(found.touch, method, rules);
      return { ...found, method, windowMs, obstacle: obstacleOf(found, windowMs, subject, rules) };
    });
  const standing = tried.find(({ obstacle }) => obstacle === undefined) ?? tried[0];
  if (!standing) throw new Error("A touch that matches nothing is not a candidate.");
  return standing;
}

function windowOf(touch: Touch, method: TouchMethod, rules: Rules): number {
  const windowMs = method === "ip_ua" ? rules.ipUaWindowMs : rules.clickWindowMs;
  return touch.kind === "click" ? windowMs : Math.min(windowMs, rules.impressionWindowMs);
}

/** Windows are half-open, like every range: a touch that is exactly as old as the window lies outside. */
function obstacleOf(found: FoundTouch, windowMs: number, subject: Subject, rules: Rules): Outcome | undefined {
  const ageMs = subject.atMs - found.touch.touchedAtMs;
  if (ageMs < 0) return "after_registration";
  if (found.touch.kind === "impression" && !rules.impressions) return "impressions_off";
  if (ageMs >= windowMs) return "outside_window";
  if (ageMs < rules.gapMsMin) return "too_fast";
  return found.flags.length > 0 && !rules.flaggedMayWin ? "flagged" : undefined;
}

/**
 * Whether the launch outweighs a match by address and phone. A named campaign, which says nothing about the ad,
 * outweighs only touches that contradict it.
 */
function isOutweighed({ method, touch }: Standing, { launch, campaign }: Subject): boolean {
  if (rank(method) < rank("launch_query")) return false;
  if (launch !== undefined) return true;
  return (
    campaign !== undefined && (touch.platform !== campaign.platform || !["", campaign.id].includes(touch.campaignId))
  );
}

function rank(method: (typeof METHODS)[number]): number {
  return METHODS.indexOf(method);
}

/** The order of candidates: surest method, click before impression, last touch, greater id. */
function better(left: Standing, right: Standing): number {
  return (
    rank(left.method) - rank(right.method) ||
    (left.touch.kind === right.touch.kind ? 0 : left.touch.kind === "click" ? -1 : 1) ||
    right.touch.touchedAtMs - left.touch.touchedAtMs ||
    (left.touch.touchId === right.touch.touchId ? 0 : left.touch.touchId > right.touch.touchId ? -1 : 1)
  );
}

function comparison(standing: Standing, winner: Standing): Outcome {
  if (standing === winner) return "won";
  if (standing.method !== winner.method) return "earlier_method_won";
  if (standing.touch.kind !== winner.touch.kind) return "click_won";
  return standing.touch.touchedAtMs === winner.touch.touchedAtMs ? "greater_id_won" : "later_touch_won";
}

function verdictOf(subject: Subject, winner: Standing | undefined): Verdict {
  const { reported, launch = subject.campaign?.platform } = subject;
  if (reported !== undefined) {
    return reported === ""
      ? { kind: "organic", method: "reported" }
      : { kind: "attributed", method: "reported", platform: reported, touch: undefined };
  }
  if (winner) {
    return { kind: "attributed", method: winner.method, platform: winner.touch.platform, touch: winner.touch };
  }
  return launch === undefined
    ? { kind: "organic", method: undefined }
    : { kind: "attributed", method: "launch_query", platform: launch, touch: undefined };
}
