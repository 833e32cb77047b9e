import { beforeAll, expect, test } from "vitest";
import { createApp } from "../../src/admin/apps.ts";
import { setShares } from "../../src/admin/setting/shares.ts";
import { loadShareRules } from "../../src/db/share-rule.ts";
import { shownShareRule } from "../../src/domain/user/share-rule.ts";
import { DeskStage } from "./desk-stage.ts";

const stage = new DeskStage();
const ANY = { os_platform: "", channel: "", pay_method: "", is_virtual: null, start_date: "", end_date: "" };
let app_id: number;

beforeAll(async () => {
  app_id = (await createApp(stage.desk, { name: "New" })).appId;
});

const stored = async () => (await loadShareRules(stage.pool, app_id)).map(shownShareRule);

test("the list of an app is replaced as a whole, in its order, and each change is logged", async () => {
  const first = {
    app_id,
    rules: [
      { os_platform: "ios", share: 0.7 },
      { share: 0.85, is_virtual: true },
    ],
  };
  expect(await setShares(stage.desk, first)).toEqual({
    pay_share: 1,
    rules: [
      { ...ANY, os_platform: "ios", share: 0.7 },
      { ...ANY, is_virtual: true, share: 0.85 },
    ],
  });
  const second = { app_id, rules: [{ channel: "c", end_date: "2026-11-30", share: 0 }] };
  await setShares(stage.desk, second);
  expect(await stored()).toEqual([{ ...ANY, ...second.rules[0] }]);
  expect((await stage.audit()).slice(-2)).toEqual([
    { action: "shares/set", appId: app_id, details: first },
    { action: "shares/set", appId: app_id, details: second },
  ]);
});

const set = (rules: object[], app = app_id) =>
  setShares(stage.desk, { app_id: app, rules: rules as { share: number }[] });

test.each<[string, () => Promise<unknown>, RegExp]>([
  ["a share above 1", () => set([{ share: 2 }]), /^rule 1: share must be between 0 and 1, with at most 4 decimals\.$/],
  ["a share below 0", () => set([{ share: -1 }]), /^rule 1: share must be between 0 and 1/],
  ["no share", () => set([{ channel: "c" }]), /share/],
  ["a share in words", () => set([{ share: "half" }]), /share must/],
  ["an overlap", () => set([{ share: 0.5 }, { share: 0.6 }]), /^rules 1 and 2 overlap: always and always/],
  ["a rule that never counts", () => set([{ share: 1 }, { share: 1, channel: "c" }]), /^rule 2 never counts/],
  ["a day that is none", () => set([{ share: 1, start_date: "soon" }]), /start_date/],
  ["an unknown app", () => set([], 99), /no app 99/],
])("%s is refused from every caller, and nothing is changed or logged", async (_, refused, sentence) => {
  const before = [await stored(), await stage.count("audit_log"), await stage.count("dirty_day")];
  await expect(refused()).rejects.toThrow(sentence);
  expect([await stored(), await stage.count("audit_log"), await stage.count("dirty_day")]).toEqual(before);
});
