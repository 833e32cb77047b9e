import type { SeenCall } from "../../../src/domain/doctor/seen-call.ts";

export const NOW = Date.UTC(2026, 10, 15, 4, 0, 0);

/** An accepted collect call, unless `more` says otherwise. */
export function seen(more: Partial<SeenCall> = {}): SeenCall {
  return {
    at_ms: NOW,
    endpoint: "event/collect",
    client_id: "u-1",
    debug: false,
    ip: "203.0.113.7",
    ua: "Mozilla/5.0",
    code: 0,
    msg: "",
    errors: [],
    body: { client_id: "u-1", event_list: [] },
    ...more,
  };
}

export function collected(events: object[], more: Partial<SeenCall> = {}, beside: object = {}): SeenCall {
  return seen({ body: { client_id: more.client_id ?? "u-1", event_list: events, ...beside }, ...more });
}

export function registered(client_id: string, body: object = {}, more: Partial<SeenCall> = {}): SeenCall {
  return seen({ endpoint: "user/register", client_id, body: { client_id, name: "n", ...body }, ...more });
}

export function touched(body: Record<string, string>, more: Partial<SeenCall> = {}): SeenCall {
  return seen({ endpoint: "event/click", client_id: "", body: { company: "tencent", ...body }, ...more });
}

export function event(name: string, properties: object = {}, time: unknown = NOW): object {
  return { type: "track", event: name, time, properties };
}

export function rejected(reason: string, name = "e"): SeenCall["errors"] {
  return [{ index: 0, event: name, reason, message: "A sentence." }];
}

/** Clients with a call each. */
export function many<T>(count: number, call: (client: string, index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => call(`u-${index + 1}`, index));
}
