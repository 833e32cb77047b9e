import { createCipheriv } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { signedRequest } from "../../src/client/report-client.ts";
import { createAdminUser } from "../../src/db/admin-user.ts";
import type { App } from "../../src/db/app.ts";
import { storeCallback } from "../../src/db/callback.ts";
import { type DeveloperApp, decideDeveloperApp } from "../../src/db/developer-app.ts";
import { storeAccount } from "../../src/db/platform-account.ts";
import { storePlatformSecret } from "../../src/db/platform-secret.ts";
import { SEALED_COLUMNS } from "../../src/db/sealed.ts";
import { everywhere } from "../../src/domain/access/role.ts";
import { createLog } from "../../src/log.ts";
import { hashPassword } from "../../src/password.ts";
import { openVault, type Vault } from "../../src/vault.ts";
import { cli } from "../cli/run.ts";
import { ENDPOINTS, refresh } from "../http/endpoints.ts";
import { ask, BASE, type Row, track } from "../http/fixture.ts";
import { adReportOf, listOf, Reports, recentDays } from "../http/report/reports.ts";
import { Attempt, environment, ROOT } from "../process/launch.ts";
import { ADMIN, AdminCaller, adminTokenOf } from "../support/admin-caller.ts";
import { cleanUp, TouchpointProcess } from "../support/touchpoint.ts";

const MARK = "hush-3f9c";
const ACCOUNT_SECRETS = {
  access_token: `${MARK}-account`,
  client_secret: `${MARK}-client`,
  private_key: `${MARK}-pem`,
};
const CALLBACK_SECRET = `${MARK}-callback`;
const AKEY = `${MARK}-akey`;
const PASSWORD = `${MARK} is what the keeper says`;
const MEDIA_TOKEN = `${MARK}-media`;

/** One server at the most verbose log level, with every kind of secret in it. */
let server: TouchpointProcess;
let vault: Vault;
let reports: Reports;
let app: App;
let developer: DeveloperApp;
let session: string;
beforeAll(async () => {
  server = await TouchpointProcess.start({ env: { LOG_LEVEL: "trace", CALLBACK_PRIVATE_NETWORKS: "allow" } });
  vault = openVault({ dataDir: server.dataDir, secretKey: "" });
  reports = new Reports(server);
  app = await server.createApp();
  developer = await reports.developer();
  const pool = server.database();
  const { appId } = app;
  const account = { appId, advertiserId: "", postbacks: true, costs: true, ratePerS: 100, lastError: "" };
  const rest = {
    settings: {},
    secrets: ACCOUNT_SECRETS,
    tokenExpiresAtMs: null,
    refreshExpiresAtMs: null,
    authorisationId: null,
    lastErrorAtMs: null,
  };
  for (const adPlatform of ["tencent", "kuaishou"])
    await storeAccount(pool, vault, { ...account, ...rest, adPlatform }, 1);
  // No server listens there, so that messages about failures are checked too.
  const callback = { appId, url: "http://127.0.0.1:9/told", secret: CALLBACK_SECRET, enabled: true };
  await storeCallback(pool, vault, { ...callback, kind: "event", events: ["level_up"] }, 1);
  await storePlatformSecret(pool, vault, { appId, platform: "baidu", name: "akey", value: AKEY });
  const passwordHash = await hashPassword(PASSWORD);
  await createAdminUser(pool, { name: "keeper", grants: everywhere("admin"), passwordHash, nowMs: 1 });
  await pool.end();
  session = await signIn();
  await callEverything();
});
afterAll(async () => {
  await server.stop();
  await cleanUp(server.dataDir);
});

async function signIn(): Promise<string> {
  const body = JSON.stringify({ name: "keeper", password: PASSWORD });
  const answer = await fetch(`${server.url}/admin/api/v1/session/sign-in`, { method: "POST", body });
  const cookie = answer.headers.get("set-cookie") ?? "";
  expect(cookie).toMatch(/; HttpOnly; SameSite=Strict/);
  return /^touchpoint_session=([^;]+)/.exec(cookie)![1]!;
}

/** Calls every endpoint, validly and invalidly, with secrets in the right and in the wrong places. */
async function callEverything(): Promise<void> {
  await server.register(app, "u", { ad_data: { gdt_vid: "v" }, wx_openid: "openid" });
  for (const { method, path, call } of ENDPOINTS) {
    const { query, body } = path.includes("refresh") ? { body: refresh(app, MEDIA_TOKEN) } : call(app, "u");
    for (const access_token of [app.accessToken, app.appKey]) {
      await ask(server, method, `${BASE}/${path}/`, {
        query: { access_token, ...query },
        ...(body && { body: JSON.stringify(body) }),
      });
    }
  }
  await server.register(app, "u");
  const cipher = createCipheriv("aes-128-ecb", Buffer.from(app.aesKey, "base64"), null);
  const data = `${cipher.update('{"os_name":"android"}', "utf8", "base64")}${cipher.final("base64")}`;
  await server.post("user/device_info/", app, { data }, { query: { client_id: "u" } });
  await server.collect(app, "u", [track("level_up"), track("$PayEvent", { $order_id: "o", $pay_amount: 1 })]);
  await server.get(`${BASE}/event/click/`, { app_id: String(app.appId), company: "baidu", sign: AKEY, bd_vid: "b" });
  for (const [path, body] of [
    ["user/list", listOf(app)],
    ["order/list", listOf(app)],
    ["combo_sql", adReportOf(app)],
    ["combo_sql", adReportOf(app, { dims_list: [developer.appKey] })],
    ["user/list", listOf(app, { sign: app.appKey })],
  ] as const) {
    await reports.call(developer, path, body);
    const { authorization } = signedRequest(body, developer.appKey);
    await reports.send(path, `{"broken":"${app.appKey}`, { authorization });
  }
  const admin = new AdminCaller(server);
  await admin.get("developers");
  const account = { app_id: app.appId, ad_platform: "huawei", secrets: { secret_key: `${MARK}-huawei` } };
  expect(await admin.post("accounts/set", account)).toMatchObject({ code: 0 });
  await new AdminCaller(server, {}).post("session/sign-in", { name: PASSWORD, password: `${PASSWORD}x` });
  for (const path of ["developers/decide", "users/erase", "nowhere"]) await admin.post(path, "{");
  await fetch(`${server.url}${BASE}/event/stream?app_id=0`, { headers: { authorization: `Bearer ${app.appKey}` } });
  await fetch(`${server.url}/${developer.appKey}?app_key=${app.appKey}`);
  await exportEverything(admin);
  await server.settle();
}

/** Uses every way to show a secret or export data. */
async function exportEverything(admin: AdminCaller): Promise<void> {
  const { appId } = app;
  await admin.post("apps/keys", { app_id: appId });
  await admin.post("report/request-text", { ...adReportOf(app), developer_id: developer.developerId });
  await admin.post("report/request-text", adReportOf(app));
  const [from, to] = recentDays();
  const filter = { user_filtering: { client_id_list: ["u"] } };
  const what = [
    ["export", { app_id: appId, kind: "users", format: "csv", ...filter }],
    ["export", { app_id: appId, kind: "nothing" }],
    ["report/ad/csv", adReportOf(app)],
  ] as const;
  for (const [path, body] of what) {
    const init = { method: "POST", headers: admin.headers, body: JSON.stringify(body) };
    await (await fetch(`${server.url}${ADMIN}/${path}`, init)).text();
  }
  const onApp = ["--app", String(appId), "--from", from, "--to", to];
  for (const args of [
    ["app", "list", "--keys"],
    ["app", "list"],
    ["export", "orders", ...onApp],
  ])
    expect(await cli(server.dataDir, args)).toMatchObject({ code: 0 });
}

function secrets(): [string, string][] {
  return [
    ["app_key", app.appKey],
    ["aes_key", app.aesKey],
    ["the key of a developer application", developer.appKey],
    ["secrets of accounts, callbacks and platforms, media tokens", MARK],
    ["the admin token", adminTokenOf(server)],
    ["the token of a session", session],
    ["the key of the installation", readFileSync(join(server.dataDir, "secret.key"), "utf8").trim()],
  ];
}

/** Anyone who can read these files can read everything anyway. */
const OWN_FILES = ["secret.key", "postgres-connection.json"];

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** The content of a file, or nothing if the database has removed it meanwhile. */
function contentOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
}

describe("at rest", () => {
  test("no table holds a secret in the clear, and each holds it sealed", async () => {
    const pool = server.database();
    const { rows } = await pool.query<{ name: string }>(
      "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')",
    );
    let dump = "";
    for (const { name } of rows) {
      const table = await pool.query<{ row: string }>(`select to_jsonb(t)::text as row from "${name}" t`);
      dump += table.rows.map(({ row }) => row).join("\n");
    }
    await pool.end();
    for (const [what, secret] of secrets()) expect(dump.includes(secret), what).toBe(false);
    for (const table of ["app", "developer_app", "platform_account", "callback", "platform_secret", "media_token"]) {
      expect(rows.map(({ name }) => name)).toContain(table);
    }
    // App and aes keys of two apps, the developer application, two accounts, the callback, the akey, the media token.
    const sealed = [...dump.matchAll(/"(\w+)": "v1\.[\w-]{38,}"/g)].map(([, column]) => column!);
    expect(sealed.length).toBeGreaterThanOrEqual(10);
    const listed: readonly string[] = SEALED_COLUMNS.map(({ column }) => column);
    expect(
      sealed.filter((column) => !listed.includes(column)),
      "in a column that would be forgotten",
    ).toEqual([]);
  });

  test("no file holds a secret in the clear, neither the journal nor the database's own", () => {
    const pointer = join(server.dataDir, "postgres-folder");
    const folders = [server.dataDir, ...(existsSync(pointer) ? [readFileSync(pointer, "utf8").trim()] : [])];
    const files = folders.flatMap(filesOf).filter((path) => !OWN_FILES.some((name) => path.endsWith(name)));
    expect(files.some((path) => path.endsWith(".journal"))).toBe(true);
    expect(files.some((path) => path.includes("pg_wal"))).toBe(true);
    for (const path of files) {
      const bytes = contentOf(path);
      for (const [what, secret] of secrets()) expect(bytes.includes(secret), `${what} in ${path}`).toBe(false);
    }
  });

  test("everything in the data folder is readable only by its owner", () => {
    for (const path of filesOf(server.dataDir)) {
      if (path.endsWith("postgres-folder")) continue;
      expect((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077, path).toBe(0);
    }
    expect(statSync(join(server.dataDir, "secret.key")).mode & 0o777).toBe(0o600);
    expect(statSync(join(server.dataDir, "journal")).mode & 0o077).toBe(0);
  });
});

describe("in the log", () => {
  test("of a server called in every way, at the most verbose level, no secret appears", async () => {
    const { output } = server;
    const lines = output.split("\n").filter((line) => line.startsWith("{"));
    expect(lines.length).toBeGreaterThan(20);
    expect(output).toContain("A request was refused.");
    for (const [what, secret] of secrets()) expect(output.includes(secret), what).toBe(false);
    expect(output.includes(app.accessToken), "not even what every client has").toBe(false);
  });

  test("a value under a secret's name is left out, and an error is reduced to its message", async () => {
    const script = `
      import { createLog } from "${ROOT}dist/src/log.js";
      const secret = "${MARK}";
      const error = Object.assign(new Error("It failed."), { code: "23505", detail: secret, payload: { app_key: secret } });
      createLog("info").info({ app_key: secret, inner: { password: secret, sign: secret }, secret }, "a");
      createLog("info").error({ err: error }, "b");`;
    const attempt = new Attempt(process.execPath, ["--input-type=module", "-e", script], { env: environment({}) });
    expect(await attempt.ended()).toBe(0);
    expect(attempt.stdout).not.toContain(MARK);
    const [, failed] = attempt.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(failed.err).toEqual({ name: "Error", message: "It failed.", stack: expect.any(String), code: "23505" });
    expect(createLog("silent").level).toBe("silent");
  });
});

test("the audit log names every secret shown, every export and failed sign-ins, but no plain reads", async () => {
  const { data } = await new AdminCaller(server).get("audit");
  const logged = data.entries.map(({ action, actor, details }: Row) => ({ action, actor, ...details })).reverse();
  const byToken = { actor: "admin token" };
  const failed = logged.find(({ action }: Row) => action === "session/sign-in failed");
  // Not even the name of an unknown user: it was a password.
  expect(failed).toMatchObject({ actor: "unknown", by: ["password"], users: [], failures: 1 });
  const exported = logged
    .slice(logged.findIndex(({ action }: Row) => action === "apps/keys"))
    // It is written beside the answer, and may come later.
    .filter((entry: Row) => entry !== failed);
  expect(exported).toMatchObject([
    { ...byToken, action: "apps/keys", app_id: app.appId },
    { ...byToken, action: "report/request-text", developer_id: developer.developerId },
    { ...byToken, action: "export", kind: "users", format: "csv", user_filtering: "…" },
    { ...byToken, action: "report/ad/csv", app_id: app.appId },
    { actor: expect.stringMatching(/^command line \(.+\)$/), action: "apps/keys" },
    { actor: expect.stringMatching(/^command line/), action: "export", kind: "orders", format: "ndjson" },
  ]);
});

test("no answer to an admin holds a key, except that to an approval", async () => {
  const admin = new AdminCaller(server);
  const listed = await admin.get("developers");
  expect(JSON.stringify(listed.data)).not.toContain(developer.appKey);
  const approved = await admin.post("developers/decide", { id: developer.developerId, state: "approved" });
  expect(approved.data.app_key).toBe(developer.appKey);
});

test("a disabled developer application is refused from its next call on", async () => {
  const pool = server.database();
  const other = await reports.developer();
  expect(await reports.call(other, "user/list", listOf(app))).toMatchObject({ code: 0 });
  await decideDeveloperApp(pool, { ...other, state: "disabled", reason: "", decidedAtMs: 1 });
  await pool.end();
  expect(await reports.call(other, "user/list", listOf(app))).toMatchObject({ code: 2004 });
});

test("a revoked admin token is refused from then on", async () => {
  const old = new AdminCaller(server);
  const renewed = JSON.parse((await cli(server.dataDir, ["admin", "token", "--new", "--json"])).stdout).admin_token;
  expect(await old.get("apps")).toMatchObject({ code: 2002 });
  const renewedCaller = new AdminCaller(server, { authorization: `Bearer ${renewed}` });
  expect(await renewedCaller.get("apps")).toMatchObject({ code: 0 });
  expect((await cli(server.dataDir, ["admin", "token"])).stdout.trim()).toBe(renewed);
  const { entries } = (await renewedCaller.get("audit")).data;
  expect(entries.slice(0, 2).map(({ action }: Row) => action)).toEqual(["admin token", "admin token --new"]);
});
