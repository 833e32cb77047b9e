import { expect, test } from "vitest";
import { takenHistoryAnswer } from "../../../src/contract/admin/history.ts";
import type { App } from "../../../src/db/app.ts";
import { LIMITS } from "../../../src/limits.ts";
import { AdminCaller, consoleUser, dataOf } from "../../support/admin-caller.ts";
import { eventually } from "../../support/patience.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { DAY_MS, type Row, Tables } from "../fixture.ts";

const server = sharedServer();
const admin = new AdminCaller(server);
const analyst = consoleUser(server, "analyst");
const tables = new Tables(server);

const START = Date.UTC(2021, 0, 1);
const textOf = (lines: readonly Row[]) => lines.map((one) => `${JSON.stringify(one)}\n`).join("");
const line = (client_id: string, event: string, time: number, properties: Row = {}): Row => ({
  client_id,
  type: event.startsWith("profile_") ? "profile" : "track",
  event,
  time,
  properties,
});

const send = ({ appId }: App, text: string, more = "") =>
  admin.post(`events/import?app_id=${appId}${more}`, text === "" ? " " : text);
const take = async (app: App, lines: readonly Row[], more = "") =>
  dataOf(await send(app, textOf(lines), more), takenHistoryAnswer);

/** What the tables hold of an app, but for its id and the time of the import. */
async function factsOf(app: App): Promise<Row> {
  const facts: Row = {};
  for (const table of ["user_account", "event", "user_day", "orders"]) {
    const rows = await tables.query(
      `select to_jsonb(t) - 'app_id' - 'received_at_ms' - 'registration_received_at_ms' as fact
        from ${table} t where app_id = $1`,
      [app.appId],
    );
    facts[table] = rows.map(({ fact }) => JSON.stringify(fact)).sort();
  }
  return { ...facts, ledger: await tables.ledger(app) };
}

/** Events of many clients over a month, in an order of their own, with one that cannot be stored. */
function history(): Row[] {
  const lines = Array.from({ length: 120 }, (_, index) => {
    const client = `c${(index * 7) % 23}`;
    const time = START + ((index * 37) % 120) * (DAY_MS / 4);
    if (index % 11 === 0) return line(client, "$PayEvent", time, { $pay_amount: index, $order_id: `o-${index}` });
    if (index % 13 === 0) return line(client, "profile_set", time, { level: index, [`p${index % 3}`]: index });
    return line(client, "level_up", time, { index });
  });
  return [...lines.slice(0, 50), line("c1", "no name", START), ...lines.slice(50)];
}

test("the tables are the same however the lines are cut into calls", async () => {
  const lines = history();
  const whole = await server.createApp();
  expect(await take(whole, lines)).toMatchObject({ lines: 121, events: 121, registered: 23, rejected: 1 });
  const facts = await factsOf(whole);
  expect(facts.user_account).toHaveLength(23);
  expect(facts.ledger).toEqual({ received: 121, stored: 120, bad_name: 1 });
  for (const cut of [5, 64]) {
    const app = await server.createApp();
    for (let at = 0; at < lines.length; at += cut) await take(app, lines.slice(at, at + cut));
    expect(await factsOf(app), `calls of ${cut} lines`).toEqual(facts);
  }
});

test("a client is registered at its first event that can be stored, and not at all without one", async () => {
  const app = await server.createApp();
  const sent = [line("a", "e", 5), line("a", "e", START + 1), line("a", "e", START), line("never", "e", 5)];
  expect(await take(app, sent)).toMatchObject({ registered: 1, rejected: 2 });
  const users = await tables.users(app);
  expect([...users.keys()]).toEqual(["a"]);
  expect(users.get("a")).toMatchObject({
    registered_at_ms: START + 1,
    channel: "import",
    is_history: true,
    ip: "",
    ua: "",
  });
  expect(await tables.ledger(app)).toEqual({ received: 4, stored: 2, bad_time: 2 });
});

test("nothing of the operator's address is added to the events", async () => {
  const app = await server.createApp();
  await take(app, [line("a", "e", START, { level: 1 })]);
  expect((await tables.events(app)).map(({ properties }) => properties)).toEqual([{ level: 1 }]);
});

test("a client that is registered stays as it is, also when its registration is not in the tables yet", async () => {
  const app = await server.createApp();
  await server.register(app, "a", { name: "Known" });
  expect(await take(app, [line("a", "e", START)])).toMatchObject({ registered: 0 });
  expect(await tables.user(app, "a")).toMatchObject({ name: "Known", channel: "c", is_history: false });
});

test("an app that requires no registration gets none", async () => {
  const app = await server.createApp();
  await tables.changeSettings("update app set require_registration = false where app_id = $1", [app.appId]);
  await eventually(async () =>
    expect(await server.collect(app, "other", [line("", "e", Date.now())])).toMatchObject({ code: 0 }),
  );
  expect(await take(app, [line("a", "e", START)])).toMatchObject({ registered: 0, rejected: 0 });
  expect(await tables.user(app, "a")).toMatchObject({ is_registered: false });
});

test("register=no refuses the events of unknown clients, line by line, and the journal never sees them", async () => {
  const app = await server.createApp();
  await server.register(app, "known");
  const sent = [line("known", "e", START), line("unknown", "e", START)];
  expect(await take(app, sent, "&register=no")).toEqual({
    lines: 2,
    events: 2,
    registered: 0,
    rejected: 1,
    errors: [
      {
        line: 2,
        client_id: "unknown",
        event: "e",
        reason: "unregistered",
        message: "This client_id is not registered yet.",
      },
    ],
  });
  expect(await tables.ledger(app)).toEqual({ received: 1, stored: 1 });
});

test("an answer with many errors covers the first lines only, and the rest can be sent next", async () => {
  const app = await server.createApp();
  const bad = Array.from({ length: 2_000 }, (_, index) => line("a", "no name", START + index));
  const first = await take(app, bad);
  expect(first.errors.length).toBeLessThanOrEqual(LIMITS.errorsListed);
  expect(first.errors).toHaveLength(first.lines);
  const second = await take(app, bad.slice(first.lines));
  expect(first.lines + second.lines).toBeLessThan(2_001);
  expect(second.errors[0]).toMatchObject({ line: 1, reason: "bad_name" });
  expect((await tables.ledger(app)).received).toBe(first.lines + second.lines);
});

test("a line that is no event refuses the call, unless lines before it were taken", async () => {
  const app = await server.createApp();
  const good = textOf(Array.from({ length: 600 }, (_, index) => line("a", "e", START + index)));
  expect(await send(app, `\n{}\n${good}`)).toMatchObject({ code: 1004, msg: "Line 2 has no client_id." });
  expect(await tables.ledger(app)).toEqual({});
  const taken = dataOf(await send(app, `${good}nonsense\n`), takenHistoryAnswer);
  expect(taken).toMatchObject({ events: taken.lines, rejected: 0 });
  expect(taken.lines).toBeLessThan(601);
});

test("an import is an admin's, for an app that is not disabled, and noted in the audit log without its events", async () => {
  const app = await server.createApp();
  const path = `events/import?app_id=${app.appId}`;
  expect(await analyst.post(path, textOf([line("a", "e", START)]))).toMatchObject({ code: 2004 });
  expect(await admin.post("events/import", "x")).toMatchObject({ code: 1004 });
  expect(await admin.post("events/import?app_id=999999999", "x")).toMatchObject({ code: 2001 });
  await take(app, [line("secret-client", "e", START)]);
  await tables.changeSettings("update app set enabled = false where app_id = $1", [app.appId]);
  await eventually(async () =>
    expect(await send(app, textOf([line("a", "e", START)]))).toMatchObject({
      code: 2001,
      msg: "This app is disabled.",
    }),
  );
  const [noted] = await tables.query(
    "select details from audit_log where app_id = $1 and action = 'events/import' order by audit_id limit 1",
    [app.appId],
  );
  expect(noted).toEqual({ details: { app_id: app.appId, lines: 1 } });
});
