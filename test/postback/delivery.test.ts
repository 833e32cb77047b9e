import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startKuaishou } from "../../sim/platforms/kuaishou.ts";
import { startTencent } from "../../sim/platforms/tencent.ts";
import { storeAccount } from "../../src/db/platform-account.ts";
import { openVault } from "../../src/vault.ts";
import { TouchpointProcess } from "../support/touchpoint.ts";

let server: TouchpointProcess;
let tencent: Awaited<ReturnType<typeof startTencent>>;
let kuaishou: Awaited<ReturnType<typeof startKuaishou>>;

beforeAll(async () => {
  [server, tencent, kuaishou] = await Promise.all([TouchpointProcess.start(), startTencent({}), startKuaishou({})]);
});

afterAll(async () => {
  await tencent.close();
  await kuaishou.close();
  expect(await server.stop()).toBe(0);
});

test("an attributed payment reaches the platform that brought the user, and the order says so", async () => {
  const app = await server.createApp();
  const pool = server.database();
  const vault = openVault({ dataDir: server.dataDir, secretKey: "" });
  const account = {
    appId: app.appId,
    postbacks: true,
    costs: false,
    ratePerS: 100,
    secrets: {},
    tokenExpiresAtMs: null,
  };
  const rest = { advertiserId: "", lastError: "", lastErrorAtMs: null };
  const settings = { callback_hosts: "127.0.0.1" };
  await storeAccount(pool, vault, { ...account, ...rest, adPlatform: "kuaishou", settings }, 0);
  const click = new URLSearchParams({
    app_id: String(app.appId),
    company: "kuaishou",
    callback: kuaishou.callbackUrl("token1"),
  });
  await server.get("/event_center/api/v1/event/click/", Object.fromEntries(click));
  await server.register(app, "u", { ad_data: { callback: "token1", ksUnitId: "1" } });
  await server.collect(app, "u", [
    {
      type: "track",
      event: "$PayEvent",
      time: Date.now(),
      properties: { $pay_amount: 600, $order_id: "o1", $pay_type: "CNY" },
    },
  ]);
  await vi.waitFor(() => expect(kuaishou.accepted).toHaveLength(3), { timeout: 10_000 });
  await vi.waitFor(async () => {
    const { rows } = await pool.query("select postback_status, back_cents, pass_status from orders");
    expect(rows).toEqual([{ postback_status: 1, back_cents: "600", pass_status: 1 }]);
  });
  await pool.end();
});
