import { METRICS } from "./catalogue.ts";
import { DIMENSIONS } from "./dimension.ts";

/** docs/METRICS.md, whole: made from the catalogue that the report computes by. */
export function metricsMarkdown(): string {
  const dimensions = DIMENSIONS.map(({ name, label, cname }) => `| \`${name}\` | ${label} | ${cname} |`);
  const metrics = METRICS.map(
    ({ name, label, cname, unit, tip }) => `| \`${name}\` | ${label} | ${cname} | ${unit} | ${tip} |`,
  );
  return `${[
    "# Metrics of the ad report",
    "<!-- Made by `npm run -s cli -- docs metrics`; a test compares it with the catalogue. -->",
    INTRODUCTION,
    ["| Metric | Label | 名称 | Unit | Definition |", "|---|---|---|---|---|", ...metrics].join("\n"),
    "## Dimensions",
    ["| Dimension | Label | 名称 |", "|---|---|---|", ...dimensions].join("\n"),
  ].join("\n\n")}\n`;
}

const INTRODUCTION = `Money is in major units, a rate is a fraction, a zero denominator gives 0. Numbers are rounded last, half away from
zero. A day is a day of the app's time zone.

In the first caliber, \`user_activated_time\`, a user stands on the day of the touch that won (an organic user on that of the
registration), with everything that the user ever does; windows begin at the touch. In the second,
\`behavior_occurred_time\`, a user stands on the day of the registration, everything else on the day on which it happens;
windows begin at the registration. Costs are on their own day in both. Users are counted once in a row, and once in the
total. What lies before the begin of the windows is in none of them; a window that is still open shows what has happened
so far.`;
