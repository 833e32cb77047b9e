import { afterAll, beforeAll, expect, test } from "vitest";
import { startOceanEngine } from "../../sim/platforms/ocean-engine.ts";
import { storeAccount } from "../../src/db/platform-account.ts";
import { openVault } from "../../src/vault.ts";
import { eventually } from "../support/patience.ts";
import { TouchpointProcess } from "../support/touchpoint.ts";

let server: TouchpointProcess;
let bytedance: Awaited<ReturnType<typeof startOceanEngine>>;

beforeAll(async () => {
  [server, bytedance] = await Promise.all([TouchpointProcess.start(), startOceanEngine({})]);
});

afterAll(async () => {
  await bytedance.close();
  expect(await server.stop()).toBe(0);
});

test("a postback skipped for want of the click's callback is sent once a late click brings it", async () => {
  const app = await server.createApp();
  const pool = server.database();
  const vault = openVault({ dataDir: server.dataDir, secretKey: "" });
  const account = { appId: app.appId, adPlatform: "bytedance", advertiserId: "", postbacks: true, costs: false };
  const settings = { url: `${bytedance.url}/api/v2/conversion` };
  const rest = {
    ratePerS: 0,
    secrets: {},
    tokenExpiresAtMs: null,
    refreshExpiresAtMs: null,
    authorisationId: null,
    lastError: "",
    lastErrorAtMs: null,
  };
  await storeAccount(pool, vault, { ...account, settings, ...rest }, 0);
  const clickedAtMs = Date.now() - 1_000;
  await server.register(app, "u", { ad_data: { clue_token: "clue1", promotion_id: "7001" } });
  const statuses = async () =>
    (await pool.query("select distinct status from postback where app_id = $1 order by 1", [app.appId])).rows;
  await eventually(async () => expect(await statuses()).toEqual([{ status: 3 }]));
  expect(bytedance.calls).toBe(0);
  await server.get("/event_center/api/v1/event/click/", {
    app_id: String(app.appId),
    company: "bytedance",
    promotion_id: "7001",
    callback: "clue1",
    ts: String(clickedAtMs),
  });
  await eventually(() =>
    expect(bytedance.accepted.map(({ key, code }) => `${key} ${code}`).sort()).toEqual([
      "clue1 active",
      "clue1 active_register",
    ]),
  );
  await eventually(async () => expect(await statuses()).toEqual([{ status: 1 }]));
  await pool.end();
});
