import { beforeAll, expect, test } from "vitest";
import { createApp } from "../../src/admin/apps.ts";
import { dropAccount, setAccount } from "../../src/admin/setting/accounts.ts";
import { DeskStage } from "./desk-stage.ts";

const stage = new DeskStage();
let app_id: number;

beforeAll(async () => {
  app_id = (await createApp(stage.desk, { name: "New" })).appId;
});

type SetBody = Parameters<typeof setAccount>[1];
const set = (more: Partial<SetBody> = {}) =>
  setAccount({ ...stage.desk, mayCallPrivate: false }, { app_id, ad_platform: "vivo", ...more });

test("setting and removing an account is logged with its author, and without secrets", async () => {
  expect(
    await set({ settings: { src_id: "s" }, secrets: { access_token: "hidden-by-the-log" }, rate: 5 }),
  ).toMatchObject({
    ad_platform: "vivo",
    postbacks: "on",
    rate: 5,
    secrets: ["access_token"],
  });
  expect(await dropAccount(stage.desk, { app_id, ad_platform: "vivo" })).toEqual({ given_up: 0 });
  const key = { app_id, ad_platform: "vivo" };
  expect((await stage.audit()).slice(1)).toEqual([
    { action: "accounts/set", appId: app_id, details: { ...key, settings: { src_id: "s" }, secrets: "…", rate: 5 } },
    { action: "accounts/remove", appId: app_id, details: key },
  ]);
});

test("an account that cannot be logged is neither set nor removed", async () => {
  await stage.withoutAuditLog(async () => {
    await expect(set()).rejects.toThrow(/audit_log/);
  });
  expect(await stage.count("platform_account")).toBe(0);
  await set();
  await stage.withoutAuditLog(async () => {
    await expect(dropAccount(stage.desk, { app_id, ad_platform: "vivo" })).rejects.toThrow(/audit_log/);
  });
  expect(await stage.count("platform_account")).toBe(1);
});

test.each<[string, () => Promise<unknown>, RegExp]>([
  ["an unknown app", () => set({ app_id: 99 }), /no app 99/],
  ["an unknown platform", () => set({ ad_platform: "tiktok" }), /no accounts at "tiktok"/],
  ["an unknown field", () => set({ settings: { colour: "red" } }), /no field "colour"/],
  ["a long advertiser", () => set({ advertiser_id: "1".repeat(129) }), /^advertiser_id must/],
  ["a private address", () => set({ settings: { url: "http://127.0.0.1/" } }), /private network/],
  ["a negative rate", () => set({ rate: -1 }), /^rate must/],
  ["the removal of none", () => dropAccount(stage.desk, { app_id, ad_platform: "oppo" }), /no such account at oppo/],
  ["an unknown app's", () => dropAccount(stage.desk, { app_id: 99, ad_platform: "vivo" }), /no app 99/],
])("%s is refused from every caller, and nothing is logged", async (_, refused, sentence) => {
  const before = [await stage.count("platform_account"), await stage.count("audit_log")];
  await expect(refused()).rejects.toThrow(sentence);
  expect([await stage.count("platform_account"), await stage.count("audit_log")]).toEqual(before);
});
