import { type App, loadApps } from "../src/db/app.ts";
import { embeddedConnection } from "../src/db/engine/embedded-role.ts";
import { openPool } from "../src/db/engine/pool.ts";
import { createLog } from "../src/log.ts";
import { openVault } from "../src/vault.ts";
import { CLIENTS, clientName } from "./bodies.ts";

const AT_ONCE = 64;

/** The app that the first start creates. */
export async function demoApp(dataDir: string): Promise<App> {
  const log = createLog("error");
  const pool = openPool(embeddedConnection(dataDir)!, { log, connectionsMax: 1, name: "bench" });
  const [app] = await loadApps(pool, openVault({ dataDir, secretKey: "" }));
  await pool.end();
  return app!;
}

/** Registers all clients that the bodies name. */
export async function registerClients(port: number, token: string, clients = CLIENTS): Promise<void> {
  let next = 0;
  const lane = async () => {
    for (let number = next++; number < clients; number = next++) {
      const body = JSON.stringify({ client_id: clientName(number), name: "n", channel: "bench", version: 1 });
      const url = `http://127.0.0.1:${port}/event_center/api/v1/user/register/?access_token=${token}`;
      const answer = (await (await fetch(url, { method: "POST", body })).json()) as { code: number; msg: string };
      if (answer.code !== 0) throw new Error(answer.msg);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}
