import { expect, test } from "vitest";
import {
  createDeveloper,
  decideDeveloper,
  editDeveloper,
  rotateDeveloper,
} from "../../src/admin/setting/developers.ts";
import { DeskStage } from "./desk-stage.ts";

const stage = new DeskStage();

test("a change to a developer application is logged with its author, and without the key", async () => {
  const { developerId: id, state } = await createDeveloper(stage.desk, { name: "BI", apps: "all" });
  expect(state).toBe("requested");
  const { appKey } = await decideDeveloper(stage.desk, { id, state: "approved" });
  const edited = await editDeveloper(stage.desk, { id, rate_calls: 5 });
  expect(edited).toMatchObject({ state: "approved", apps: "all", rate: { calls: 5, windowS: 600 } });
  const rotated = await rotateDeveloper(stage.desk, { id });
  const audit = await stage.audit();
  expect(audit).toEqual([
    { action: "developers/create", appId: null, details: { name: "BI", apps: "all" } },
    { action: "developers/decide", appId: null, details: { id, state: "approved" } },
    { action: "developers/edit", appId: null, details: { id, rate_calls: 5 } },
    { action: "developers/rotate", appId: null, details: { id } },
  ]);
  for (const key of [appKey, rotated]) expect(JSON.stringify(audit)).not.toContain(key);
});

test("an approval that cannot be logged does not take place", async () => {
  const { developerId: id } = await createDeveloper(stage.desk, { name: "Unnoted", apps: "all" });
  await stage.withoutAuditLog(async () => {
    await expect(decideDeveloper(stage.desk, { id, state: "approved" })).rejects.toThrow(/audit_log/);
  });
  expect(await editDeveloper(stage.desk, { id })).toMatchObject({ state: "requested", decidedAtMs: null });
});

test.each<[string, () => Promise<unknown>, RegExp]>([
  ["an empty name", () => createDeveloper(stage.desk, { name: " ", apps: "all" }), /^name is empty/],
  [
    "a long purpose",
    () => createDeveloper(stage.desk, { name: "x", apps: "all", purpose: "p".repeat(201) }),
    /purpose/,
  ],
  ["an unknown app", () => createDeveloper(stage.desk, { name: "x", apps: [99] }), /no app 99/],
  ["an id that no table holds", () => createDeveloper(stage.desk, { name: "x", apps: [1e30] }), /no app 1e\+30/],
  ["an unknown id", () => decideDeveloper(stage.desk, { id: 99, state: "refused" }), /no developer application 99/],
  ["a change of an unknown id", () => editDeveloper(stage.desk, { id: 99 }), /no developer application 99/],
  ["a key for an unknown id", () => rotateDeveloper(stage.desk, { id: 99 }), /no developer application 99/],
])("%s is refused from every caller, and nothing is logged", async (_, refused, sentence) => {
  const before = [await stage.count("developer_app"), await stage.count("audit_log")];
  await expect(refused()).rejects.toThrow(sentence);
  expect([await stage.count("developer_app"), await stage.count("audit_log")]).toEqual(before);
});
