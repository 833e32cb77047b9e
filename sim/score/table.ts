import { tableOf } from "../table.ts";
import type { Hits } from "./attribution-score.ts";
import { type Score, TARGETS } from "./score.ts";

const ratio = (value: number) => value.toFixed(4);
const percent = (value: number) => (value === 0 ? "0" : `${(value * 100).toFixed(3)} %`);

/** The whole score, as the terminal and docs/SCORECARD.md show it. */
export function scoreTables(score: Score): string {
  const { attribution, reports, events, fraud, postbacks } = score;
  const hits = (kind: string, all: Record<string, Hits>) =>
    tableOf(
      [kind, "named so", "could be known", "right", "precision", "recall"],
      Object.entries(all).map(([name, one]) => [
        name,
        one.found,
        one.known,
        one.right,
        ratio(one.precision),
        ratio(one.recall),
      ]),
    );
  const families = ["users", "refunds", "ads", "cost", "roi", "ltv", "retention"] as const;
  const targets = TARGETS.map(({ what, target, of, holds }) => {
    const value = of(score);
    return [what, Number.isInteger(value) ? value : ratio(value), target, holds(value) ? "reached" : "MISSED"];
  });
  const caught = Object.entries(fraud.byKind).map(([kind, { met, caught: won }]) => [kind, met, won]);
  return [
    "## Targets",
    tableOf(["what", "figure", "target", ""], targets),
    "## Attribution",
    hits("method", { ...attribution.byMethod, "all but ip_ua, reported": attribution.deterministic }),
    hits("platform", attribution.byPlatform),
    `Brought by an ad, but without any evidence of it: ${attribution.unknowable}. Organic people attributed to an ad: ${attribution.organicGivenAway}. Won by a forged touch that cannot be recognised: ${attribution.givenToFraud}.`,
    "## Reports",
    tableOf(
      ["figure", "error of counting", "error against the truth"],
      families.map((family) => [family, percent(reports.counting[family]), percent(reports.truth[family])]),
    ),
    `${reports.rows} rows.`,
    "## Events",
    tableOf(
      ["acknowledged", "stored", "lost", "doubled", "never acknowledged", "wrong answers"],
      [[events.acknowledged, events.stored, events.lost, events.doubled, events.unasked, events.complaints]],
    ),
    "## Fraud",
    tableOf(
      ["kind", "people it was done to", "of them not won by it"],
      [...caught, ["shared device named", fraud.sharedDevices.met, fraud.sharedDevices.caught]],
    ),
    `Of ${fraud.genuine} people with a true touch, ${fraud.wronglyFlagged} lost it to a flag; ${fraud.wronglyShared} were wrongly flagged as sharing a device.`,
    "## Postbacks",
    postbackTable(postbacks),
  ].join("\n\n");
}

function postbackTable(postbacks: Score["postbacks"]): string {
  const { justified, matched, toldBefore, missing, doubled, wrongAmount, unjustified, refused } = postbacks;
  const head = ["justified", "accepted once, amount equal", "told by an earlier click", "missing", "doubled"];
  return tableOf(
    [...head, "wrong amount", "without a cause", "calls refused first"],
    [[justified, matched, toldBefore, missing, doubled, wrongAmount, unjustified, refused]],
  );
}
