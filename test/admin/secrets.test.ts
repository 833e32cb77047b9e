import { expect, test } from "vitest";
import { createApp, showKeys } from "../../src/admin/apps.ts";
import { adminToken, currentAdminToken, renewAdminToken, showAdminToken } from "../../src/admin/session/admin-token.ts";
import { createDeveloper, decideDeveloper, showSigningKey } from "../../src/admin/setting/developers.ts";
import { loadInstallation } from "../../src/db/installation.ts";
import { ApiError } from "../../src/errors.ts";
import { vault } from "../db/temp-database.ts";
import { DeskStage } from "./desk-stage.ts";

const stage = new DeskStage();
const newest = async () => (await stage.audit()).at(-1);
const question = {
  date_list: ["2024-06-15"],
  statistics_caliber: "user_activated_time",
  decimal_point: 2,
  metrics_list: ["AppROI"],
  dims_list: [],
};

test("an app's secrets are shown to somebody who is noted, of one app or of all", async () => {
  const { appId, appKey } = await createApp(stage.desk, { name: "One" });
  const other = await createApp(stage.desk, { name: "Other" });
  expect((await showKeys(stage.desk, { app_id: appId })).map((app) => app.appKey)).toEqual([appKey]);
  expect(await newest()).toEqual({ action: "apps/keys", appId, details: { app_id: appId } });
  expect((await showKeys(stage.desk, {})).map((app) => app.appKey).sort()).toEqual([appKey, other.appKey].sort());
  expect(await newest()).toEqual({ action: "apps/keys", appId: null, details: {} });
  await stage.withoutAuditLog(async () => {
    await expect(showKeys(stage.desk, {})).rejects.toThrow(/audit_log/);
  });
  const before = await stage.count("audit_log");
  await expect(showKeys(stage.desk, { app_id: 99 })).rejects.toThrow(/no app 99/);
  expect(await stage.count("audit_log")).toBe(before);
});

test("the admin token is shown and renewed by somebody who is noted", async () => {
  await stage.pool.query(
    "insert into installation (is_only, key_fingerprint, admin_token_generation) values (true, $1, 0) on conflict do nothing",
    [vault.fingerprint],
  );
  const first = await showAdminToken(stage.desk);
  expect(first).toBe(adminToken(vault));
  expect(await newest()).toEqual({ action: "admin token", appId: null, details: {} });
  const second = await renewAdminToken(stage.desk);
  expect([second, await currentAdminToken(stage.pool, vault)]).toEqual([adminToken(vault, 1), second]);
  expect(await newest()).toEqual({ action: "admin token --new", appId: null, details: {} });
  await stage.withoutAuditLog(async () => {
    await expect(renewAdminToken(stage.desk)).rejects.toThrow(/audit_log/);
  });
  expect(await loadInstallation(stage.pool)).toMatchObject({ adminTokenGeneration: 1 });
});

test("the key of a developer application is shown to somebody who is noted, unless it may not make the call", async () => {
  const { appId } = await createApp(stage.desk, { name: "Asked" });
  const { developerId: developer_id } = await createDeveloper(stage.desk, { name: "BI", apps: "all" });
  const { appKey } = await decideDeveloper(stage.desk, { id: developer_id, state: "approved" });
  const body = { app_id: appId, developer_id, ...question } as Parameters<typeof showSigningKey>[1];
  expect(await showSigningKey(stage.desk, body, async () => {})).toBe(appKey);
  expect(await newest()).toEqual({ action: "report/request-text", appId, details: body });
  const before = await stage.count("audit_log");
  const refuse = async () => {
    throw new ApiError("notGranted", "not granted");
  };
  await expect(showSigningKey(stage.desk, body, refuse)).rejects.toThrow("not granted");
  const unknown = { ...body, developer_id: 99 };
  await expect(showSigningKey(stage.desk, unknown, async () => {})).rejects.toThrow(/no developer application/);
  expect(await stage.count("audit_log")).toBe(before);
});
