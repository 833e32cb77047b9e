import { describe, expect, test } from "vitest";
import { routeValidatorOf } from "../../src/contract/validation.ts";
import { CODES } from "../../src/errors.ts";
import { sharedServer } from "../support/shared-server.ts";
import { ENDPOINTS } from "./endpoints.ts";
import { BASE, DAY_MS, HOUR_MS, profile, type Row, Tables, track } from "./fixture.ts";

const server = sharedServer();
const tables = new Tables(server);

test("/healthz says that the process is alive", async () => {
  const answer = await server.get("/healthz");
  expect(answer).toMatchObject({ status: 200, code: 0, msg: "success", data: { status: "alive" }, extra: {} });
});

test("/readyz says that data is accepted and that the database is there", async () => {
  const answer = await server.get("/readyz");
  expect(answer).toMatchObject({ status: 200, code: 0, data: { status: "ready", database: "there" } });
});

test.each(["/healthz/", "/readyz/", "/progress/"])("%s answers with the trailing slash too", async (path) => {
  expect(await server.get(path)).toMatchObject({ status: 200, code: 0 });
});

test("/progress shows a journal that grows and is applied", async () => {
  const app = await server.appWith(["a"]);
  const { data: before } = await server.get("/progress");
  await server.collect(app, "a", [track("e")]);
  const { data: after } = await server.get("/progress");
  expect(after.durable).toBeGreaterThan(before.durable);
  await server.settle();
  const { data: settled } = await server.get("/progress");
  expect(settled.applied).toBeGreaterThanOrEqual(after.durable);
  expect(settled.backlog_bytes).toBeGreaterThanOrEqual(0);
});

describe("/metrics", () => {
  async function metrics(): Promise<{ text: string; value: (name: string) => number }> {
    const response = await fetch(`${server.url}/metrics`);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toMatch(/^text\/plain/);
    const text = await response.text();
    const values = new Map(
      text
        .split("\n")
        .filter((line) => line !== "" && !line.startsWith("#"))
        .map((line): [string, number] => [line.slice(0, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]),
    );
    return { text, value: (name) => values.get(name) ?? 0 };
  }

  test.each([
    "touchpoint_requests_total",
    "touchpoint_request_seconds",
    "touchpoint_events_total",
    "touchpoint_set_aside_total",
    "touchpoint_journal_fsync_seconds",
    "touchpoint_journal_records_total",
    "touchpoint_journal_depth_bytes",
    "touchpoint_journal_waiting_bytes",
    "touchpoint_apply_lag_ms",
    "touchpoint_event_loop_delay_ms",
    "touchpoint_large_bodies",
    "touchpoint_intake_threads",
    "touchpoint_intake_thread_bodies_total",
    "touchpoint_bodies_in_flight_bytes",
    "touchpoint_refused_total",
    "touchpoint_disk_free_bytes",
    "touchpoint_resident_memory_bytes",
    "touchpoint_build_info",
    "touchpoint_database_up",
    "touchpoint_postbacks_waiting",
    "touchpoint_postback_due_age_seconds",
    "touchpoint_cube_lag_seconds",
    "touchpoint_set_aside_entries",
    "touchpoint_cost_pull_age_seconds",
    "touchpoint_refresh_tokens_ending",
  ])("has %s with its help and type", async (name) => {
    const { text } = await metrics();
    expect(text).toMatch(new RegExp(`^# HELP ${name} \\S.*\\.$`, "m"));
    expect(text).toMatch(new RegExp(`^# TYPE ${name} (counter|gauge|histogram)$`, "m"));
  });

  test("counts requests by endpoint and code, events by outcome, and journal records", async () => {
    const app = await server.appWith(["a"]);
    const before = await metrics();
    const event = track("e");
    await server.collect(app, "a", [event, event, track("bad name")]);
    await server.collect(app, "stranger", [event]);
    await server.post("event/collect/", app, "{");
    await server.settle();
    // The answer is sent a moment before it is counted.
    const grows = (name: string, by: number) =>
      expect.poll(async () => (await metrics()).value(name) - before.value(name)).toBeGreaterThanOrEqual(by);
    await grows('touchpoint_requests_total{endpoint="event/collect",code="0"}', 1);
    await grows('touchpoint_requests_total{endpoint="event/collect",code="2000"}', 1);
    await grows('touchpoint_requests_total{endpoint="event/collect",code="1001"}', 1);
    await grows('touchpoint_request_seconds_count{endpoint="event/collect"}', 3);
    await grows('touchpoint_events_total{outcome="received"}', 3);
    await grows('touchpoint_events_total{outcome="stored"}', 1);
    await grows('touchpoint_events_total{outcome="duplicate"}', 1);
    await grows('touchpoint_events_total{outcome="bad_name"}', 1);
    await grows("touchpoint_journal_records_total", 1);
    await grows("touchpoint_journal_fsync_seconds_count", 1);
  });

  test("reveals no secret and no client", async () => {
    const app = await server.createApp();
    await server.register(app, "a-very-private-client");
    const { text } = await metrics();
    for (const secret of [app.accessToken, app.appKey, app.aesKey, "a-very-private-client"])
      expect(text).not.toContain(secret);
  });
});

describe("/openapi.json", () => {
  const openApi = async (): Promise<Row> => (await fetch(`${server.url}/openapi.json`)).json() as Promise<Row>;
  const operation = async (method: string, path: string): Promise<Row> => {
    const { paths } = await openApi();
    const entry = paths[`${BASE}/${path}`] ?? paths[`${BASE}/${path}/`];
    return entry?.[method.toLowerCase()];
  };

  test("is an OpenAPI document", async () => {
    expect(await openApi()).toMatchObject({ openapi: expect.stringMatching(/^3\./), info: { title: "Touchpoint" } });
  });

  test.each(ENDPOINTS.map(({ method, path }) => [method, path]))(
    "lists %s %s with its token and answer",
    async (method, path) => {
      const listed = await operation(method!, path!);
      expect(listed).toMatchObject({ summary: expect.stringMatching(/\S/) });
      expect(listed.parameters.map(({ name }: Row) => name)).toContain("access_token");
      expect(JSON.stringify(listed.responses["200"])).toMatch(/"code".*"msg".*"data".*"extra"/);
    },
  );

  test.each(["/healthz", "/readyz", "/metrics", "/progress", `${BASE}/event/stream`])("lists %s", async (path) => {
    expect((await openApi()).paths[path]).toHaveProperty("get");
  });

  test("names the required fields", async () => {
    const body = async (path: string) => (await operation("POST", path)).requestBody.content["application/json"].schema;
    expect((await body("event/collect")).required).toEqual(["client_id", "event_list"]);
    expect((await body("user/register")).required).toEqual(["client_id", "name", "channel", "version"]);
    expect((await body("user/register/attributed")).required).toHaveLength(12);
    expect((await body("base/wx/access_token/refresh")).required).toEqual(["wx_access_token", "current_time", "sign"]);
    expect((await body("event/consumer_event")).required).toEqual(["event_type", "ts"]);
  });

  test("has only schemas that compile, which otherwise shows only at the first request", async () => {
    const { paths } = await openApi();
    const operations = Object.values(paths as Row).flatMap((path) => Object.values(path as Row));
    const schemas = operations.flatMap(({ parameters = [], requestBody }): object[] => [
      ...parameters.map(({ schema }: Row) => schema),
      ...Object.values((requestBody?.content ?? {}) as Row).map(({ schema }) => schema),
    ]);
    expect(schemas.length).toBeGreaterThan(100);
    for (const schema of schemas) expect(() => routeValidatorOf(schema)({}), JSON.stringify(schema)).not.toThrow();
    expect(() => routeValidatorOf({ type: "strange" })({}), "a schema that cannot").toThrow();
  });

  test("marks the consumer event as deprecated", async () => {
    expect(await operation("POST", "event/consumer_event")).toMatchObject({ deprecated: true });
  });
});

test("/docs is a page that shows every endpoint", async () => {
  const home = await fetch(`${server.url}/docs`);
  const page = await home.text();
  expect(home.headers.get("content-type")).toMatch(/^text\/html/);
  expect(page).toMatch(/^<!doctype html>/i);
  for (const { method, path } of ENDPOINTS) expect(page).toContain(`${method} ${BASE}/${path}`);
});

describe("the ledger", () => {
  test("received is the sum of all other outcomes, whatever was sent", async () => {
    const app = await server.appWith(["a"]);
    const now = Date.now();
    const good = track("good", { n: 1 });
    const mix = [
      good,
      good,
      track("other", { "bad name": 1 }),
      profile("profile_set", { a: 1 }),
      track("bad name"),
      track("$NoPreset"),
      { ...track("x"), type: "user_del" },
      profile("profile_unknown"),
      track("x", "text"),
      track("x", {}, "text"),
      track("x", {}, now - 11 * DAY_MS),
      track("x", {}, now + 2 * HOUR_MS),
      null,
    ];
    await server.collect(app, "a", mix);
    await server.collect(app, "a", mix);
    await server.collect(app, "stranger", mix);
    await server.post(
      "event/consumer_event/",
      app,
      { event_type: "PAY", ts: now, amount: 1 },
      { query: { client_id: "a" } },
    );
    const { received, ...outcomes } = await tables.ledger(app);
    expect(received).toBe(2 * mix.length + 1);
    expect(outcomes).toEqual({
      stored: 4,
      duplicate: 5,
      bad_name: 4,
      bad_type: 6,
      bad_properties: 2,
      bad_time: 2,
      too_old: 2,
      too_new: 2,
    });
    expect(Object.values(outcomes).reduce((sum, events) => sum + events, 0)).toBe(received);
    expect(await tables.events(app)).toHaveLength(outcomes.stored!);
  });

  test("adds up in every single minute", async () => {
    const app = await server.appWith(["a"]);
    const event = track("e");
    await Promise.all(
      Array.from({ length: 10 }, () => server.collect(app, "a", [event, track("bad name"), track("f")])),
    );
    await server.settle();
    const minutes = await tables.query(
      `select minute_ms, (sum(events) filter (where outcome = 'received'))::int as received,
        (sum(events) filter (where outcome <> 'received'))::int as others
        from ledger_minute where app_id = $1 group by minute_ms`,
      [app.appId],
    );
    expect(minutes.length).toBeGreaterThan(0);
    for (const { received, others } of minutes) expect(others).toBe(received);
    expect(minutes.reduce((sum, { received }) => sum + received, 0)).toBe(30);
  });

  test("a request refused as a whole leaves no trace in it", async () => {
    const app = await server.appWith(["a"]);
    const codes = [
      (await server.collect(app, "stranger", [track("e")])).code,
      (await server.collect(app, "a", [])).code,
      (await server.post("event/collect/", app, "{")).code,
    ];
    expect(codes).toEqual([CODES.notRegistered.code, CODES.badParameter.code, CODES.badJson.code]);
    expect(await tables.ledger(app)).toEqual({});
  });
});
