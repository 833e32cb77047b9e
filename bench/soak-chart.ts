import type { Sample } from "./soak-sample.ts";

const WIDTH = 900;
const PANEL = 130;
const LEFT = 70;
const TOP = 60;

const PANELS: readonly { title: string; lines: readonly { of: (sample: Sample) => number; colour: string }[] }[] = [
  { title: "memory of the server, MB", lines: [{ of: (sample) => sample.serverMb, colour: "#1f6feb" }] },
  {
    title: "memory of the database's processes, MB",
    lines: [{ of: (sample) => sample.databaseMb, colour: "#8250df" }],
  },
  {
    title: "latency, ms: p50 and p99",
    lines: [
      { of: (sample) => sample.p50Ms, colour: "#1a7f37" },
      { of: (sample) => sample.p99Ms, colour: "#bf8700" },
    ],
  },
  { title: "apply lag, ms", lines: [{ of: (sample) => sample.lagMs, colour: "#cf222e" }] },
  { title: "file handles", lines: [{ of: (sample) => sample.handles, colour: "#57606a" }] },
  { title: "database on the disk, MB", lines: [{ of: (sample) => sample.databaseSizeMb, colour: "#0969da" }] },
];

/** The figures of a soak over time, as small panels one above another. */
export function chartOf(
  samples: readonly Sample[],
  soak: { minutes: number; perSecond: number; made: string },
): string {
  const height = TOP + PANELS.length * PANEL;
  const panels = PANELS.map((panel, index) => panelOf(samples, panel, TOP + index * PANEL, soak.minutes));
  const title = `${Math.round(soak.perSecond).toLocaleString("en")} events/s for ${soak.minutes} minutes`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="${LEFT}" y="24" font-size="18">${title}</text>
<text x="${LEFT}" y="41" font-size="11" fill="#57606a">${soak.made}</text>
${panels.join("\n")}
</svg>
`;
}

function panelOf(samples: readonly Sample[], panel: (typeof PANELS)[number], top: number, minutes: number): string {
  const bottom = top + PANEL - 40;
  const most = Math.max(1, ...panel.lines.flatMap(({ of }) => samples.map(of)));
  const x = (minute: number) => LEFT + (Math.min(minute, minutes) / minutes) * (WIDTH - LEFT - 20);
  const y = (value: number) => bottom - (value / most) * (bottom - top);
  const lines = panel.lines.map(({ of, colour }) => {
    const points = samples.map((sample) => `${x(sample.minute).toFixed(1)},${y(of(sample)).toFixed(1)}`);
    return `<polyline fill="none" stroke="${colour}" stroke-width="1.5" points="${points.join(" ")}"/>`;
  });
  return `<text x="${LEFT}" y="${top - 6}">${panel.title}</text>
<text x="${LEFT - 6}" y="${top + 10}" text-anchor="end">${most < 10 ? most.toFixed(1) : Math.round(most)}</text>
<text x="${LEFT - 6}" y="${bottom}" text-anchor="end">0</text>
<path d="M${LEFT} ${top}V${bottom}H${WIDTH - 20}" fill="none" stroke="#d0d7de"/>
${lines.join("\n")}
<text x="${WIDTH - 20}" y="${bottom + 14}" text-anchor="end">${minutes} min</text>`;
}
