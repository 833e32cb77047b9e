import { expect, test } from "vitest";
import { positionText, readList, readResend } from "../../../src/domain/postback/postback-request.ts";

test("a list takes its filters, and 50 rows without a limit", () => {
  expect(readList({})).toEqual({ limit: 50 });
  const given = { status: "2", ad_platform: "vivo", event_type: "$event", client_id: "u", limit: "1000" };
  const wish = { status: 2, adPlatform: "vivo", eventType: "$event", clientId: "u", limit: 1000 };
  expect(readList(given)).toEqual(wish);
});

test("a page begins after a position returned earlier", () => {
  const position = { createdAtMs: 1_700_000_000_000, clientId: "用户\n1", eventType: "pay", subject: "" };
  expect(readList({ after: positionText(position) })).toEqual({ after: position, limit: 50 });
});

test.each([
  [{ after: "" }, /^after is not a place/],
  [{ after: "e30" }, /^after is not a place/],
  [{ after: Buffer.from('["1","u","pay",""]').toString("base64url") }, /^after is not a place/],
  [{ after: Buffer.from('[1,"u",null,""]').toString("base64url") }, /^after is not a place/],
  [{ status: "4" }, /^status must be 0 \(waiting\), 1 \(accepted\), 2 \(failed\), 3 \(skipped\)/],
  [{ status: "" }, /^status/],
  [{ event_type: "$other" }, /^event_type/],
  [{ limit: "0" }, /^limit must be a whole number from 1 to 1000/],
  [{ limit: "1001" }, /^limit/],
])("a list refuses %j", (given, sentence) => {
  expect(() => readList(given)).toThrow(sentence);
});

test("postbacks to send again are named by a client or by their status", () => {
  expect(readResend({ client_id: "u", event_type: "pay", trace_id: "o" })).toEqual({
    kind: "client",
    clientId: "u",
    eventType: "pay",
    traceId: "o",
  });
  expect(
    readResend({ status: "3", reason: "share", ad_platform: "vivo", from: "2026-11-01", to: "2026-11-02" }),
  ).toEqual({
    kind: "ended",
    status: 3,
    reason: "share",
    adPlatform: "vivo",
    days: { fromDay: "2026-11-01", toDay: "2026-11-02" },
  });
});

const SELECTED = [{ clientId: "u", eventType: "pay", subject: "o" }];

test("postbacks to send again can be named one by one", () => {
  expect(readResend({}, SELECTED)).toEqual({ kind: "selected", postbacks: SELECTED });
  expect(() => readResend({ status: "2" }, SELECTED)).toThrow(/^Name either/);
  expect(() => readResend({ reason: "share" }, SELECTED)).toThrow(/^reason does not go with postbacks/);
  expect(() => readResend({}, [{ ...SELECTED[0]!, eventType: "$event" }])).toThrow(/^event_type must be one of/);
});

test.each([
  [{}, /^Name either client_id, or status/],
  [{ client_id: "u", status: "2" }, /^Name either/],
  [{ client_id: "u", reason: "share" }, /^reason goes with status/],
  [{ client_id: "u", from: "2026-11-01" }, /^from goes with status/],
  [{ status: "2", event_type: "pay" }, /^event_type goes with client_id/],
  [{ status: "1" }, /^Only failed/],
  [{ status: "0" }, /^Only failed/],
  [{ status: "2", from: "2026-11-01" }, /^from and to must be days/],
  [{ status: "2", from: "2026-11-02", to: "2026-11-01" }, /^from is after to/],
  [{ client_id: "u", event_type: "$event" }, /^event_type must be one of/],
])("sending again refuses %j", (given, sentence) => {
  expect(() => readResend(given)).toThrow(sentence);
});
