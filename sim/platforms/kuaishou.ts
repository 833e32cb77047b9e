import type { AuthoriseOptions } from "./authorise-page.ts";
import {
  answer,
  memberOf,
  millisParameter,
  optionalWholeParameter,
  parameter,
  Refusal,
  wholeParameter,
} from "./call.ts";
import { CostBook, type CostOptions } from "./costs.ts";
import { kuaishouCostRoutes } from "./kuaishou-costs.ts";
import { type Dialect, type Route, type StandIn, type StandInOptions, startStandIn } from "./stand-in.ts";
import { randomText, Tokens } from "./tokens.ts";

export type KuaishouOptions = StandInOptions & CostOptions & AuthoriseOptions & { appId?: string; secret?: string };

export type KuaishouStandIn = StandIn & {
  tokens: Tokens;
  appId: string;
  secret: string;
  /** The decoded value of `__CALLBACK__`. */
  callbackUrl(token: string): string;
};

const HOST_NAME = "stand-in";
const DIALECT: Dialect = {
  refusal: ({ message }) => answer({ result: 0, error_msg: message, "host-name": HOST_NAME }),
  busy: answer({ result: 2, error_msg: "busy", "host-name": HOST_NAME }),
  badToken: answer({ result: 0, error_msg: "callbackinfo decoded failure", "host-name": HOST_NAME }),
};

const range = (from: number, until: number) => Array.from({ length: until - from }, (_, index) => from + index);
/** Certain, but for 75 and 79, of which sources give one or the other. */
const EVENT_TYPES: ReadonlySet<number> = new Set([
  ...[...range(1, 4), ...range(5, 16), ...range(39, 45), 48, 51, 64, 69, 75, 79, 84, 85],
  ...[...range(102, 110), ...range(116, 122), ...range(139, 142), ...range(143, 146), ...range(150, 158)],
]);
/** Certain. */
const WITH_AMOUNT: ReadonlySet<number> = new Set([3, 12, 13, 14, 15]);
const PAY_LEVELS: ReadonlySet<string> = new Set(["S", "M", "L"]);

export async function startKuaishou(options: KuaishouOptions = {}): Promise<KuaishouStandIn> {
  const { clock, appId = "1650001", secret = randomText() } = options;
  const tokens = new Tokens({ clock, accessSeconds: 86_400, refreshToken: "replaced" });
  const routes = [ACTIVATE, ...kuaishouCostRoutes(new CostBook(options), { ...options, tokens, appId, secret })];
  const standIn = await startStandIn("kuaishou", { ...options, routes });
  const callbackUrl = (token: string) => `${standIn.url}/track/activate?callback=${encodeURIComponent(token)}`;
  return Object.assign(standIn, { tokens, appId, secret, callbackUrl });
}

/**
 * The platform only records: the same callback and event sent twice is counted twice (certain). The time is in
 * milliseconds and mandatory with the event (certain); a key action's kind and threshold are only recommended (certain).
 */
const ACTIVATE: Route = {
  methods: ["GET"],
  path: "/track/activate",
  dialect: DIALECT,
  take(call, desk) {
    const { query } = call;
    const callback = parameter(query, "callback");
    if (!desk.isKey(callback)) throw new Refusal("callbackinfo decoded failure");
    const eventType = wholeParameter(query, "event_type");
    if (!EVENT_TYPES.has(eventType)) throw new Refusal(`event_type ${eventType} is unknown`);
    const atMs = millisParameter(query, "event_time");
    const cents = readAmount(query, eventType);
    optionalWholeParameter(query, "key_action_category");
    optionalWholeParameter(query, "key_action_threshold");
    const payLevel = query.get("pay_level");
    if (payLevel !== null) memberOf(PAY_LEVELS, { name: "pay_level", value: payLevel });
    const code = String(eventType);
    desk.accept(call, { key: callback, code, dedupeId: "", orderId: "", cents, atMs, sameBy: "" });
    return answer({ result: 1, "host-name": HOST_NAME });
  },
};

/** Yuan with at most two decimals (certain). */
function readAmount(query: URLSearchParams, eventType: number): number | null {
  const amount = query.get("purchase_amount");
  if (amount === null) {
    if (WITH_AMOUNT.has(eventType)) throw new Refusal("purchase_amount is missing");
    return null;
  }
  if (!/^\d{1,12}(?:\.\d{1,2})?$/.test(amount)) throw new Refusal("purchase_amount is not yuan with two decimals");
  return Math.round(Number(amount) * 100);
}
