import { type Made, madeText } from "../sim/made.ts";
import { tableOf } from "../sim/table.ts";
import { exponentOf, type Measured, ratioOf, short, spreadText } from "./figures.ts";
import type { Generator } from "./generator.ts";

const LOADS: Readonly<Record<Generator, string>> = {
  wrk: "wrk",
  node: "a program in Node, which shares the cores with the servers",
};

/** How a page was made: `options` are those of the command. */
type Making = { made: Made; options: string; generator: Generator };

/** The text of docs/PERFORMANCE.md. */
export function performancePage(measured: Measured, { made, options, generator }: Making): string {
  return `# Performance

How fast the server is, and how it slows with size. Absolute figures depend on the machine, so each one stands beside the
bare minimum that the same machine needs for the same work in the same run; the ratio is what counts. Anyone can run it
again:

\`\`\`sh
npm run bench -- ${options}
\`\`\`

${madeText(made)} The load was made by ${LOADS[generator]}.

## Figures

${figuresTable(measured)}

## Growth

The cost of one unit of work with one, two or more times the data. The exponent says how it grows: 0 is flat, 1 is linear, and
below 0 it becomes cheaper.

${growthTable(measured)}

How memory, lag and latency behave over time: [SOAK.md](SOAK.md).
`;
}

function figuresTable({ figures }: Measured): string {
  return tableOf(
    ["what", "ours", "bare", "unit", "ratio", "spread", "target", "bare is"],
    figures.map((figure) => [
      ...[figure.what, short(figure.ours), short(figure.bare), figure.unit],
      ...[ratioOf(figure) ?? "", spreadText(figure), figure.target, figure.beside],
    ]),
  );
}

function growthTable({ costs }: Measured): string {
  const scales = [...new Set(costs.flatMap(({ points }) => points.map(({ scale }) => scale)))];
  return tableOf(
    ["what", ...scales.map((scale) => `${scale}x`), "unit", "exponent"],
    costs.map(({ what, unit, points }) => {
      const at = (scale: number) => points.find((point) => point.scale === scale)?.perUnit;
      const shown = scales.map(at).map((cost) => (cost === undefined ? "" : short(cost)));
      return [what, ...shown, unit, exponentOf(points) ?? ""];
    }),
  );
}
