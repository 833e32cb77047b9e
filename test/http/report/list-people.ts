import { expect } from "vitest";
import type { App } from "../../../src/db/app.ts";
import type { Touchpoint } from "../../support/touchpoint.ts";
import { attributedRegistration } from "../endpoints.ts";
import { type Row, track } from "../fixture.ts";

/** Half an hour off the whole hours, and the same all year. */
export const ZONE = "Asia/Kolkata";

/** The instant of "2025-03-10T08:00:00.000" in that zone. */
export const at = (text: string): number => Date.parse(`${text}+05:30`);

type Person = {
  id: string;
  registeredAt: string;
  company: "tencent" | "kuaishou" | "bytedance" | "";
  ids: { account: string; plan: string; ad: string; creative: string };
  channel: string;
  version: number;
  campaign: string;
  openid: string;
};

const NO_AD = { account: "", plan: "", ad: "", creative: "" };

/** People who differ in everything that a list filters and sorts by, each time in another order. */
export const PEOPLE: readonly Person[] = [
  {
    id: "B",
    registeredAt: "2025-03-10T00:00:00.000",
    company: "tencent",
    campaign: "campaign-0000004",
    channel: "web",
    version: 10,
    openid: "o-3",
    ids: { account: "200", plan: "p1", ad: "9", creative: "c1" },
  },
  {
    id: "a",
    registeredAt: "2025-03-09T23:59:59.999",
    company: "kuaishou",
    campaign: "campaign-0000003",
    channel: "Store",
    version: 9,
    openid: "o-1",
    ids: { account: "1000", plan: "p2", ad: "10", creative: "c2" },
  },
  {
    id: "c10",
    registeredAt: "2025-03-11T00:00:00.000",
    company: "bytedance",
    campaign: "campaign-0000005",
    channel: "store",
    version: 100,
    openid: "o-5",
    ids: { account: "30", plan: "p3", ad: "8", creative: "c3" },
  },
  {
    id: "c9",
    registeredAt: "2025-03-10T23:59:59.999",
    company: "tencent",
    campaign: "campaign-0000001",
    channel: "渠道",
    version: 2,
    openid: "o-2",
    ids: { account: "4", plan: "p1", ad: "70", creative: "c1" },
  },
  {
    id: "é",
    registeredAt: "2025-03-12T12:00:00.000",
    company: "",
    campaign: "",
    ids: NO_AD,
    channel: "shop",
    version: 11,
    openid: "o-4",
  },
];

export async function addPeople(server: Touchpoint, app: App): Promise<void> {
  for (const person of PEOPLE) {
    await register(server, app, person.id, {
      active_time: at(person.registeredAt),
      click_time: at(person.registeredAt) - 1_000,
      click_company: person.company,
      ad_data: adOf(person),
      turbo_promoted_object_id: person.campaign,
      channel: person.channel,
      version: person.version,
    });
    const query = { client_id: person.id };
    expect(await server.post("user/update_data/", app, { wx_openid: person.openid }, { query })).toMatchObject({
      code: 0,
    });
  }
  await server.settle();
}

function adOf({ company, ids: { account, plan, ad, creative } }: Person): Row {
  switch (company) {
    case "tencent":
      return { tencent: { account_id: account, campaign_id: plan, adgroup_id: ad, ad_id: creative } };
    case "kuaishou":
      return { kuaishou: { account_id: account, did: plan, aid: ad, cid: creative } };
    case "bytedance":
      return { bytedance: { advertiser_id: account, project_id: plan, promotion_id: ad, cid: creative } };
    case "":
      return {};
  }
}

/** Registers a user with a given time and source. */
export async function register(server: Touchpoint, app: App, clientId: string, more: Row = {}): Promise<void> {
  const body = { ...attributedRegistration(clientId), ...more };
  expect(await server.post("user/register/attributed/", app, body)).toMatchObject({ code: 0 });
}

/** A payment at any time. */
export function payment(traceId: string, cents: number, more: Row = {}, atMs: number = Date.now()): Row {
  return {
    ...track("$PayEvent", { $pay_amount: cents, $pay_type: "CNY", $order_id: traceId, ...more }, atMs),
    time_free: true,
  };
}

/** Collects events, none of which may be refused. */
export async function collect(server: Touchpoint, app: App, clientId: string, ...events: Row[]): Promise<void> {
  expect(await server.collect(app, clientId, events)).toMatchObject({ code: 0, extra: {} });
}
