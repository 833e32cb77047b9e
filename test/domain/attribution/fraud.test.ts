import { expect, test } from "vitest";
import { DEFAULT_RULES, type Rules } from "../../../src/domain/attribution/attribution-rules.ts";
import { FLAGS, type Flag, flagsOf, type TouchCounts } from "../../../src/domain/attribution/fraud.ts";
import type { TouchMethod } from "../../../src/domain/attribution/method.ts";
import { NO_AD_IDS, type Touch } from "../../../src/domain/attribution/touch.ts";
import { isNetwork } from "../../../src/domain/network.ts";

const TOUCHED_AT_MS = Date.UTC(2024, 5, 15, 12);
const HOUR_MS = 3_600_000;

/** One touch and its surroundings: by default nothing speaks against it. */
type Case = {
  touch?: Partial<Touch>;
  counts?: Partial<TouchCounts>;
  gapMs?: number;
  methods?: readonly TouchMethod[];
  rules?: Partial<Rules>;
};

function flagsIn(one: Case): Flag[] {
  const touch: Touch = {
    ...NO_AD_IDS,
    touchId: "a",
    kind: "click",
    platform: "tencent",
    campaignId: "",
    channel: "",
    ip: "",
    details: {},
    touchedAtMs: TOUCHED_AT_MS,
    receivedAtMs: TOUCHED_AT_MS,
    ...one.touch,
  };
  const subject = { atMs: TOUCHED_AT_MS + (one.gapMs ?? HOUR_MS), methods: one.methods ?? ["device_id"] };
  return flagsOf(touch, { ofAddress: 1, ofDevice: 1, ...one.counts }, subject, { ...DEFAULT_RULES, ...one.rules });
}

test("an ordinary touch has no flag", () => {
  expect(flagsIn({})).toEqual([]);
});

test.each<[Flag, string, Case, boolean]>([
  ["flood_address", "as many as allowed", { counts: { ofAddress: 200 } }, false],
  ["flood_address", "one more than allowed", { counts: { ofAddress: 201 } }, true],
  ["flood_address", "one more than the app allows", { counts: { ofAddress: 6 }, rules: { floodPerAddress: 5 } }, true],
  ["flood_address", "off", { counts: { ofAddress: 1e9 }, rules: { floodPerAddress: 0 } }, false],
  ["flood_device", "as many as allowed", { counts: { ofDevice: 30 } }, false],
  ["flood_device", "one more than allowed", { counts: { ofDevice: 31 } }, true],
  ["flood_device", "one more than the app allows", { counts: { ofDevice: 3 }, rules: { floodPerDevice: 2 } }, true],
  ["flood_device", "off", { counts: { ofDevice: 1e9 }, rules: { floodPerDevice: 0 } }, false],
  ["future", "5 minutes ahead of its arrival", { touch: { receivedAtMs: TOUCHED_AT_MS - 300_000 } }, false],
  ["future", "a millisecond more", { touch: { receivedAtMs: TOUCHED_AT_MS - 300_001 } }, true],
  ["future", "arrived long after", { touch: { receivedAtMs: TOUCHED_AT_MS + 24 * HOUR_MS } }, false],
  ["short_gap", "as long as asked for", { gapMs: 10_000 }, false],
  ["short_gap", "a millisecond less", { gapMs: 9_999 }, true],
  ["short_gap", "the same millisecond", { gapMs: 0 }, true],
  ["short_gap", "touched after the registration", { gapMs: -1 }, false],
  ["short_gap", "shorter than the app asks for", { gapMs: 59_999, rules: { shortGapMs: 60_000 } }, true],
  ["short_gap", "off", { gapMs: 0, rules: { shortGapMs: 0 } }, false],
])("%s, %s: %s", (flag, _, one, isFlagged) => {
  expect(flagsIn(one)).toEqual(isFlagged ? [flag] : []);
});

test.each<[readonly TouchMethod[], boolean]>([
  [["device_id"], true],
  [["ip_ua"], true],
  [["device_id", "ip_ua"], true],
  [["click_key"], false],
  [["open_id"], false],
  [["device_id", "open_id"], false],
  [["click_key", "device_id", "ip_ua"], false],
])("a touch found by %j implies a download, so that one second is too short: %s", (methods, isFlagged) => {
  expect(flagsIn({ methods, gapMs: 1_000 })).toEqual(isFlagged ? ["short_gap"] : []);
});

const NETWORKS = ["203.0.113.64/26", "198.51.100.7", "2001:db8:aa00::/40", "2001:db8::5"];

test.each<[string, boolean]>([
  ["203.0.113.63", false],
  ["203.0.113.64", true],
  ["203.0.113.127", true],
  ["203.0.113.128", false],
  ["198.51.100.6", false],
  ["198.51.100.7", true],
  ["198.51.100.8", false],
  ["::ffff:203.0.113.64", true],
  ["::ffff:203.0.113.63", false],
  ["2001:db8:a9ff:ffff:ffff:ffff:ffff:ffff", false],
  ["2001:db8:aa00::", true],
  ["2001:DB8:AA00::1", true],
  ["2001:db8:aaff:ffff:ffff:ffff:ffff:ffff", true],
  ["2001:db8:ab00::", false],
  ["2001:db8::5", true],
  ["2001:0db8:0:0:0:0:0:5", true],
  ["2001:db8::6", false],
  ["", false],
  ["203.0.113", false],
  ["203.0.113.64, 10.0.0.1", false],
  ["localhost", false],
])("the address %j is in a data centre: %s", (ip, isInside) => {
  expect(flagsIn({ touch: { ip }, rules: { datacentres: NETWORKS } })).toEqual(isInside ? ["datacentre"] : []);
});

test("without networks no address is in a data centre, and each list stands alone", () => {
  const flagged = (datacentres: string[]) => flagsIn({ touch: { ip: "203.0.113.64" }, rules: { datacentres } });
  expect(flagged([])).toEqual([]);
  expect(flagged(["203.0.113.0/24"])).toEqual(["datacentre"]);
  expect(flagged(["198.51.100.0/24"])).toEqual([]);
  expect(flagged(["2001:db8::/32"])).toEqual([]);
  expect(flagged(["0.0.0.0/0"])).toEqual(["datacentre"]);
  expect(flagged(["203.0.113.9/24"])).toEqual(["datacentre"]);
});

test("a touch with every kind of suspicion has every flag of the list, in order", () => {
  const flags = flagsIn({
    touch: { receivedAtMs: TOUCHED_AT_MS - HOUR_MS, ip: "198.51.100.7" },
    counts: { ofAddress: 1_000, ofDevice: 1_000 },
    gapMs: 5,
    rules: { datacentres: NETWORKS },
  });
  expect(flags).toEqual(FLAGS);
});

test.each<[string, boolean]>([
  ["203.0.113.0/24", true],
  ["203.0.113.7", true],
  ["203.0.113.7/32", true],
  ["0.0.0.0/0", true],
  ["2001:db8::/32", true],
  ["2001:db8::5", true],
  ["2001:db8::5/128", true],
  ["::/0", true],
  ["203.0.113.0/33", false],
  ["2001:db8::/129", false],
  ["203.0.113.0/", false],
  ["203.0.113.0/-1", false],
  ["203.0.113.0/2.5", false],
  ["203.0.113.0/1e1", false],
  ["203.0.113.0/24/1", false],
  ["203.0.113.0/ 24", false],
  ["203.0.113.0/255.255.255.0", false],
  ["203.0.113/24", false],
  ["203.0.113.256/24", false],
  ["203.0.113.*", false],
  ["/24", false],
  ["", false],
  ["example.com/24", false],
])("%j is a network: %s", (text, expected) => {
  expect(isNetwork(text)).toBe(expected);
});

test.each(["203.0.113.0/0", "203.0.113.0/32", "::/0", "::/128", "203.0.113.7", "2001:db8::5"])(
  "the network %s is accepted and can be matched",
  (network) => {
    expect(isNetwork(network)).toBe(true);
    for (const ip of ["192.0.2.1", "2001:db8:1::"]) {
      expect(() => flagsIn({ touch: { ip }, rules: { datacentres: [network] } })).not.toThrow();
    }
  },
);
