import { beforeAll, describe, expect, test } from "vitest";
import { refundPreviewAnswer, takenRefundsAnswer } from "../../../src/contract/admin/refund.ts";
import type { App } from "../../../src/db/app.ts";
import { AdminCaller, consoleUser, dataOf } from "../../support/admin-caller.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { type Row, Tables } from "../fixture.ts";
import { collect, payment, register } from "../report/list-people.ts";

const server = sharedServer();
const admin = new AdminCaller(server);
const analyst = consoleUser(server, "analyst");
const tables = new Tables(server);

let app: App;
beforeAll(async () => {
  app = await server.createApp();
  await register(server, app, "payer", {});
});

const pays = (order: string, cents: number) => collect(server, app, "payer", payment(order, cents));
const fileOf = (...lines: string[]) => ({ app_id: app.appId, csv: `order_id,amount,time\n${lines.join("\n")}\n` });
const preview = async (...lines: string[]) =>
  dataOf(await admin.post("refund/import/preview", fileOf(...lines)), refundPreviewAnswer);
const take = async (...lines: string[]) =>
  dataOf(await admin.post("refund/import", fileOf(...lines)), takenRefundsAnswer);
const TIME = "2025-03-20 10:00:00";

/** What the console lists of an order: amount, refunds, when, and what is left. */
async function listed(order: string): Promise<unknown[]> {
  const body = { app_id: app.appId, user_filtering: {}, event_filtering: { TraceID: [order] } };
  const { list } = (await admin.post("report/orders", body)).data;
  return list.map((row: Row) => [row.Amount, row.RefundAmount, row.RefundTime, row.NetAmount]);
}

describe("a file of refunds", () => {
  test("is previewed, imported through the journal, and counts once however often it is imported", async () => {
    await pays("o-1", 1_000);
    await server.settle();
    const line = `o-1,3.00,${TIME}`;
    expect(await preview(line)).toMatchObject({
      rows: { new: 1, replaces: 0, same: 0 },
      unknown_orders: 0,
      first_rows: [{ line: 2, state: "new", values: { order_id: "o-1", amount: 3, time: TIME, currency: "CNY" } }],
    });
    expect(await listed("o-1")).toEqual([[1_000, 0, "-", 1_000]]);
    const taken = { rows: 1, unknown_orders: 0, first_unknown: [], state: "applied" };
    expect(await take(line)).toEqual({ ...taken, new: 1, same: 0 });
    expect(await preview(line)).toMatchObject({ rows: { new: 0, replaces: 0, same: 1 } });
    expect(await take(line)).toEqual({ ...taken, new: 0, same: 1 });
    expect(await listed("o-1")).toEqual([[1_000, 300, TIME, 700]]);
  });

  test("tells refunds of unknown orders, which wait for their orders and show nowhere until then", async () => {
    await pays("o-2", 1_000);
    await server.settle();
    const lines = [`o-2,,${TIME}`, `later,2.50,${TIME}`, `never,1,${TIME}`];
    const unknown = { unknown_orders: 2, first_unknown: ["later", "never"] };
    expect(await preview(...lines)).toMatchObject({ rows: { new: 3 }, problem_count: 0, ...unknown });
    expect(await take(...lines)).toMatchObject({ rows: 3, new: 3, ...unknown });
    expect(await listed("o-2")).toEqual([[1_000, 1_000, TIME, 0]]);
    expect(await listed("later")).toEqual([]);
    await pays("later", 1_000);
    await server.settle();
    expect(await listed("later")).toEqual([[1_000, 250, TIME, 750]]);
  });

  test("of one app leaves an order of the same id in another app alone", async () => {
    const other = await server.createApp();
    await register(server, other, "payer", {});
    await collect(server, other, "payer", payment("o-shared", 1_000));
    await server.settle();
    expect(await take(`o-shared,1,${TIME}`)).toMatchObject({ unknown_orders: 1, first_unknown: ["o-shared"] });
    const sums = "select sum(cents)::int as cents from refund where trace_id = 'o-shared' group by app_id";
    expect(await tables.query(sums)).toEqual([{ cents: 0 }]);
  });

  test("with a wrong line is refused as a whole", async () => {
    const lines = [`o-3,1,${TIME}`, `o-3,-1,${TIME}`, "o-3,1,soon"];
    expect((await preview(...lines)).problems.map(({ line }: Row) => line)).toEqual([3, 4]);
    const answer = await admin.post("refund/import", fileOf(...lines));
    expect(answer).toMatchObject({ code: 1004, msg: expect.stringMatching(/^Nothing was imported; line 3: amount/) });
    expect(await tables.query("select 1 from refund where app_id = $1 and trace_id = 'o-3'", [app.appId])).toEqual([]);
  });

  test("is imported by an admin only, for an app, and the audit log names no order", async () => {
    expect(await analyst.post("refund/import", fileOf(`o,1,${TIME}`))).toMatchObject({ code: 2004 });
    expect(await analyst.post("refund/import/preview", fileOf(`o,1,${TIME}`))).toMatchObject({ code: 0 });
    const { app_id: _, ...nowhere } = fileOf(`o,1,${TIME}`);
    expect(await admin.post("refund/import", nowhere)).toMatchObject({ code: 1004, msg: "app_id is missing." });
    await take(`secret-order,1,${TIME}`);
    const noted = await tables.query(
      "select details from audit_log where app_id = $1 and action = 'refund/import' order by audit_id desc limit 1",
      [app.appId],
    );
    expect(noted).toEqual([{ details: { app_id: app.appId, rows: 1, unknown_orders: 1 } }]);
  });
});
