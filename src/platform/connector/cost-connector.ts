import type { DaySpan } from "../../domain/cost-schedule.ts";
import type { AccountField, CallContext, HttpReply, HttpRequest, TokenFlow } from "./connector.ts";

/**
 * The cost of an ad on a day, as reported by the platform. Days are in the platform's time zone. A total has the same
 * form: that of a plan has no aid, that of the account no gid either.
 */
export type PulledCost = {
  day: string;
  gid: string;
  aid: string;
  impressions: number;
  clicks: number;
  /** The cost in ten-thousandths of the major unit. */
  costE4: number;
  /** ISO code, or the empty text for the app's own currency. */
  currency: string;
};

/** The part of an ad's cost that belongs to one of its creatives. */
export type CreativeCost = PulledCost & { cid: string };

/** The part of an ad's cost that fell into an hour of the day, "00" to "23". */
export type HourlyCost = PulledCost & { hour: string };

/** What the ads that a player of the app was shown earned on a day, where the platform tells it by player. */
export type PlayerEarning = {
  day: string;
  openId: string;
  views: number;
  /** In millionths of the major unit. */
  micros: number;
  /** ISO code, or the empty text for the app's own currency. */
  currency: string;
};

/**
 * A name and a status, as reported by the platform. The level `account` is the account itself. A value that this reply
 * does not contain is empty, and must not replace one from another reply.
 */
export type PulledName = { level: "account" | "plan" | "ad" | "creative"; id: string; name: string; status: string };

/** A call that is still to be made, as plain data: which `list`, and which page or which `ids`, separated by commas. */
export type CostQuestion = Readonly<Record<string, string | number>>;

export type CostPage =
  | {
      kind: "page";
      costs: PulledCost[];
      /** The same costs by creative, of which some may be missing. */
      creatives?: CreativeCost[];
      /** The same costs by the hour, of which some may be missing. */
      hours?: HourlyCost[];
      /** What ads inside the app earned, by player; the same player may come again. */
      earnings?: PlayerEarning[];
      /** Totals of plans, in which costs can be that belong to no ad. */
      planTotals?: PulledCost[];
      /** Totals of the account. Absent when the page says nothing about them; a day that is missing here cost nothing. */
      totals?: PulledCost[];
      names: PulledName[];
      /** Days that the platform does not list whole, and why. */
      cut?: CutDay[];
      /** Further questions, such as the next page. */
      next: CostQuestion[];
    }
  // `wait`: the platform is still working on it, and wants to be asked the same again.
  | { kind: "retry" | "permanent" | "token" | "wait"; reason: string };

export type CutDay = { day: string; reason: string };

/**
 * What a question is about. Costs are complete or there are none; without creatives or hours they stand with their ads
 * and days, without totals they are stored unchecked, and names come when they can. Subjects are asked in this order:
 * while a day grows, a total that is older than its parts would be less than they add up to.
 */
export type Subject = "creatives" | "hours" | "costs" | "plan_totals" | "totals" | "names";

/** How costs are pulled from a platform. Pure, like the connector for postbacks. */
export type CostConnector = {
  /** The platform's name in sentences. */
  platform: string;
  /**
   * By default costs. Revenue is what ads inside the app earned: by unit, where `aid` is the ad unit and the cost what it
   * earned, or by player.
   */
  brings?: "unit_revenue" | "player_revenue";
  fields: readonly AccountField[];
  /** How far back the platform's reports reach, nearest first. */
  spans: readonly DaySpan[];
  /** The time zone of the days of `spans`, where a day beyond them must not be asked for. */
  reachZone?: string;
  /** The first questions for a range of days, both ends included. */
  start(range: { fromDay: string; toDay: string }, context: CallContext): CostQuestion[];
  subjectOf(question: CostQuestion): Subject;
  request(question: CostQuestion, context: CallContext): HttpRequest;
  read(question: CostQuestion, reply: HttpReply, context: CallContext): CostPage;
  tokens?: TokenFlow;
};
