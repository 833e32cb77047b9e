import { expect } from "vitest";
import { type KuaishouStandIn, startKuaishou } from "../../sim/platforms/kuaishou.ts";
import type { App } from "../../src/db/app.ts";
import type { Touchpoint } from "./touchpoint.ts";

/** A player brought by Kuaishou. */
export async function bring(server: Touchpoint, app: App, clientId: string): Promise<void> {
  const ad_data = { callback: `token-${clientId}`, ksUnitId: "1" };
  expect(await server.register(app, clientId, { ad_data })).toMatchObject({ code: 0 });
}

export async function pay(
  server: Touchpoint,
  app: App,
  clientId: string,
  { order, cents, ...properties }: { order: string; cents: number } & Record<string, unknown>,
): Promise<void> {
  const paid = { $pay_amount: cents, $order_id: order, $pay_type: "CNY", ...properties };
  const event = { type: "track", event: "$PayEvent", time: Date.now(), properties: paid };
  expect(await server.collect(app, clientId, [event])).toMatchObject({ code: 0 });
}

/** The address that makes an account call the stand-in. */
export function urlOf(kuaishou: KuaishouStandIn): string {
  return `${kuaishou.url}/track/activate`;
}

export { type KuaishouStandIn, startKuaishou };
