import { describe, expect, test } from "vitest";
import {
  missingUserAgent,
  nothingToAttributeBy,
  openidIsAppId,
  placeholderClientId,
  sharedAddress,
  sharedClientId,
  sharedOpenid,
} from "../../../src/domain/doctor/doctor-identity.ts";
import { unknownCampaign, unreplacedMacro } from "../../../src/domain/doctor/doctor-touch.ts";
import { cases } from "./doctor-cases.ts";
import { collected, event, many, NOW, registered, seen, touched } from "./seen-calls.ts";

cases("a placeholder as client id", placeholderClientId, [
  [
    "undefined",
    [registered("undefined")],
    { kind: "placeholder_client_id", severity: "error", subjects: ["undefined"] },
  ],
  ["an object as text", [registered("[object Object]")], { kind: "placeholder_client_id" }],
  ["a macro", [registered("__OPENID__"), registered("{client_id}")], { kind: "placeholder_client_id", count: 2 }],
  [
    "an id that only begins like one",
    [registered("null-island"), registered("10"), registered("o6_bmjrPTlm")],
    undefined,
  ],
]);

const device = (client_id: string, idfa: string) => registered(client_id, { device_info: { os_name: "ios", idfa } });

cases("one client id for several people", sharedClientId, [
  [
    "by their open ids",
    ["a", "b", "c"].map((wx_openid) => registered("game", { wx_openid })),
    { kind: "shared_client_id", count: 1, subjects: ["game"], example: { client_id: "game", different_wx_openid: 3 } },
  ],
  ["by their devices", ["A", "B", "C"].map((idfa) => device("game", idfa)), { kind: "shared_client_id" }],
  [
    "by the device ids of their events",
    ["x", "y", "z"].map(($device_id) => collected([event("e", { $device_id })], { client_id: "game" })),
    { kind: "shared_client_id" },
  ],
  ["is not reported for a person with a new phone", ["A", "A", "B"].map((idfa) => device("u", idfa)), undefined],
  [
    "is not reported for phones without an id",
    ["0000", "", "__IDFA__", "null"].map((idfa) => device("u", idfa)),
    undefined,
  ],
  ["is not reported for people with their own ids", many(9, (client) => device(client, client)), undefined],
]);

describe("an open id that is the app's own id", () => {
  const rule = (wx_openid: string) => openidIsAppId([registered("u", { wx_openid })], 10_000_001);
  test.each(["wx1234567890abcdef", "10000001"])("%s is reported", (openid) => {
    expect(rule(openid)).toMatchObject({ kind: "openid_is_app_id", severity: "error", example: { wx_openid: openid } });
  });
  test.each(["oXyz5_test-openid_28characte", "", "wx12", "10000002"])("%s is not reported", (openid) => {
    expect(rule(openid)).toBeUndefined();
  });
});

cases("one open id for several clients", sharedOpenid, [
  [
    "is reported with the number of clients that have it",
    many(4, (client) => registered(client, { wx_openid: "same" })),
    { kind: "shared_openid", severity: "error", count: 4, subjects: ["same"] },
  ],
  [
    "is not reported for a person with two accounts",
    many(2, (client) => registered(client, { wx_openid: "same" })),
    undefined,
  ],
  ["is not reported for a missing open id", many(9, (client) => registered(client, { wx_openid: "" })), undefined],
  [
    "is not reported for a client that registers again",
    many(9, () => registered("u", { wx_openid: "same" })),
    undefined,
  ],
]);

cases("one address for nearly everybody", sharedAddress, [
  [
    "is reported as that of the app's own server",
    many(10, (client_id) => seen({ client_id, ip: "198.51.100.4", ua: "Go-http-client/1.1" })),
    { kind: "shared_address", severity: "error", count: 10, example: { ip: "198.51.100.4", ua: "Go-http-client/1.1" } },
  ],
  ["is not reported for a few", many(9, (client_id) => seen({ client_id })), undefined],
  [
    "is not reported if the server names the client's address",
    many(20, (client_id) => registered(client_id, { client_ip: "203.0.113.9" })),
    undefined,
  ],
  [
    "is not reported for a dormitory among others",
    [
      ...many(12, (client_id) => seen({ client_id })),
      ...many(12, (name, index) => seen({ client_id: `o${name}`, ip: `203.0.113.${index}` })),
    ],
    undefined,
  ],
]);

cases("user agents of programs", missingUserAgent, [
  [
    "are reported for registrations",
    many(3, (client) => registered(client, {}, { ua: "python-requests/2.31" })),
    { kind: "missing_user_agent", severity: "warning", count: 3, example: { ua: "python-requests/2.31" } },
  ],
  ["no user agent at all", many(3, (client) => registered(client, {}, { ua: "" })), { kind: "missing_user_agent" }],
  [
    "are not reported for phones",
    many(9, (client) => registered(client, {}, { ua: "Mozilla/5.0 (iPhone)" })),
    undefined,
  ],
  [
    "are not reported if the server names the client's",
    many(9, (client) => registered(client, { client_ua: "Mozilla/5.0" }, { ua: "curl/8" })),
    undefined,
  ],
  ["are not reported for a person who tries it out", many(9, () => registered("u", {}, { ua: "curl/8" })), undefined],
]);

cases("registrations without anything to attribute by", nothingToAttributeBy, [
  [
    "are reported if it is nearly all of them",
    many(10, (client) => registered(client, { ad_data: {}, wx_openid: "" })),
    { kind: "nothing_to_attribute_by", severity: "warning", count: 10 },
  ],
  ["are not reported for a few", many(9, (client) => registered(client)), undefined],
  ["are not reported with an open id", many(20, (client) => registered(client, { wx_openid: client })), undefined],
  ["are not reported with a device", many(20, (client) => device(client, client)), undefined],
  [
    "are not reported if some carry a source: the others are organic",
    many(20, (client, index) => registered(client, index < 5 ? { ad_data: { gdt_vid: "v" } } : {})),
    undefined,
  ],
]);

cases("a macro that nobody replaces", unreplacedMacro, [
  [
    "is reported by platform and parameter",
    [
      touched({ imei: "__IMEI__", click_id: "c-1" }),
      touched({ imei: "__IMEI__", click_id: "c-2" }, { at_ms: NOW + 1 }),
    ],
    {
      kind: "unreplaced_macro",
      severity: "error",
      count: 2,
      subjects: ["tencent imei"],
      example: { endpoint: "event/click", from: "tencent", parameter: "imei", value: "__IMEI__" },
    },
  ],
  [
    "in braces",
    [touched({ imei: "{imei}" }), touched({ oaid: "{{oaid}}" })],
    { subjects: ["tencent imei", "tencent oaid"] },
  ],
  ["in a launch query", [registered("u", { ad_data: { gdt_vid: "__CLICK_ID__" } })], { subjects: ["ad_data gdt_vid"] }],
  [
    "is not reported if it is replaced when the platform knows it",
    [touched({ imei: "__IMEI__" }), touched({ imei: "86" })],
    undefined,
  ],
  [
    "is reported for one platform even if another replaces it",
    [touched({ imei: "__IMEI__" }), touched({ company: "kuaishou", imei: "86" })],
    { subjects: ["tencent imei"] },
  ],
  [
    "is not reported for an empty parameter or a text with underscores",
    [touched({ imei: "", aid_name: "my__ad__1" })],
    undefined,
  ],
]);

describe("a campaign that does not exist", () => {
  const campaigns = new Set(["autumn2026launch"]);
  test("is reported for links and for launches", () => {
    const calls = [
      touched({ track_id: "gone000000000000" }),
      registered("u", { promoted_object_id: "lost000000000000" }),
      registered("v", { ad_data: { turbo_promoted_object_id: "away000000000000" } }),
    ];
    expect(unknownCampaign(calls, campaigns)).toMatchObject({
      kind: "unknown_campaign",
      severity: "warning",
      count: 3,
      subjects: ["gone000000000000", "lost000000000000", "away000000000000"],
    });
  });
  test("is not reported for one that exists, for none at all, or for a macro", () => {
    const calls = [touched({ track_id: "autumn2026launch" }), touched({}), touched({ track_id: "__TRACK__" })];
    expect(unknownCampaign(calls, campaigns)).toBeUndefined();
  });
});
