import { ReportClient } from "../../src/client/report-client.ts";
import type { Played } from "../market/simulation.ts";
import { type AttributionScore, scoreAttribution } from "./attribution-score.ts";
import { type EventScore, scoreEvents } from "./event-score.ts";
import { findEverybody, type Pair } from "./findings.ts";
import { type FraudScore, scoreFraud } from "./fraud-score.ts";
import { type PostbackScore, scorePostbacks } from "./postback-score.ts";
import { type ReportScore, scoreReports } from "./report-score.ts";

export type Score = {
  market: { seed: number; days: number; people: number; calls: number; touches: number; lostAnswers: number };
  attribution: AttributionScore;
  reports: ReportScore;
  events: EventScore;
  fraud: FraudScore;
  postbacks: PostbackScore;
};

/** Compares everything that the server says about a market with the truth. */
export async function scoreMarket(played: Played, onStep: (what: string) => void = () => {}): Promise<Score> {
  const { operator, server, truth, market } = played;
  onStep("users");
  const client = new ReportClient({ baseUrl: server.url, appKey: await operator.developerKey() });
  const found = await findEverybody(played, client);
  const pairs: Pair[] = truth.people.map((person) => {
    const one = found.get(person.clientId);
    if (!one) throw new Error(`The server does not know ${person.clientId}, whose registration it acknowledged.`);
    return { person, found: one };
  });
  onStep("events");
  const events = await scoreEvents(played);
  onStep("reports");
  const reports = await scoreReports(played, client, pairs);
  const { seed, days, timeZone } = market.options;
  const postbacks = scorePostbacks({ byPlatform: played.counterparts.byPlatform, timeZone }, pairs);
  const { calls, touches, lostAnswers } = truth.counts;
  return {
    market: { seed, days, people: pairs.length, calls, touches, lostAnswers },
    attribution: scoreAttribution(pairs),
    reports,
    events,
    fraud: scoreFraud(played, pairs),
    postbacks,
  };
}

/** The targets of a score. */
export const TARGETS: readonly {
  what: string;
  target: string;
  of: (score: Score) => number;
  holds: (value: number) => boolean;
}[] = [
  {
    what: "precision of the deterministic methods",
    target: "≥ 0.99",
    of: ({ attribution }) => attribution.deterministic.precision,
    holds: (value) => value >= 0.99,
  },
  {
    what: "recall of the deterministic methods",
    target: "≥ 0.97",
    of: ({ attribution }) => attribution.deterministic.recall,
    holds: (value) => value >= 0.97,
  },
  zero("error of counting: users and revenue", ({ reports }) => reports.counting.users),
  zero("error of counting: refunds", ({ reports }) => reports.counting.refunds),
  zero("error of counting: ads inside the app", ({ reports }) => reports.counting.ads),
  zero("error of counting: cost", ({ reports }) => reports.counting.cost),
  zero("error of counting: ROI", ({ reports }) => reports.counting.roi),
  zero("error of counting: LTV", ({ reports }) => reports.counting.ltv),
  zero("error of counting: retention", ({ reports }) => reports.counting.retention),
  zero("events lost", ({ events }) => events.lost),
  zero("events doubled", ({ events }) => events.doubled),
  zero("events that nobody acknowledged", ({ events }) => events.unasked),
  zero("wrong answers to clients", ({ events }) => events.complaints),
  zero("postbacks missing", ({ postbacks }) => postbacks.missing),
  zero("postbacks doubled", ({ postbacks }) => postbacks.doubled),
  zero("postbacks with a wrong amount", ({ postbacks }) => postbacks.wrongAmount),
  zero("postbacks without a cause", ({ postbacks }) => postbacks.unjustified),
];

function zero(what: string, of: (score: Score) => number) {
  return { what, target: "0", of, holds: (value: number) => value === 0 };
}
