import { answer, type Fields, isFields, memberOf, millisParameter, parameter, Refusal, textAt } from "./call.ts";
import { type Route, type StandIn, type StandInOptions, startStandIn } from "./stand-in.ts";

/** Likely: the ranges of Honor's list, version 3.6, from a public copy; 10025 is in a caller's list only. */
const RANGES: readonly (readonly [from: number, to: number])[] = [
  ...([
    [10_001, 10_025],
    [20_001, 20_006],
    [30_001, 30_001],
    [40_001, 40_006],
    [50_001, 50_011],
  ] as const),
  ...([
    [60_001, 60_006],
    [70_001, 70_008],
    [80_001, 80_003],
    [90_001, 90_005],
    [100_001, 100_003],
  ] as const),
];
const CONVERSIONS: ReadonlySet<string> = new Set([
  ...RANGES.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, at) => String(from + at))),
  ...["900101", "900201", "900301", "900401", "900501"],
]);
const KEY_ACTION = "900401";

export function startHonor(options: StandInOptions = {}): Promise<StandIn> {
  return startStandIn("honor", { ...options, routes: [CONVERSION] });
}

/** Everything in the query, unsigned, the time in milliseconds (likely). It takes no id and no money from the caller. */
const CONVERSION: Route = {
  methods: ["GET"],
  path: "/api/ad-tracking/v1/conversion",
  dialect: {
    refusal: ({ message }) => answer({ code: 400, message }),
    busy: answer({ code: 500, message: "system busy" }),
    badToken: answer({ code: 401, message: "trackId is invalid" }),
  },
  take(call, desk) {
    const { query } = call;
    const key = parameter(query, "trackId");
    if (!desk.isKey(key)) throw new Refusal("trackId is invalid");
    const code = memberOf(CONVERSIONS, { name: "conversionId", value: parameter(query, "conversionId") });
    const atMs = millisParameter(query, "conversionTime");
    parameter(query, "advertiserId");
    if (code === KEY_ACTION) assertExtra(query.get("extra") ?? "");
    desk.accept(call, { key, code, dedupeId: "", orderId: "", cents: null, atMs, sameBy: "" });
    return answer({ code: 0, message: "success" });
  },
};

/** A key action names the app (likely). */
function assertExtra(text: string): void {
  let extra: Fields | undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (isFields(value)) extra = value;
  } catch {
    throw new Refusal("extra is missing or not JSON");
  }
  if (extra === undefined) throw new Refusal("extra is not an object");
  textAt(extra, "pkgName");
  textAt(extra, "appName");
}
