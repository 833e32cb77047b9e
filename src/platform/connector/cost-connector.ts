import type { AccountField, CallContext, HttpReply, HttpRequest, TokenFlow } from "./connector.ts";

/** The cost of an ad on a day, as reported by the platform. Days are in the platform's time zone. */
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

/**
 * A name and a status, as reported by the platform. The level `account` is the account itself. A value that this reply
 * does not contain is empty, and must not replace one from another reply.
 */
export type PulledName = { level: "account" | "plan" | "ad"; id: string; name: string; status: string };

/** A call that is still to be made, as plain data: which `list`, and which page or which `ids`, separated by commas. */
export type CostQuestion = Readonly<Record<string, string | number>>;

export type CostPage =
  | {
      kind: "page";
      costs: PulledCost[];
      names: PulledName[];
      /** Further questions, such as the next page. */
      next: CostQuestion[];
    }
  | { kind: "retry" | "permanent" | "token"; reason: string };

/** How costs are pulled from a platform. Pure, like the connector for postbacks. */
export type CostConnector = {
  fields: readonly AccountField[];
  /** The most days in one question. */
  daysMax: number;
  /** The first questions for a range of days, both ends included. */
  start(range: { fromDay: string; toDay: string }, context: CallContext): CostQuestion[];
  /** Whether the question returns costs. If another question is refused for good, the costs are still complete. */
  tellsCosts(question: CostQuestion): boolean;
  request(question: CostQuestion, context: CallContext): HttpRequest;
  read(question: CostQuestion, reply: HttpReply, context: CallContext): CostPage;
  tokens?: TokenFlow;
};
