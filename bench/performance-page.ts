import { type Made, madeText } from "../sim/made.ts";
import { tableOf } from "../sim/table.ts";
import { exponentOf, type Measured, ratioOf, short } from "./figures.ts";

/** All of docs/PERFORMANCE.md; `options` are those of the command that made it. */
export function performancePage(measured: Measured, { made, options }: { made: Made; options: string }): string {
  return `# Performance

How fast the server is, and how it slows with size. What a machine can do depends on the machine: each figure stands
beside the least that the same machine needs for the same work in the same run, and the ratio is what is meant. Anyone
can run it again:

\`\`\`sh
npm run bench -- ${options}
\`\`\`

${madeText(made)}

## Figures

${figuresTable(measured)}

## Growth

What one unit of work takes with so many times the data. The exponent says how it grows: 0 does not grow at all, 1 grows as
the data does, and below 0 it becomes cheaper.

${growthTable(measured)}

How memory, lag and latency behave over time: [SOAK.md](SOAK.md).
`;
}

function figuresTable({ figures }: Measured): string {
  return tableOf(
    ["what", "ours", "bare", "unit", "ratio", "target", "bare is"],
    figures.map((figure) => [
      ...[figure.what, short(figure.ours), short(figure.bare), figure.unit],
      ...[ratioOf(figure) ?? "", figure.target, figure.beside],
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
