import { expect, test } from "vitest";
import { sharedServer } from "../support/shared-server.ts";

const server = sharedServer();

test("an event of a registered client is stored, and its user can be looked up", async () => {
  const app = await server.createApp();
  await server.register(app, "u1");
  const answer = await server.collect(app, "u1", [
    { type: "track", event: "level_up", time: Date.now(), properties: { level: 3 } },
  ]);
  expect(answer).toMatchObject({ status: 200, code: 0, msg: "success", data: {}, extra: {} });
  await server.settle();
  const pool = server.database();
  const { rows } = await pool.query("select event, properties from event where app_id = $1", [app.appId]);
  await pool.end();
  expect(rows).toMatchObject([{ event: "level_up", properties: { level: 3, $ip: "127.0.0.1" } }]);
});
