import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { POSTBACK_EVENT_TYPES } from "../../../src/domain/postback/postback.ts";
import {
  postbackRuleTexts,
  type RuleParts,
  readPostbackRule,
} from "../../../src/domain/postback/postback-rule-fields.ts";

const PAY = { moment: "pay", event_type: "pay" };
const read = (given: object, known?: RuleParts) => readPostbackRule({ ...(known ? {} : PAY), ...given }, known);
const PLAIN = {
  adPlatform: "",
  campaignId: "",
  moment: "pay",
  eventType: "pay",
  code: "",
  conditions: {},
  shareBp: 10_000,
  value: { kind: "as_is" },
  windowDays: 30,
  enabled: true,
};

test("a rule with only a moment and an event type matches all of them", () => {
  expect(read({})).toEqual(PLAIN);
});

test("every text is returned as it was read", () => {
  const texts = {
    ad_platform: "tencent",
    turbo_promoted_object_id: "autumn2026launch",
    moment: "first_pay",
    event_type: "first_pay",
    code: "CUSTOM:first.pay-1",
    amount: "600..5000",
    count: "1",
    days_since_touch: "..7",
    share: "12.55%",
    value: "factor:0.5,cap:10000",

    window: "7d",
    enabled: "off",
    properties: ['event$product equal "gold"', "user$level between 1,5", "user$vip is_set"],
  };
  const rule = readPostbackRule(texts);
  expect(postbackRuleTexts(rule)).toEqual(texts);
  expect(rule).toEqual({
    adPlatform: "tencent",
    campaignId: "autumn2026launch",
    moment: "first_pay",
    eventType: "first_pay",
    code: "CUSTOM:first.pay-1",
    conditions: {
      amountCents: { min: 600, max: 5000 },
      count: { min: 1, max: 1 },
      daysSinceTouch: { max: 7 },
      properties: [
        { field: "event$product", operator: "equal", values: ["gold"] },
        { field: "user$level", operator: "between", values: [1, 5] },
        { field: "user$vip", operator: "is_set", values: [] },
      ],
    },
    shareBp: 1255,
    value: { kind: "factor", factorBp: 5000, capCents: 10_000 },
    windowDays: 7,
    enabled: false,
  });
});

test("any share, factor, bound and property test comes back from its text", () => {
  const bound = fc.option(fc.nat(1_000_000), { nil: undefined });
  const value = fc.oneof(fc.string({ unit: "grapheme" }), fc.integer(), fc.boolean());
  fc.assert(
    fc.property(
      fc.nat(10_000),
      fc.integer({ min: 1, max: 1_000_000 }),
      bound,
      bound,
      fc.array(value, { minLength: 1 }),
      (shareBp, factorBp, one, two, values) => {
        const [min, max] = [one, two].sort((left, right) => (left ?? 0) - (right ?? 0));
        const bounds = { ...(min !== undefined && { min }), ...(max !== undefined && { max }) };
        const rule: RuleParts = {
          ...PLAIN,
          eventType: "pay",
          shareBp,
          value: { kind: "factor", factorBp },
          conditions: {
            ...(Object.keys(bounds).length > 0 && { amountCents: bounds }),
            properties: [{ field: "event$product", operator: "inner", values }],
          },
        };
        expect(readPostbackRule(postbackRuleTexts(rule))).toEqual(rule);
      },
    ),
  );
});

test("a change to a rule affects only the fields it names", () => {
  const known = read({ amount: "600..", properties: ["user$vip is_set"], share: "80%" });
  expect(read({ share: "50%" }, known)).toEqual({ ...known, shareBp: 5_000 });
  expect(read({ amount: "" }, known)).toEqual({ ...known, conditions: { properties: known.conditions.properties } });
  expect(read({ properties: [] }, known)).toEqual({ ...known, conditions: { amountCents: { min: 600 } } });
  expect(read({ properties: [""] }, known)).toEqual(read({ properties: [] }, known));
  expect(known.shareBp).toBe(8_000);
});

test("a property test may be an object, also as JSON", () => {
  const test = { field: "event$product", operator: "equal", values: ["gold"] };
  const written = ['event$product equal "gold"', ' event$product  equal  "gold" ', JSON.stringify(test), test];
  for (const one of written) expect(read({ properties: [one] }).conditions).toEqual({ properties: [test] });
  expect(read({ properties: [{ field: "user$vip", operator: "not_set" }] }).conditions.properties![0]!.values).toEqual(
    [],
  );
});

describe("refused", () => {
  test.each<[object, RegExp]>([
    [{ moment: "paid" }, /^moment must be one of activate, .*retention_1 to retention_365/],
    [{ moment: "retention_0" }, /^moment must/],
    [{ moment: "retention_366" }, /^moment must/],
    [{ moment: "event:" }, /^moment must/],
    [{ moment: "event:1st" }, /^moment must/],
    [{ moment: "event:$RefundEvent" }, /^moment: \$RefundEvent is not an activity of the user/],
    [{ event_type: "paid" }, /^event_type must be one of activate, register/],
    [{ code: "update_level" }, /^code is one platform's: name it as ad_platform/],
    [{ ad_platform: "tencent", code: "a b" }, /^code must be at most 100 letters/],
    [{ ad_platform: "tencent", code: "x".repeat(101) }, /^code must be/],
    [{ amount: "600" + ".5.." }, /^amount must be bounds/],
    [{ amount: "-1.." }, /^amount must be bounds/],
    [{ amount: "5000..600" }, /^amount must begin with the lower bound/],
    [{ amount: "..1000000000001" }, /^amount must not be more than/],
    [{ count: "many" }, /^count must be bounds/],
    [{ days_since_touch: "0..366" }, /^days_since_touch must not be more than 365/],
    [{ share: "80" }, /^share must be from 0% to 100%/],
    [{ share: "100.01%" }, /^share/],
    [{ share: "0.001%" }, /^share/],
    [{ value: "double" }, /^value must be as-is/],
    [{ value: "fixed:6.5" }, /^value/],
    [{ value: "factor:0" }, /^value/],
    [{ value: "factor:100.0001" }, /^value/],
    [{ value: "fixed:600,cap:5" }, /^value/],
    [{ window: "12h" }, /^window must be whole days/],
    [{ window: "366d" }, /^window/],
    [{ window: "0" }, /^window/],
    [{ enabled: "yes" }, /^enabled must be on or off/],
    [{ moment: "register", amount: "1.." }, /^amount and count apply only to/],
    [{ moment: "event:x", count: "1" }, /^amount and count apply only to/],
    [{ properties: ["event$product equal gold"] }, /^properties: values are written as in JSON/],
    [{ properties: ["product equal 1"] }, /^properties: field must look like/],
    [{ properties: ["event$product like 1"] }, /^properties: operator must be one of/],
    [{ properties: ["event$product between 1"] }, /^properties: between takes two/],
    [{ properties: [5] }, /^properties: A property test is an object/],
    [{ properties: Array(21).fill("user$vip is_set") }, /^properties must be at most 20/],
    [{ properties: [`event$product equal "${"x".repeat(20_000)}"`] }, /^properties are too long/],
  ])("%j", (given, sentence) => {
    expect(() => read(given)).toThrow(sentence);
  });

  test("a new rule without a moment or an event type", () => {
    expect(() => readPostbackRule({ event_type: "pay" })).toThrow(/^moment is missing/);
    expect(() => readPostbackRule({ moment: "pay" })).toThrow(/^event_type is missing/);
  });
});

test("every event type, preset moment, retention day and own event is accepted", () => {
  expect(POSTBACK_EVENT_TYPES).toHaveLength(26);
  for (const event_type of POSTBACK_EVENT_TYPES) expect(read({ event_type }).eventType).toBe(event_type);
  const moments = [
    "activate",
    "register",
    "pay",
    "first_pay",
    "first_day_pay",
    "ad_view",
    "each_ad",
    "return",
    "retention_1",
  ];
  for (const moment of [...moments, "retention_365", "event:level_up", "event:$AdShow"])
    expect(read({ moment }).moment).toBe(moment);
});
