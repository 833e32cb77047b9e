import { type Made, madeText } from "../sim/made.ts";
import { tableOf } from "../sim/table.ts";
import type { Drift } from "./soak-drift.ts";
import type { Sample } from "./soak-sample.ts";

/** The result of a soak, and the content of the JSON file. */
export type Soaked = {
  made: Made;
  minutes: number;
  perSecond: number;
  eventsPerRequest: number;
  failures: readonly string[];
  drifts: readonly Drift[];
  samples: readonly Sample[];
};

/** The text of docs/SOAK.md; `chart` is the chart's path from there. */
export function soakPage(soaked: Soaked, chart: string): string {
  const { made, minutes, perSecond, eventsPerRequest, failures, drifts, samples } = soaked;
  const requests = samples.reduce((sum, sample) => sum + sample.requests, 0);
  const verdict = failures.length === 0 ? "Nothing drifted, and nothing was refused." : failures.join(" ");
  return `# Soak

Half of the load that the server can take in and apply permanently on this machine, held for a long time. Anyone can run it
again:

\`\`\`sh
npm run soak -- --minutes ${minutes}
\`\`\`

${madeText(made)}

**${Math.round(perSecond)} requests a second with ${eventsPerRequest} events each, ${requests} requests in ${minutes} minutes. ${verdict}**

![Memory, lag, file handles, database size and latency over ${minutes} minutes](${chart})

The first quarter is warm-up, in which every cache fills. The medians of the first and the last third of the rest are then
compared. A change beyond the limit is a drift, and the command ends with 1.

${tableOf(
  ["what", "first", "last", "change", "limit", "drifts"],
  drifts.map(({ what, first, last, change, limit, isOver }) => [
    what,
    first,
    last,
    change,
    limit,
    isOver ? "yes" : "no",
  ]),
)}
`;
}
