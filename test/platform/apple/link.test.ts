import fc from "fast-check";
import { expect, test } from "vitest";
import { appleTouchedAtMs } from "../../../src/platform/apple/link.ts";
import { fieldsOf } from "../../../src/platform/platform.ts";

test.each<[Record<string, string>, string]>([
  [{ clickDate: "2021-01-11T06:41Z" }, "2021-01-11T06:41:00.000Z"],
  [{ clickDate: "2021-01-11T06:41:27Z" }, "2021-01-11T06:41:27.000Z"],
  [{ clickDate: " 2021-01-11T06:41Z " }, "2021-01-11T06:41:00.000Z"],
  [{ clickDate: "2024-02-29T23:59Z" }, "2024-02-29T23:59:00.000Z"],
  [{ impressionDate: "2026-06-30T00:00Z" }, "2026-06-30T00:00:00.000Z"],
  [{ claimType: "Impression", impressionDate: "2026-06-30T00:00:01Z" }, "2026-06-30T00:00:01.000Z"],
  [{ clickDate: "", impressionDate: "2026-06-30T00:00Z" }, "2026-06-30T00:00:00.000Z"],
  [{ clickDate: "soon", impressionDate: "2026-06-30T00:00Z" }, "2026-06-30T00:00:00.000Z"],
])("%j was touched at %s", (payload, expected) => {
  expect(new Date(appleTouchedAtMs(fieldsOf(payload))!).toISOString()).toBe(expected);
});

test("a tap wins over a view, whichever was earlier", () => {
  const payload = { impressionDate: "2021-01-12T00:00Z", clickDate: "2021-01-11T06:41Z" };
  expect(appleTouchedAtMs(fieldsOf(payload))).toBe(Date.UTC(2021, 0, 11, 6, 41));
  expect(appleTouchedAtMs(fieldsOf({ ...payload, clickDate: "2021-01-13T00:00Z" }))).toBe(Date.UTC(2021, 0, 13));
});

test.each<[Record<string, any>]>([
  [{}],
  [{ attribution: true, orgId: 40669820, campaignId: 542370539, conversionType: "Download", claimType: "Click" }],
  [{ clickDate: "" }],
  [{ clickDate: null, impressionDate: null }],
  [{ clickDate: 1_610_347_260_000 }],
  [{ clickDate: true }],
  [{ clickDate: ["2021-01-11T06:41Z"] }],
  [{ clickDate: "1610347260" }],
  [{ clickDate: "2021-01-11" }],
  [{ clickDate: "2021-01-11 06:41" }],
  [{ clickDate: "2021-01-11T06:41" }],
  [{ clickDate: "11/01/2021 06:41Z" }],
  [{ clickDate: "Mon, 11 Jan 2021 06:41:00 GMT" }],
  [{ clickDate: "2021-01-11T06:41Z and more" }],
  [{ clickDate: "__CLICK_DATE__" }],
  [{ clickdate: "2021-01-11T06:41Z" }],
])("%j does not say when the ad was touched", (payload) => {
  expect(appleTouchedAtMs(fieldsOf(payload))).toBeNull();
});

test("every minute that Apple can write is read as the instant it names", () => {
  const from = Date.UTC(2016, 0, 1) / 60_000;
  fc.assert(
    fc.property(fc.integer({ min: from, max: from + 50 * 366 * 1440 }), (minute) => {
      const clickDate = new Date(minute * 60_000).toISOString().replace(":00.000Z", "Z");
      expect(appleTouchedAtMs(fieldsOf({ clickDate }))).toBe(minute * 60_000);
    }),
  );
});
