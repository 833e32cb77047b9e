import {
  type CallContext,
  type HttpReply,
  type HttpRequest,
  settingsOf,
} from "../../src/platform/connector/connector.ts";
import type {
  CostConnector,
  CostQuestion,
  PulledCost,
  PulledName,
} from "../../src/platform/connector/cost-connector.ts";

export const NOW_MS = Date.UTC(2026, 10, 15, 4, 0, 0, 789);
export const NONCE = "00112233445566778899aabbccddeeff";

export function contextOf(connector: CostConnector, values: Record<string, string>): CallContext {
  return { account: settingsOf(connector.fields, values), nowMs: NOW_MS, nonce: NONCE };
}

export function ok(body: unknown): HttpReply {
  return { status: 200, body: typeof body === "string" ? body : JSON.stringify(body) };
}

export type Pull = {
  requests: HttpRequest[];
  questions: CostQuestion[];
  costs: PulledCost[];
  planTotals: PulledCost[];
  totals: PulledCost[];
  names: PulledName[];
};

/** Makes requests until none are left. */
export function pullAll(
  connector: CostConnector,
  context: CallContext,
  options: { fromDay: string; toDay: string; answer: (question: CostQuestion, request: HttpRequest) => HttpReply },
): Pull {
  const pull: Pull = { requests: [], questions: [], costs: [], planTotals: [], totals: [], names: [] };
  const open = connector.start(options, context);
  for (let question = open.shift(); question; question = open.shift()) {
    const request = connector.request(question, context);
    // Requests must survive the process that made them.
    const stored = JSON.parse(JSON.stringify(question)) as CostQuestion;
    const page = connector.read(stored, options.answer(question, request), context);
    if (page.kind !== "page") throw new Error(page.reason);
    pull.requests.push(request);
    pull.questions.push(question);
    pull.costs.push(...page.costs);
    pull.planTotals.push(...(page.planTotals ?? []));
    pull.totals.push(...(page.totals ?? []));
    pull.names.push(...page.names);
    open.push(...page.next);
    if (pull.requests.length > 1_000) throw new Error("There is always one more question.");
  }
  return pull;
}

/** The query of an address, with each value decoded. */
export function queryOf(url: string): Record<string, string> {
  return Object.fromEntries(new URL(url).searchParams);
}
