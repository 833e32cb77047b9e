import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { Tables } from "../http/fixture.ts";
import { Attempt, CLI, environment } from "../process/launch.ts";
import { sharedServer } from "../support/shared-server.ts";
import { cli, cliJson, expectFailure, expectWrongArguments } from "./run.ts";

const server = sharedServer();
const tables = new Tables(server);
const { dataDir } = server;
const of = (app: App, ...args: string[]) => [...args, "--app", String(app.appId)];
const run = (app: App, ...args: string[]) => cli(dataDir, of(app, ...args));
const runJson = (app: App, ...args: string[]) => cliJson(dataDir, of(app, ...args));
const NOBODY = { appId: 999_999_999 } as App;

describe("account", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "touchpoint-secret-"));
    writeFileSync(join(folder, "key.pem"), "-----BEGIN\nkey\n-----END\n");
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test("fields lists the settings of a platform's account", async () => {
    const fields = await cliJson(dataDir, ["account", "fields", "--platform", "gdt"]);
    expect(fields.find((field: any) => field.name === "access_token")).toEqual({
      name: "access_token",
      secret: true,
      fallback: "",
      for: "postbacks, costs",
      hint: "Token of the marketing interface.",
    });
    expect(fields.find((field: any) => field.name === "repeats")).toMatchObject({ secret: false, fallback: "no" });
    const { stdout } = await cli(dataDir, ["account", "fields", "--platform", "asa"]);
    expect(stdout).toMatch(/^name +secret +fallback +for +hint\n/);
    expect(stdout).toMatch(/\nprivate_key +yes +costs +Private key/);
    expectFailure(
      await cli(dataDir, ["account", "fields", "--platform", "tiktok"]),
      /^There are no accounts at "tiktok"/,
    );
  });

  test("set creates an account, and later changes only what is named", async () => {
    const app = await server.createApp();
    const key = ["account", "set", "--platform", "gdt", "--advertiser", "77"];
    const made = await runJson(
      app,
      ...key,
      "--set",
      "client_id=c",
      "--secret",
      "access_token=hidden-a",
      "--rate",
      "20",
    );
    const base = {
      ad_platform: "tencent",
      advertiser_id: "77",
      token_expires_at: "",
      refresh_expires_at: "",
      refresh_state: "lasts",
      last_error: "",
      last_error_at: "",
    };
    expect(made).toEqual({
      ...base,
      postbacks: "on",
      costs: "off",
      rate: 20,
      settings: { client_id: "c" },
      secrets: ["access_token"],
    });
    const pem = `client_secret=@${join(folder, "key.pem")}`;
    const changed = await runJson(
      app,
      ...key,
      "--secret",
      pem,
      "--set",
      "repeats=yes",
      "--costs",
      "on",
      "--postbacks",
      "off",
    );
    expect(changed).toEqual({
      ...base,
      postbacks: "off",
      costs: "on",
      rate: 20,
      settings: { client_id: "c", repeats: "yes" },
      secrets: ["access_token", "client_secret"],
    });
    const taken = await runJson(app, ...key, "--set", "client_id=", "--secret", "access_token=");
    expect(taken).toMatchObject({ settings: { repeats: "yes" }, secrets: ["client_secret"] });
    expect(await runJson(app, "account", "list")).toEqual([taken]);
  });

  test("list names the accounts whose authorisation ends within days, or has ended, below the table", async () => {
    const app = await server.createApp();
    const made = (id: string) => run(app, "account", "set", "--platform", "bytedance", "--advertiser", id);
    for (const id of ["1", "2", "3"]) await made(id);
    const end = (id: string, atMs: number) =>
      tables.query("update platform_account set refresh_expires_at_ms = $3 where app_id = $1 and advertiser_id = $2", [
        app.appId,
        id,
        atMs,
      ]);
    await end("1", Date.now() + 60_000);
    await end("2", Date.now() - 60_000);
    await end("3", Date.now() + 30 * 86_400_000);
    const { stdout } = await run(app, "account", "list");
    const warnings = stdout.split("\n").filter((line) => line.startsWith("The authorisation"));
    expect(warnings).toEqual([
      expect.stringMatching(/^The authorisation of bytedance 1 ends at 20\S+ \S+: connect it again in the console\.$/),
      expect.stringMatching(/^The authorisation of bytedance 2 ended at 20\S+ \S+: connect it again in the console\.$/),
    ]);
    // Health, which others look at, is about all apps.
    await tables.query("delete from platform_account where app_id = $1", [app.appId]);
  });

  test("a secret can come from standard input, is encrypted at rest, and is never shown", async () => {
    const app = await server.createApp();
    const args = of(app, "account", "set", "--platform", "vivo", "--secret", "access_token=-", "--json");
    const attempt = new Attempt(process.execPath, [CLI, ...args], {
      env: environment({ DATA_DIR: dataDir }),
      stdio: ["pipe", "pipe", "pipe"],
    });
    attempt.child.stdin!.end("hidden-by-pipe\n");
    expect(await attempt.ended()).toBe(0);
    const shown = [attempt.stdout, JSON.stringify(await runJson(app, "account", "list"))];
    shown.push((await run(app, "account", "list")).stdout, (await cli(dataDir, ["postback", "status"])).stdout);
    const rows = await tables.query("select to_jsonb(a) as row from platform_account a where app_id = $1", [app.appId]);
    for (const text of [...shown, JSON.stringify(rows)]) expect(text).not.toContain("hidden-by-pipe");
    expect(shown[0]).toContain('"secrets":["access_token"]');
  });

  test("set and remove are logged with their author, as from the console", async () => {
    const app = await server.createApp();
    await runJson(app, "account", "set", "--platform", "vivo", "--set", "src_id=s");
    await runJson(app, "account", "remove", "--platform", "vivo");
    const sentence = "select actor, action, details from audit_log where app_id = $1 order by audit_id";
    const actor = expect.stringMatching(/^command line \(.+\)$/);
    const key = { app_id: app.appId, ad_platform: "vivo" };
    expect(await tables.query(sentence, [app.appId])).toEqual([
      { actor, action: "accounts/set", details: { ...key, settings: { src_id: "s" } } },
      { actor, action: "accounts/remove", details: key },
    ]);
  });

  test("Apple has costs only, and costs need an advertiser", async () => {
    const app = await server.createApp();
    const apple = ["account", "set", "--platform", "apple"];
    expectFailure(await run(app, ...apple), /^Costs are pulled per advertiser/);
    expectFailure(await run(app, ...apple, "--advertiser", "7", "--postbacks", "on"), /^asa does not accept postbacks/);
    expect(await runJson(app, ...apple, "--advertiser", "7")).toMatchObject({ postbacks: "off", costs: "on" });
  });

  test("an address of a private network is refused, unless the settings allow it", async () => {
    const app = await server.createApp();
    const args = of(app, "account", "set", "--platform", "vivo", "--set", "url=http://10.0.0.1/");
    const refused = await cli(dataDir, args, { PLATFORM_PRIVATE_NETWORKS: "refuse" });
    expectFailure(refused, /^url: 10\.0\.0\.1 is an address of a private network; PLATFORM_PRIVATE_NETWORKS=allow/);
    expect(await cli(dataDir, args, { PLATFORM_PRIVATE_NETWORKS: "allow" })).toMatchObject({ code: 0 });
  });

  test("failures are one sentence, and nothing is stored", async () => {
    const app = await server.createApp();
    const refused: [string[], RegExp][] = [
      [["--platform", "tiktok"], /^There are no accounts at "tiktok"/],
      [
        ["--platform", "vivo", "--set", "colour=red"],
        /^An account at vivo has no field "colour"; its fields are route, access_token, /,
      ],
      [["--platform", "vivo", "--set", "access_token=t"], /^access_token is a secret/],
      [["--platform", "vivo", "--secret", "src_id=s"], /^src_id is not a secret/],
      [["--platform", "vivo", "--secret", "access_token=@/nowhere/at/all"], /^The secret cannot be read/],
      [["--platform", "vivo", "--rate", "10001"], /^rate must be/],
      [["--platform", "vivo", "--advertiser", "1 2"], /^advertiser_id must be/],
    ];
    const fails = async ([args, sentence]: [string[], RegExp]) =>
      expectFailure(await run(app, "account", "set", ...args), sentence);
    await Promise.all(refused.map(fails));
    expectFailure(await run(app, "account", "remove", "--platform", "vivo"), /no such account at vivo/);
    expectFailure(await run(NOBODY, "account", "list"), /no app/);
    expectWrongArguments(await run(app, "account", "set", "--platform", "vivo", "--costs", "yes"), /--costs/);
    expectWrongArguments(await run(app, "account", "set", "--platform", "vivo", "--set", "novalue"), /name=value/);
    expectWrongArguments(await run(app, "account", "set", "--platform", "vivo", "--rate", "fast"), /--rate/);
    expectWrongArguments(await run(app, "account", "set"), /--platform/);
    expect(await runJson(app, "account", "list")).toEqual([]);
    expect((await run(app, "account", "list")).stdout).toBe("(none)\n");
  });
});

describe("callback", () => {
  const EVENT = [
    "callback",
    "set",
    "--kind",
    "event",
    "--url",
    "https://example.com/e",
    "--events",
    "level_up,$PayEvent",
  ];

  test("set creates a secret and shows it once; list and remove work", async () => {
    const app = await server.createApp();
    const events = ["level_up", "$PayEvent"];
    const made = await runJson(app, ...EVENT);
    expect(made).toEqual({
      kind: "event",
      url: "https://example.com/e",
      events,
      secret: expect.stringMatching(/^[\w-]{32}$/),
    });
    expect(createHmac("sha256", made.secret).update("x").digest("hex")).toHaveLength(64);
    expect(await runJson(app, ...EVENT), "the secret stays").not.toHaveProperty("secret");
    const url = "https://example.com/a?c=__CLIENT_ID__&p=__AD_PLATFORM__";
    const attribution = await runJson(app, "callback", "set", "--kind", "attribution", "--url", url);
    expect(attribution).toEqual({ kind: "attribution", url, events: [] });
    const shown = await runJson(app, "callback", "list");
    expect(shown).toEqual([attribution, { kind: "event", url: "https://example.com/e", events }]);
    expect(JSON.stringify(shown)).not.toContain(made.secret);
    expect(await runJson(app, "callback", "remove", "--kind", "event")).toEqual({ given_up: 0 });
    expect(await runJson(app, "callback", "list")).toEqual([attribution]);
    await run(app, "callback", "remove", "--kind", "attribution");
    expect((await run(app, "callback", "list")).stdout).toBe("(none)\n");
  });

  test("calls still waiting for a removed callback fail", async () => {
    const app = await server.createApp();
    await server.register(app, "u");
    const rest = [app.appId, "u", "$event", "f"];
    await tables.query(
      `insert into postback (app_id, client_id, event_type, subject, status, back_cents) values ($1, $2, $3, $4, 0, 0)`,
      rest,
    );
    await tables.query(
      `insert into outbox (app_id, client_id, event_type, subject, lane, due_at_ms, attempts, in_flight, content)
       values ($1::int, $2, $3, $4, $1::int || ' $event', 9e15, 2, false, '{}')`,
      rest,
    );
    expect(await runJson(app, "callback", "remove", "--kind", "event")).toEqual({ given_up: 1 });
    expect(await runJson(app, "postback", "list", "--event-type", "$event")).toMatchObject([
      { status_text: "given up", reason: "The callback was removed.", attempts: 2 },
    ]);
  });

  test("failures are one sentence", async () => {
    const app = await server.createApp();
    const set = (...args: string[]) => run(app, "callback", "set", ...args);
    const attribution = (url: string) => set("--kind", "attribution", "--url", url);
    expectFailure(await attribution("example.com"), /^url must be an address/);
    expectFailure(
      await attribution("https://example.com/__NOPE__"),
      /^url: __NOPE__ is not a macro; these are: __APP_ID__/,
    );
    expectFailure(await attribution("http://10.0.0.1/"), /^url: 10\.0\.0\.1 is an address of a private network/);
    expectFailure(await set("--kind", "event", "--url", "https://example.com/"), /^events must name at least one/);
    expectFailure(await run(app, "callback", "remove", "--kind", "event"), /has no callback of kind event/);
    expectWrongArguments(await set("--kind", "other", "--url", "https://example.com/"), /--kind/);
    const args = of(app, "callback", "set", "--kind", "attribution", "--url", "http://10.0.0.1/");
    expect(await cli(dataDir, args, { CALLBACK_PRIVATE_NETWORKS: "allow" })).toMatchObject({ code: 0 });
    expect(await runJson(app, "callback", "list")).toHaveLength(1);
    await run(app, "callback", "remove", "--kind", "attribution");
  });
});
