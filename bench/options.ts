import { readWords } from "../sim/arguments.ts";
import { UsageError } from "../src/errors.ts";
import { GENERATORS, type Generator, installedGenerator } from "./generator.ts";

export const STEPS = [
  "intake",
  "log",
  "apply",
  "latency",
  "links",
  "decisions",
  "postbacks",
  "reports",
  "lake",
] as const;
export type Step = (typeof STEPS)[number];

/** The amount of everything. Amounts that grow are those at the smallest scale, unless noted otherwise. */
export type Sizes = {
  /** Seconds of load on either side of a comparison. */
  seconds: number;
  warmUpSeconds: number;
  /** The number of registered clients that send. */
  clients: number;
  backlogEvents: number;
  /** Stored touches at the largest scale, and the registrations decided against them. */
  touches: number;
  registrations: number;
  postbacks: number;
  /** Users at the largest scale. */
  users: number;
  eventsPerUser: number;
  /** Events in the lake at the largest scale. */
  lakeEvents: number;
};

export type BenchOptions = {
  steps: ReadonlySet<Step>;
  scales: readonly number[];
  jsonFile: string;
  markdownFile: string;
  sizes: Sizes;
  generator: Generator;
  /** The command-line options that decide what is measured. */
  shown: string;
};

const MILLION = 1_000_000;
/** Takes about half an hour for all steps on two cores, and 10 GB of disk. */
const FULL: Sizes = {
  seconds: 14,
  warmUpSeconds: 4,
  clients: 10_000,
  backlogEvents: 200_000,
  touches: 4 * MILLION,
  registrations: 100_000,
  postbacks: 30_000,
  users: MILLION,
  eventsPerUser: 20,
  lakeEvents: 20 * MILLION,
};
/** Only shows that everything works; the figures mean nothing. */
const TRIAL: Sizes = {
  seconds: 0.7,
  warmUpSeconds: 0.1,
  clients: 200,
  backlogEvents: 2_000,
  touches: 4_000,
  registrations: 500,
  postbacks: 200,
  users: 3_000,
  eventsPerUser: 1,
  lakeEvents: 20_000,
};

const HELP = `npm run bench -- [options] [STEP …]

Measures every figure beside the bare minimum on the same machine in the same run, and how each cost grows with the data.
Absolute figures depend on the machine; ratios and exponents are what counts. Steps (all if none is named):
${STEPS.join(", ")}.

  --json FILE     write the figures
  --markdown FILE write docs/PERFORMANCE.md
  --scales LIST   multiples of the data (1,2,4)
  --seconds N     seconds of load on either side of a comparison (${FULL.seconds})
  --touches N     million stored touches at the largest scale (${FULL.touches / MILLION})
  --users N       million users at the largest scale (${FULL.users / MILLION})
  --events N      events of each user (${FULL.eventsPerUser})
  --load PROGRAM  what makes the load: wrk, or node where wrk is not installed (Debian: apt install wrk)
  --trial         tiny sizes, to see that everything works; the figures mean nothing
`;

const OPTIONS = {
  json: { type: "string", default: "" },
  markdown: { type: "string", default: "" },
  scales: { type: "string", default: "1,2,4" },
  seconds: { type: "string" },
  touches: { type: "string" },
  users: { type: "string" },
  events: { type: "string" },
  load: { type: "string" },
  trial: { type: "boolean", default: false },
} as const;

/** The options that the figures depend on. */
const DECIDING = ["scales", "seconds", "touches", "users", "events"] as const;

export function readOptions(args: readonly string[]): BenchOptions {
  const { values, words } = readWords(OPTIONS, HELP, args);
  const sizes = values.trial ? TRIAL : FULL;
  const given = (name: (typeof DECIDING)[number], fallback: number, unit = 1) =>
    values[name] === undefined ? fallback : positive(`--${name}`, values[name]) * unit;
  const named = DECIDING.filter((name) => values[name] !== undefined).map((name) => `--${name} ${values[name]}`);
  return {
    shown: [...named, ...(values.trial ? ["--trial"] : []), ...words].join(" "),
    jsonFile: String(values.json),
    markdownFile: String(values.markdown),
    steps: new Set(words.length > 0 ? words.map(stepOf) : STEPS),
    scales: readScales(String(values.scales)),
    generator: generatorOf(values.load, values.trial === true),
    sizes: {
      ...sizes,
      seconds: given("seconds", sizes.seconds),
      touches: given("touches", sizes.touches, MILLION),
      users: given("users", sizes.users, MILLION),
      eventsPerUser: given("events", sizes.eventsPerUser),
    },
  };
}

/** wrk measures whole seconds, which is too long for a trial. */
function generatorOf(name: unknown, isTrial: boolean): Generator {
  if (name === undefined) return isTrial ? "node" : installedGenerator();
  const generator = GENERATORS.find((one) => one === name);
  if (!generator) throw new UsageError(`--load must be ${GENERATORS.join(" or ")}.`);
  return generator;
}

function stepOf(name: string): Step {
  const step = STEPS.find((one) => one === name);
  if (!step) throw new UsageError(`There is no step ${name}: ${STEPS.join(", ")}.`);
  return step;
}

/** Scales in ascending order: the data of one scale is part of the data of the next. */
function readScales(text: string): number[] {
  const scales = text.split(",").map((part) => positive("--scales", part));
  const isGrowing = scales.every((scale, index) => Number.isInteger(scale) && scale > (scales[index - 1] ?? 0));
  if (!isGrowing) throw new UsageError("--scales must be whole numbers, each greater than the one before.");
  return scales;
}

function positive(name: string, text: unknown): number {
  const value = Number(text);
  if (!(value > 0 && Number.isFinite(value))) throw new UsageError(`${name} must be a number above 0.`);
  return value;
}
