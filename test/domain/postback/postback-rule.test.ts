import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isMoment, ownEventOf, retentionDaysOf } from "../../../src/domain/postback/moment-name.ts";
import {
  type JudgedUser,
  type Judgement,
  judge,
  LATE_MS,
  type Occurrence,
  type PostbackRule,
  type Reach,
  type RuleConditions,
  type RuleValue,
  type SkipReason,
} from "../../../src/domain/postback/postback-rule.ts";

const DAY_MS = 86_400_000;
const T = Date.UTC(2026, 4, 1);

const RULE: PostbackRule = {
  ruleId: 1,
  appId: 1,
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
const USER: JudgedUser = {
  clientId: "u",
  adPlatform: "tencent",
  campaignId: "camp",
  advertiserId: "7",
  touchedAtMs: T,
  registeredAtMs: T + 60_000,
  decisionNumber: 1,
  returned: null,
  properties: { level: 3 },
};
const PAID: Occurrence = {
  moment: "pay",
  atMs: T + DAY_MS,
  day: "2026-05-02",
  cents: 600,
  count: 2,
  receivedAtMs: T + DAY_MS,
  traceId: "o1",
  properties: { product: "gem" },
};

type Change = {
  rules?: Partial<PostbackRule>[];
  user?: Partial<JudgedUser>;
  occurrence?: Partial<Occurrence>;
  reach?: Reach;
};
function judged({ rules = [{}], user = {}, occurrence = {}, reach = "account" }: Change): Judgement[] {
  const made = rules.map((rule, index) => ({ ...RULE, ruleId: index + 1, ...rule }));
  return judge({ ...PAID, ...occurrence }, { ...USER, ...user }, { rules: made, reach });
}
const one = (change: Change): Judgement => {
  const all = judged(change);
  expect(all).toHaveLength(1);
  return all[0]!;
};
const reasonOf = (change: Change) => one(change).reason;

describe("moments", () => {
  test.each(["activate", "return", "retention_1", "retention_365", "event:e", "event:$AdShow", "event:a$b_1"])(
    "%s is a moment",
    (text) => expect(isMoment(text)).toBe(true),
  );
  test.each([
    "",
    "Pay",
    "retention_0",
    "retention_1000",
    "retention_01",
    "event:",
    "event:1a",
    `event:${"a".repeat(51)}`,
  ])("%j is none", (text) => expect(isMoment(text)).toBe(false));
  test("name the day or the event", () => {
    expect([retentionDaysOf("retention_30"), retentionDaysOf("pay")]).toEqual([30, undefined]);
    expect([ownEventOf("event:level"), ownEventOf("retention_1")]).toEqual(["level", undefined]);
  });
});

describe("the rule that counts", () => {
  const platform = { adPlatform: "tencent" };
  const campaign = { campaignId: "camp" };
  test.each<[string, Partial<PostbackRule>[], number]>([
    ["the campaign's on its platform before the campaign's", [campaign, { ...platform, ...campaign }], 2],
    ["the campaign's before the platform's", [platform, campaign], 2],
    ["the platform's before the general one", [{}, platform], 2],
    ["of equal rules the first one", [{}, {}], 1],
    ["of equal rules the first one, even if it was created later", [{ ruleId: 9 }, { ruleId: 1 }], 9],
    ["not one of another platform or campaign", [{ adPlatform: "baidu" }, { campaignId: "x" }, {}], 3],
    ["not one that is switched off", [{ ...platform, enabled: false }, {}], 2],
    ["not one about another moment", [{ ...platform, moment: "first_pay" }, {}], 2],
    ["of equal rules the first that passes", [{ conditions: { amountCents: { min: 601 } } }, { shareBp: 0 }, {}], 3],
  ])("%s", (_, rules, ruleId) => {
    expect(one({ rules })).toMatchObject({ status: 0, ruleId });
  });

  test("a special rule that says no is not overridden by a general one", () => {
    expect(one({ rules: [{}, { ...platform, conditions: { count: { min: 3 } } }] })).toMatchObject({
      status: 3,
      reason: "count",
      ruleId: 2,
      cents: null,
    });
  });

  test("the reason is that of the first rule tried", () => {
    const rules = [{ shareBp: 0 }, { conditions: { amountCents: { max: 1 } } }];
    expect(one({ rules })).toMatchObject({ status: 3, reason: "share", ruleId: 1 });
  });

  test("each event type has its own rules", () => {
    const rules: Partial<PostbackRule>[] = [{}, { eventType: "complete_order", adPlatform: "tencent" }];
    expect(judged({ rules }).map(({ eventType, ruleId, status }) => [eventType, ruleId, status])).toEqual([
      ["pay", 1, 0],
      ["complete_order", 2, 0],
    ]);
  });

  test("without a rule an order is skipped, and other moments are ignored", () => {
    for (const rules of [[], [{ adPlatform: "baidu" }], [{ enabled: false }]])
      expect(one({ rules })).toMatchObject({
        eventType: "pay",
        subject: "o1",
        status: 3,
        reason: "no_rule",
        ruleId: 0,
      });
    expect(judged({ rules: [{ adPlatform: "baidu" }], occurrence: { moment: "activate" } })).toEqual([]);
    expect(one({ rules: [], user: { adPlatform: "" } })).toMatchObject({ status: 3, reason: "organic" });
    expect(judged({ rules: [], user: { adPlatform: "" }, occurrence: { moment: "activate" } })).toEqual([]);
  });

  test.each<[string, Change, SkipReason]>([
    ["an organic user", { user: { adPlatform: "" }, rules: [{ adPlatform: "baidu" }] }, "organic"],
    ["a platform that takes none", { reach: "takes_none" }, "takes_none"],
    ["no account", { reach: "no_account" }, "no_account"],
  ])("%s: skipped, whatever the rules say", (_, change, reason) => {
    expect(one(change)).toMatchObject({ status: 3, reason, ruleId: 0, cents: null });
  });
});

describe("conditions", () => {
  const HOLD: [RuleConditions, Change][] = [
    [{ amountCents: { min: 600 } }, {}],
    [{ amountCents: { max: 600 } }, {}],
    [{ amountCents: { min: 600, max: 600 } }, {}],
    [{ amountCents: { max: 0 } }, { occurrence: { cents: null } }],
    [{ amountCents: { max: -1 } }, { occurrence: { cents: -600 } }],
    [{ count: { min: 2, max: 2 } }, {}],
    [{ count: { max: 0 } }, { occurrence: { count: null } }],
    [{ daysSinceTouch: { min: 1, max: 1 } }, {}],
    [{ daysSinceTouch: { max: 0 } }, { occurrence: { atMs: T + DAY_MS - 1 } }],
    [{ daysSinceTouch: { max: 0 } }, { user: { touchedAtMs: null } }],
    [{ properties: [{ field: "user$level", operator: "between", values: [3, 5] }] }, {}],
    [{ properties: [{ field: "event$product", operator: "inner", values: ["x", "gem"] }] }, {}],
    [
      { properties: [{ field: "user$level", operator: "equal", values: [9] }] },
      { occurrence: { userProperties: { level: 9 } } },
    ],
    [{ properties: [] }, {}],
  ];
  test.each(HOLD)("%j holds", (conditions, change) => {
    expect(one({ ...change, rules: [{ conditions }] })).toMatchObject({ status: 0, reason: "" });
  });

  const FAIL: [RuleConditions, Change, SkipReason][] = [
    [{ amountCents: { min: 601 } }, {}, "amount"],
    [{ amountCents: { max: 599 } }, {}, "amount"],
    [{ amountCents: { min: 1 } }, { occurrence: { cents: null } }, "amount"],
    [{ count: { min: 3 } }, {}, "count"],
    [{ count: { max: 1 } }, {}, "count"],
    [{ daysSinceTouch: { min: 2 } }, {}, "days_since_touch"],
    [{ daysSinceTouch: { max: 0 } }, {}, "days_since_touch"],
    [{ properties: [{ field: "event$product", operator: "not_set", values: [] }] }, {}, "property"],
    [
      {
        properties: [
          { field: "user$level", operator: "is_set", values: [] },
          { field: "user$level", operator: "equal", values: [4] },
        ],
      },
      {},
      "property",
    ],
    [{ amountCents: { min: 601 }, count: { min: 3 } }, {}, "amount"],
  ];
  test.each(FAIL)("%j fails", (conditions, change, reason) => {
    expect(one({ ...change, rules: [{ conditions }] })).toMatchObject({ status: 3, reason });
  });

  test("late means three days after it happened, to the millisecond, and comes before every other reason", () => {
    const at = (ms: number) => ({ occurrence: { receivedAtMs: PAID.atMs + ms } });
    expect(reasonOf(at(LATE_MS - 1))).toBe("");
    expect(reasonOf(at(LATE_MS))).toBe("late");
    expect(reasonOf({ ...at(LATE_MS), rules: [{ windowDays: 1, shareBp: 0 }] })).toBe("late");
    expect(reasonOf(at(-DAY_MS))).toBe("");
  });

  test("the window ends a number of days after the touch, to the millisecond", () => {
    const at = (ms: number, user: Partial<JudgedUser> = {}) =>
      reasonOf({ rules: [{ windowDays: 2 }], user, occurrence: { atMs: T + ms, receivedAtMs: T + ms } });
    expect([at(2 * DAY_MS - 1), at(2 * DAY_MS)]).toEqual(["", "window"]);
    // Without a touch it begins with the registration, and for a user who came back with the return.
    expect(at(2 * DAY_MS, { touchedAtMs: null })).toBe("");
    expect(at(2 * DAY_MS + 60_000, { touchedAtMs: null })).toBe("window");
    const back = { touchedAtMs: null, decisionNumber: 2, returned: { atMs: T + 90 * DAY_MS } };
    expect([at(92 * DAY_MS - 1, back), at(92 * DAY_MS, back)]).toEqual(["", "window"]);
  });

  test("a moment before the touch belongs to it only if the touch is the user's first", () => {
    const before = { atMs: T - 60_000, receivedAtMs: T };
    expect(reasonOf({ occurrence: before })).toBe("");
    expect(reasonOf({ occurrence: before, user: { decisionNumber: 2, returned: { atMs: T + 5 } } })).toBe("window");
  });
});

describe("the share", () => {
  const passes = (shareBp: number, clientId: string, traceId = "o") =>
    judged({ rules: [{ shareBp }], user: { clientId }, occurrence: { traceId } })[0]!.status === 0;
  const share = fc.integer({ min: 0, max: 10_000 });

  test("chooses the same ones every time, and keeps them when it is raised", () => {
    fc.assert(
      fc.property(share, share, fc.string(), fc.string(), (some, other, clientId, traceId) => {
        const [low, high] = [Math.min(some, other), Math.max(some, other)];
        expect(passes(low, clientId, traceId)).toBe(passes(low, clientId, traceId));
        if (passes(low, clientId, traceId)) expect(passes(high, clientId, traceId)).toBe(true);
        expect([passes(0, clientId, traceId), passes(10_000, clientId, traceId)]).toEqual([false, true]);
      }),
    );
  });

  test.each([500, 2_500, 5_000, 9_000])("of %i ten-thousandths lets about that share through", (shareBp) => {
    const count = 8_000;
    let passed = 0;
    for (let index = 0; index < count; index += 1) if (passes(shareBp, `client-${index}`)) passed += 1;
    const expected = (count * shareBp) / 10_000;
    // Four standard deviations.
    const allowed = 4 * Math.sqrt(expected * (1 - shareBp / 10_000));
    expect(Math.abs(passed - expected)).toBeLessThan(allowed);
  });

  test("is drawn per order, but per user for moments that happen once, and independently of the rule", () => {
    const of = (eventType: "pay" | "first_pay", ruleId: number) =>
      Array.from(
        { length: 60 },
        (_, index) =>
          one({ rules: [{ shareBp: 5_000, eventType, ruleId }], occurrence: { traceId: `o${index}` } }).status,
      );
    expect(new Set(of("pay", 1)).size).toBe(2);
    expect(new Set(of("first_pay", 1)).size).toBe(1);
    expect(of("pay", 1)).toEqual(of("pay", 99));
  });
});

describe("the value", () => {
  test.each<[RuleValue, number | null, number | null]>([
    [{ kind: "as_is" }, 600, 600],
    [{ kind: "as_is" }, null, null],
    [{ kind: "as_is" }, -5, -5],
    [{ kind: "fixed", cents: 100 }, 600, 100],
    [{ kind: "fixed", cents: 100 }, null, 100],
    [{ kind: "factor", factorBp: 5_000 }, 333, 167],
    [{ kind: "factor", factorBp: 5_000 }, -333, -167],
    [{ kind: "factor", factorBp: 3_333 }, 100, 33],
    [{ kind: "factor", factorBp: 1 }, 5_000, 1],
    [{ kind: "factor", factorBp: 1 }, 4_999, 0],
    [{ kind: "factor", factorBp: 15_000 }, 101, 152],
    [{ kind: "factor", factorBp: 10_000 }, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
    [{ kind: "factor", factorBp: 20_000 }, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
    [{ kind: "factor", factorBp: 9_999 }, 9_007_199_254_740_991, 9_006_298_534_815_517],
    [{ kind: "factor", factorBp: 0 }, 600, 0],
    [{ kind: "factor", factorBp: 5_000 }, null, null],
    [{ kind: "factor", factorBp: 10_000, capCents: 500 }, 600, 500],
    [{ kind: "factor", factorBp: 10_000, capCents: 600 }, 600, 600],
    [{ kind: "factor", factorBp: 10_000, capCents: 0 }, 600, 0],
    [{ kind: "factor", factorBp: 10_000, capCents: 500 }, -600, -600],
  ])("%j of %j is %j", (value, cents, expected) => {
    expect(one({ rules: [{ value }], occurrence: { cents } }).cents).toBe(expected);
  });

  test("a factor is exact, rounded half away from zero, and never over the cap", () => {
    const amounts = fc.integer({ min: -Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER });
    const parts = fc.integer({ min: 0, max: 10_000 });
    fc.assert(
      fc.property(amounts, parts, fc.option(fc.nat(), { nil: undefined }), (cents, factorBp, capCents) => {
        const value: RuleValue = { kind: "factor", factorBp, ...(capCents !== undefined && { capCents }) };
        const told = BigInt(one({ rules: [{ value }], occurrence: { cents } }).cents!);
        const size = BigInt(Math.abs(cents)) * BigInt(factorBp);
        const rounded = (size * 2n + 10_000n) / 20_000n;
        const exact = cents < 0 ? -rounded : rounded;
        expect(told).toBe(capCents !== undefined && exact > BigInt(capCents) ? BigInt(capCents) : exact);
      }),
    );
  });
});

describe("the subject", () => {
  test.each<[PostbackRule["eventType"], string, string]>([
    ["pay", "o1", "o1"],
    ["service_pay_success", "o1", "o1"],
    ["pay", "", "2026-05-02"],
    ["login", "", "2026-05-02"],
    ["ad_quality", "", "2026-05-02"],
    ["activate", "o1", ""],
    ["first_pay", "o1", ""],
    ["first_day_pay", "o1", ""],
    ["twice", "", ""],
    ["retention_30d", "", ""],
    ["create_role", "", ""],
  ])("%s of order %j: %j", (eventType, traceId, subject) => {
    for (const change of [{}, { reach: "no_account" as const }])
      expect(one({ ...change, rules: [{ eventType }], occurrence: { traceId } }).subject).toBe(subject);
  });

  test.each<[PostbackRule["eventType"], string, string]>([
    ["game_action", "update_level", "2026-05-02 update_level"],
    ["create_role", "create_gamerole", "create_gamerole"],
  ])("%s with the rule's own code %s is a conversion of its own: %j", (eventType, code, subject) => {
    const [rules, occurrence] = [[{ eventType, code }], { traceId: "" }];
    expect(one({ rules, occurrence })).toMatchObject({ code, subject, status: 0 });
    // Skipped under the same subject, so that it can still be sent when it happens again.
    expect(one({ rules: [{ ...rules[0], shareBp: 0 }], occurrence })).toMatchObject({ code, subject, status: 3 });
  });
});
