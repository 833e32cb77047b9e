import { expect, test } from "vitest";
import { decide, type FoundTouch, type Subject } from "../../../src/domain/attribution/attribution.ts";
import { RuleBook } from "../../../src/domain/attribution/attribution-rules.ts";
import type { TouchMethod } from "../../../src/domain/attribution/method.ts";
import { NO_AD_IDS } from "../../../src/domain/attribution/touch.ts";

const REGISTERED_AT_MS = Date.UTC(2024, 5, 15, 12);

/** A registration that names a campaign of Bilibili, and nothing else. */
const SUBJECT: Subject = {
  atMs: REGISTERED_AT_MS,
  launch: undefined,
  reported: undefined,
  campaign: { id: "c1", platform: "bilibili" },
};

/** A click some seconds before the registration; its id is that number of seconds. */
function click(method: TouchMethod, secondsAgo: number, platform: string, campaignId = ""): FoundTouch {
  const touchedAtMs = REGISTERED_AT_MS - secondsAgo * 1000;
  return {
    touch: {
      ...NO_AD_IDS,
      touchId: String(secondsAgo),
      kind: "click",
      platform,
      campaignId,
      touchedAtMs,
      receivedAtMs: touchedAtMs,
      channel: "",
      ip: "",
      details: {},
    },
    matches: [{ method, by: [method] }],
    flags: [],
  };
}

const decided = (touches: readonly FoundTouch[], change: Partial<Subject> = {}) =>
  decide({ ...SUBJECT, ...change }, touches, new RuleBook([]));

test("a campaign named by the registration attributes the user to its platform", () => {
  const platform = { kind: "attributed", method: "launch_query", platform: "bilibili", touch: undefined };
  expect(decided([]).verdict).toEqual(platform);
});

test("a touch found by address and agent wins over a named campaign, unless it contradicts it", () => {
  const [other, ofOtherCampaign] = [click("ip_ua", 1, "tencent"), click("ip_ua", 2, "bilibili", "c2")];
  const agreeing = [click("ip_ua", 3, "bilibili", "c1"), click("ip_ua", 4, "bilibili")];
  const { verdict, candidates } = decided([other, ofOtherCampaign, ...agreeing]);
  expect(verdict).toMatchObject({ method: "ip_ua", touch: { touchId: "3" } });
  expect(candidates.map(({ outcome }) => outcome)).toEqual([
    ...["earlier_method_won", "earlier_method_won", "won", "later_touch_won"],
  ]);
  const contradicted = decided([other, ofOtherCampaign]);
  expect(contradicted.verdict).toMatchObject({ method: "launch_query", platform: "bilibili" });
  expect(contradicted.candidates.map(({ outcome }) => outcome)).toEqual(["earlier_method_won", "earlier_method_won"]);
});

test("a named campaign loses to every surer method, to the launch query and to a reported source", () => {
  for (const method of ["click_key", "device_id", "open_id"] as const)
    expect(decided([click(method, 1, "tencent")]).verdict).toMatchObject({ method, platform: "tencent" });
  expect(decided([], { launch: "baidu" }).verdict).toMatchObject({ method: "launch_query", platform: "baidu" });
  expect(decided([], { reported: "" }).verdict).toEqual({ kind: "organic", method: "reported" });
});
