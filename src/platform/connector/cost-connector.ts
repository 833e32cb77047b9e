import type { AccountField, CallContext, HttpReply, HttpRequest, TokenFlow } from "./connector.ts";

/** What an ad of the account cost on a day, as the platform says. Days are those of the platform's own zone. */
export type PulledCost = {
  day: string;
  gid: string;
  aid: string;
  impressions: number;
  clicks: number;
  /** In ten-thousandths of the major unit. */
  costE4: number;
  /** ISO code; the empty text: the app's own. */
  currency: string;
};

/**
 * A name and a status, as the platform says. The level `account` is the account itself. The empty text where this reply
 * does not tell: it must not replace what another one told.
 */
export type PulledName = { level: "account" | "plan" | "ad"; id: string; name: string; status: string };

/** One call that is still to be made: which `list`, which page of it, or which `ids`, with commas. Plain data. */
export type CostQuestion = Readonly<Record<string, string | number>>;

export type CostPage =
  | {
      kind: "page";
      costs: PulledCost[];
      names: PulledName[] /** What to ask next, such as the next page. */;
      next: CostQuestion[];
    }
  | { kind: "retry" | "permanent" | "token"; reason: string };

/** How a platform is asked what its ads cost. Pure, as the connector for postbacks is. */
export type CostConnector = {
  fields: readonly AccountField[];
  /** So many days at most in one question. */
  daysMax: number;
  /** The first questions for a range of days, both ends included. */
  start(range: { fromDay: string; toDay: string }, context: CallContext): CostQuestion[];
  /** Where a question that tells none is refused for good, the costs are whole all the same. */
  tellsCosts(question: CostQuestion): boolean;
  request(question: CostQuestion, context: CallContext): HttpRequest;
  read(question: CostQuestion, reply: HttpReply, context: CallContext): CostPage;
  tokens?: TokenFlow;
};
