import { type Made, madeText } from "../made.ts";
import { type Tally, tallyTables } from "./tally.ts";

/** The options as given, and the duration. */
export type ChaosRun = { given: Readonly<Record<string, unknown>>; minutes: number; made: Made };

/** The text of docs/RELIABILITY.md. */
export function reliabilityPage(tally: Tally, { given, minutes, made }: ChaosRun): string {
  const named = ["rounds", "seed", "rate", "replay"].map((name) => `--${name} ${given[name]}`);
  const some = typeof given.faults === "string" ? [`--faults ${given.faults}`] : [];
  const command = [...named, ...some, ...(given.short === true ? ["--short"] : [])].join(" ");
  const { killRounds, events } = tally;
  return `# Reliability

What happens to acknowledged data when everything around the server breaks. People of a simulated market register, click,
play and pay without a pause, while one thing after another is killed, frozen, filled, cut or slowed down. After each round
the server drains its queues, and all ten promises of [ARCHITECTURE.md](ARCHITECTURE.md) are checked against the answers that
the market received. Anyone can run it again:

\`\`\`sh
npm run chaos -- ${command}
\`\`\`

${madeText(made)} It took ${minutes} minutes.

**${events.lost} of ${events.acknowledged} acknowledged events were lost and ${events.doubled} doubled, in ${tally.rounds} rounds, ${killRounds} of them kills.**

${tallyTables(tally)}

## How to read it

- **Acknowledged** is what was answered with code 0. A client that gets no answer sends the same bytes again, as SDKs do.
- **Destroyed on purpose** are acknowledged events in journal records that a fault damaged or cut off before they were
  applied. The run notes these records beforehand: only they may be missing, and each must be set aside or reported as a torn
  end.
- **Lost** and **doubled** are counted in the tables after each round, over everything acknowledged so far.
- **Postbacks** go to stand-ins for six platforms. If the sender dies during a call to a platform that does not recognise
  repeats, the postback fails with a reason that says so: ${tally.postbacksGivenUp} did.
- **The same journal, the same tables** is checked every ${given.replay} rounds and after the last one: the whole journal is applied to an
  empty database with the same settings, and every row compared.
- Faults of a database or a platform last as long as they would in real life: a database is away for a minute.
`;
}
