import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, inject, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { collect, payment, register } from "../http/report/list-people.ts";
import { sharedServer } from "../support/shared-server.ts";
import { cli, cliJson, expectFailure, expectWrongArguments } from "./run.ts";
import { withStandIn } from "./stand-in.ts";

const server = sharedServer();
let app: App;
beforeAll(async () => {
  app = await server.createApp();
  await register(server, app, "payer", {});
  await collect(server, app, "payer", payment('-o,"1"', 1_000));
  await server.settle();
});

const of = (path: string) => ["refund", "import", path, "--app", String(app.appId)];

function fileOf(...lines: string[]): string {
  const file = join(inject("runDir"), `refunds-${app.appId}.csv`);
  writeFileSync(file, `order_id,amount,time\n${lines.join("\n")}\n`);
  return file;
}

test("refunds are imported from a file, unknown orders are named, and a second import changes nothing", async () => {
  const file = fileOf('"-o,""1""",3,2025-03-20 10:00:00', "nowhere,1,2025-03-20 10:00:00");
  const unknown = { unknown_orders: 1, first_unknown: ["nowhere"], state: "applied" };
  expect(await cliJson(server.dataDir, of(file))).toEqual({ rows: 2, new: 2, same: 0, ...unknown });
  const again = await cli(server.dataDir, of(file));
  expect(again.stdout).toBe(
    "0 refunds were imported; 2 were stored already.\n1 refer to unknown orders and wait for them: nowhere.\n",
  );
  expect(again.stderr).toContain("Importing 100 %");
});

test("what is wrong is said in one sentence, and nothing is imported", async () => {
  const wrong = fileOf("a,1,2025-03-20 10:00:00", "b,-1,2025-03-20 10:00:00");
  expectFailure(await cli(server.dataDir, of(wrong)), /^Nothing was imported; line 3: amount must be a number/);
  expectFailure(await cli(server.dataDir, of("/nowhere/refunds.csv")), /^The file cannot be read/);
  expectWrongArguments(await cli(server.dataDir, ["refund", "import", "x"]), /--app/);
});

test("an import that the server asks to wait says once why, and goes on", async () => {
  const taken = { rows: 1, new: 1, same: 0, unknown_orders: 0, first_unknown: [], state: "applied" };
  let asked = 0;
  const result = await withStandIn(
    (_, response) => {
      asked += 1;
      response.statusCode = asked < 3 ? 503 : 200;
      response.end(JSON.stringify(asked < 3 ? { code: 1, msg: "The disk is full." } : { code: 0, data: taken }));
    },
    (address) => cli(server.dataDir, [...of(fileOf("a,1,2025-03-20 10:00:00")), "--url", address]),
  );
  expect(result).toMatchObject({ code: 0, stdout: "1 refunds were imported; 0 were stored already.\n" });
  expect(result.stderr.match(/Waiting.*/g)).toEqual(["Waiting: The disk is full."]);
});
