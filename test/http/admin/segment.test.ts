import { beforeAll, describe, expect, test } from "vitest";
import {
  savedSegmentAnswer,
  savedSegmentsAnswer,
  segmentRemovedAnswer,
} from "../../../src/contract/analysis/saved-segment.ts";
import type { App } from "../../../src/db/app.ts";
import { LIMITS } from "../../../src/limits.ts";
import { ConsoleUser, consoleUser, dataOf, refused } from "../../support/admin-caller.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { type Row, Tables } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);
const admin = consoleUser(server, "admin");
const viewer = consoleUser(server, "viewer");
const [ann, bob] = [consoleUser(server, "analyst"), consoleUser(server, "analyst")];
const PAID_TWICE = {
  join: "and",
  parts: [
    { kind: "did", source: "order", measure: "count", operator: "at_least", values: [2], last_days: 7 },
    { kind: "user", field: "ad_platform", operator: "equal", values: ["kuaishou"] },
    { kind: "user", field: "user$level", operator: "at_least", values: [10] },
  ],
};

let app: App;
beforeAll(async () => {
  app = await server.createApp();
});

async function save(user: ConsoleUser, more: Row = {}): Promise<Row> {
  const body = { app_id: app.appId, name: `segment ${Math.random()}`, condition: PAID_TWICE, ...more };
  return dataOf(await user.post("segments/save", body), savedSegmentAnswer);
}
const call = (user: ConsoleUser, what: string, segment: Row, more: Row = {}) =>
  user.post(`segments/${what}`, { app_id: app.appId, segment_id: segment.segment_id, ...more });
const seen = async (user: ConsoleUser, appId = app.appId): Promise<Row[]> =>
  dataOf(await user.get("segments", { app_id: appId }), savedSegmentsAnswer).segments;
const idsOf = async (user: ConsoleUser) => (await seen(user)).map(({ segment_id }) => segment_id);

test("a segment is kept as it was saved, and every analyst of the app sees it", async () => {
  const segment = await save(ann, { name: "  付费两次 " });
  expect(segment).toEqual({
    segment_id: expect.any(Number),
    name: "付费两次",
    condition: PAID_TWICE,
    owner: ann.name,
    views: 0,
    may_change: true,
    changed_at: expect.any(Number),
  });
  expect(await seen(ann)).toContainEqual(segment);
  expect(await seen(bob)).toContainEqual({ ...segment, may_change: false });
  expect(await seen(admin)).toContainEqual(segment);
  expect(await viewer.get("segments", { app_id: app.appId })).toMatchObject(refused(/Your role/, 2004));
});

test("its owner and admins change it, and nobody else", async () => {
  const segment = await save(ann);
  const condition = PAID_TWICE.parts[0]!;
  for (const [what, more] of [
    ["rename", { name: "x" }],
    ["save", { name: "x", condition }],
    ["remove", {}],
  ] as const)
    expect(await call(bob, what, segment, more)).toMatchObject(refused(/^Only its owner and admins/, 2004));
  const changed = dataOf(await call(ann, "save", segment, { name: "now", condition }), savedSegmentAnswer);
  expect(changed).toMatchObject({ segment_id: segment.segment_id, name: "now", condition, owner: ann.name });
  const renamed = dataOf(await call(admin, "rename", segment, { name: "later" }), savedSegmentAnswer);
  expect(renamed).toMatchObject({ name: "later", condition, owner: ann.name });
  dataOf(await call(admin, "remove", segment), segmentRemovedAnswer);
  expect(await idsOf(ann)).not.toContain(segment.segment_id);
  expect(await call(ann, "remove", segment)).toMatchObject(refused(/no saved segment with the id/));
});

test("changes are noted in the audit log, without the conditions, which may name people", async () => {
  const segment = await save(ann, { name: "noted" });
  await call(ann, "rename", segment, { name: "noted again" });
  await call(ann, "remove", segment);
  const { entries } = (await admin.get("audit", { app_id: app.appId })).data;
  const noted = entries.filter(({ details }: Row) => String(details.name ?? "").startsWith("noted"));
  expect(noted.map(({ action }: Row) => action)).toEqual(["segments/rename", "segments/save"]);
  expect(JSON.stringify(noted)).not.toContain("kuaishou");
  expect(entries.map(({ action }: Row) => action)).toContain("segments/remove");
});

test.each<[string, Row, RegExp]>([
  ["an empty name", { name: " " }, /^name is empty/],
  ["no name", { name: "" }, /name/],
  ["a name that is too long", { name: "x".repeat(101) }, /name/],
  ["a condition of an unknown kind", { condition: { kind: "liked" } }, /condition/],
  ["a condition that no question could use", { condition: { ...PAID_TWICE.parts[1], field: "colour" } }, /colour/],
  ["another saved segment", { condition: { kind: "saved", segment: 1 } }, /cannot use another saved segment/],
  ["a segment to replace that is not there", { segment_id: 2_000_000_000 }, /no saved segment with the id 2000000000/],
])("a segment is refused with what to change: %s", async (_, more, sentence) => {
  const body = { app_id: app.appId, name: "good", condition: PAID_TWICE, ...more };
  expect(await ann.post("segments/save", body)).toMatchObject(refused(sentence));
});

test("an app has each name once, whoever saves it", async () => {
  const [one, two] = [await save(ann, { name: "same" }), await save(bob, { name: "other" })];
  const again = { app_id: app.appId, name: "same ", condition: PAID_TWICE };
  expect(await bob.post("segments/save", again)).toMatchObject(refused(/already has a segment with this name/));
  expect(await call(bob, "rename", two, { name: "same" })).toMatchObject(refused(/already has/));
  expect(await call(ann, "rename", one, { name: "same" })).toMatchObject({ code: 0 });
});

describe("another app", () => {
  test("has segments of its own, and reaches no other", async () => {
    const segment = await save(ann, { name: "here" });
    const other = await server.createApp();
    expect(await seen(ann, other.appId)).toEqual([]);
    const elsewhere = { app_id: other.appId, segment_id: segment.segment_id };
    expect(await admin.post("segments/remove", elsewhere)).toMatchObject(refused(/no saved segment/));
    for (const ref of [segment.segment_id, "here"]) {
      const question = {
        date_list: ["2026-11-01", "2026-11-02"],
        steps: [{ source: "order" }, { source: "order" }],
        window_minutes: 5,
        segment: { kind: "saved", segment: ref },
      };
      const asked = await ann.post("analysis/funnel", { app_id: other.appId, question });
      expect(asked).toMatchObject(refused(/no saved segment (?:with the id|named "here")/));
      const listed = {
        app_id: other.appId,
        user_filtering: {},
        event_filtering: {},
        segment_filtering: { segment: ref },
      };
      expect(await ann.post("report/users", listed)).toMatchObject(refused(/no saved segment/));
      expect(await ann.post("report/orders", listed)).toMatchObject(refused(/no saved segment/));
    }
    expect(await idsOf(ann)).toContain(segment.segment_id);
  });
});

test("a segment that saved views use is removed only when somebody says so", async () => {
  const segment = await save(ann, { name: "in use" });
  const view = (owner: ConsoleUser, parameters: Row) =>
    owner.post("report/views/save", { app_id: app.appId, name: `view ${Math.random()}`, parameters });
  await view(bob, { of: "analysis", segment: String(segment.segment_id) });
  await view(ann, { of: "analysis", segment: String(segment.segment_id), tab: "funnel" });
  // A number that only looks like it.
  await view(ann, { segment: String(segment.segment_id) });
  expect(await seen(ann)).toContainEqual({ ...segment, views: 2 });
  const refusal = refused(/^2 saved views use the segment "in use", and could not be answered without it/);
  expect(await call(ann, "remove", segment)).toMatchObject(refusal);
  dataOf(await call(ann, "remove", segment, { even_if_used: true }), segmentRemovedAnswer);
  expect(await idsOf(ann)).not.toContain(segment.segment_id);
});

test("segments stay when the person who saved them is removed", async () => {
  const leaving = await new ConsoleUser(server, "analyst").signIn();
  const segment = await save(leaving);
  await leaving.remove();
  expect(await idsOf(ann)).toContain(segment.segment_id);
});

test("the number of segments per app is limited", async () => {
  const full = await server.createApp();
  await tables.query(
    `insert into saved_segment (app_id, owner, name, condition, changed_at_ms)
      select $1, 'x', 's' || n, '{}', 0 from generate_series(1, $2) n`,
    [full.appId, LIMITS.segmentsPerApp],
  );
  const one = { app_id: full.appId, name: "one more", condition: PAID_TWICE };
  expect(await ann.post("segments/save", one)).toMatchObject(refused(/at most 500 segments/));
});

test("a server without a lake says so", async () => {
  const segment = await save(ann);
  const listed = {
    app_id: app.appId,
    user_filtering: {},
    event_filtering: {},
    segment_filtering: { segment: segment.name },
  };
  expect(await ann.post("report/users", listed)).toMatchObject(refused(/has no lake/));
  const asked = { app_id: app.appId, segment: segment.segment_id, kind: "clients" };
  expect(await ann.post("segments/export", asked)).toMatchObject(refused(/has no lake/));
  const events = { app_id: app.appId, kind: "events", from: "2026-11-01", to: "2026-11-01" };
  expect(await ann.post("export", { ...events, segment_filtering: { segment: 1 } })).toMatchObject(
    refused(/^segment_filtering is for users and orders/),
  );
});
