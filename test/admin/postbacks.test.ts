import { beforeAll, expect, test } from "vitest";
import { createApp } from "../../src/admin/apps.ts";
import { resend } from "../../src/admin/operation/postbacks.ts";
import { setAccount } from "../../src/admin/setting/accounts.ts";
import { newUser } from "../../src/apply/facts/new-user.ts";
import { inTransaction } from "../../src/db/engine/pool.ts";
import { insertUsers } from "../../src/db/user-account.ts";
import { calendarOf } from "../../src/domain/calendar.ts";
import { DeskStage } from "./desk-stage.ts";

const stage = new DeskStage();
let app_id: number;

beforeAll(async () => {
  app_id = (await createApp(stage.desk, { name: "New" })).appId;
  await setAccount({ ...stage.desk, mayCallPrivate: false }, { app_id, ad_platform: "vivo" });
  const user = newUser({ appId: app_id, clientId: "u" }, 0, { calendar: calendarOf("Asia/Shanghai") });
  await inTransaction(stage.pool, (tx) => insertUsers(tx, [{ ...user, adPlatform: "vivo" }]));
  await stage.pool.query(
    `insert into postback (app_id, client_id, event_type, subject, status, back_cents) values ($1, 'u', 'pay', '', 2, 0)`,
    [app_id],
  );
});

const ONE = { client_id: "u", event_type: "pay", subject: "" };

test("postbacks are sent again and logged together, or neither", async () => {
  await stage.withoutAuditLog(async () => {
    await expect(resend(stage.desk, { app_id, postbacks: [ONE] })).rejects.toThrow(/audit_log/);
  });
  expect(await stage.count("outbox")).toBe(0);
  expect(await resend(stage.desk, { app_id, postbacks: [ONE] })).toMatchObject({ taken: 1, refused: {} });
  expect(await stage.count("outbox")).toBe(1);
  await resend(stage.desk, { app_id, status: 2, ad_platform: "vivo" });
  expect((await stage.audit()).slice(2)).toEqual([
    { action: "postback/resend", appId: app_id, details: { app_id, postbacks: "…" } },
    { action: "postback/resend", appId: app_id, details: { app_id, status: 2, ad_platform: "vivo" } },
  ]);
});

test.each<[string, () => Promise<unknown>, RegExp]>([
  ["an unknown app", () => resend(stage.desk, { app_id: 99, status: 2 }), /no app 99/],
  ["a wish for nothing", () => resend(stage.desk, { app_id }), /^Name either client_id/],
  ["an unknown platform", () => resend(stage.desk, { app_id, status: 2, ad_platform: "natural" }), /^ad_platform/],
  ["a client without any", () => resend(stage.desk, { app_id, client_id: "nobody" }), /no matching postback/],
])("%s is refused from every caller, and nothing is logged", async (_, refused, sentence) => {
  const before = await stage.count("audit_log");
  await expect(refused()).rejects.toThrow(sentence);
  expect(await stage.count("audit_log")).toBe(before);
});
