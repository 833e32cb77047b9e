import { readFileSync, writeFileSync } from "node:fs";
import { UsageError } from "../../src/errors.ts";
import { type Made, madeText } from "../made.ts";
import { tableOf } from "../table.ts";
import type { Attack } from "./attack.ts";
import type { Phase, Siege } from "./siege.ts";
import { answersOf, holdsOf, isHeld, ms, pointOf, seconds } from "./verdict.ts";

export type AttackRun = { siege: Siege; attacks: readonly Attack[]; made: Made; command: string };

const BEGIN = "<!-- figures: written by npm run attack -->";
const END = "<!-- end of the figures -->";

/** Writes the figures of a run between their marks; people write the rest of the page. */
export function writeFigures(file: string, run: AttackRun): void {
  const page = readFileSync(file, "utf8");
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new UsageError(`${file} has no place for the figures: ${BEGIN} … ${END}`);
  writeFileSync(file, `${page.slice(0, begin)}${BEGIN}\n\n${figuresText(run)}\n\n${page.slice(end)}`);
}

export function figuresText({ siege, attacks, made, command }: AttackRun): string {
  const holds = holdsOf(siege);
  const broken = holds.filter(({ isKept }) => !isKept).length;
  const { audit } = siege;
  return `\`\`\`sh
${command}
\`\`\`

${madeText(made)}

**${audit.calls} calls of ordinary clients while ${attacks.length} attacks ran; ${audit.acknowledged} were acknowledged, ${audit.lost.length === 0 ? "none" : "some"} lost. ${broken === 0 ? "Everything held." : `${broken} of ${holds.length} did not hold.`}**

${tableOf(
  ["to hold", "limit", "was", ""],
  holds.map(({ what, limit, is, isKept }) => [what, limit, cell(is), isKept ? "held" : "**did not hold**"]),
)}

${tableOf(
  ["attack", "point", "calls", "answers (status, code)", "ordinary p99", "memory", "event loop", "lag back after", ""],
  siege.phases.map((phase) => rowOf(phase, siege, attacks)),
)}`;
}

function rowOf(phase: Phase, siege: Siege, attacks: readonly Attack[]): (string | number)[] {
  const calls = phase.reports.reduce((sum, report) => sum + report.calls, 0);
  const isQuiet = phase.attacks.length === 0;
  return [
    ...[phase.name, pointOf(phase.name, attacks), isQuiet ? "" : calls, isQuiet ? "" : answersOf(phase)],
    ...[ms(phase.worstP99Ms), `${Math.round(phase.residentMb)} MB`, ms(phase.heldMs)],
    phase.backAfterMs === null ? "> 60 s" : seconds(phase.backAfterMs),
    isQuiet ? "" : isHeld(phase, siege) ? "held" : "**did not hold**",
  ];
}

/** Escapes pipes, which would end the cell. */
function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll(/\s+/g, " ").slice(0, 600);
}
