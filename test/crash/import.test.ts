import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cli, cliJson, expectFailure } from "../cli/run.ts";
import { eventually } from "../support/patience.ts";
import { prepareDataDir } from "../support/prepared.ts";
import { cleanUp, TouchpointProcess } from "../support/touchpoint.ts";

const START = Date.UTC(2021, 0, 1);
const [EVENTS, CLIENTS] = [6_000, 2_000];
/** Two of the blocks that an import sends. */
const PADDING = "x".repeat(800);

function historyIn(folder: string): string {
  const file = join(folder, "history.ndjson");
  const lines = Array.from({ length: EVENTS }, (_, index) =>
    JSON.stringify({
      client_id: `c${index % CLIENTS}`,
      type: "track",
      event: "e",
      time: START + index * 1_000,
      properties: { index, PADDING },
    }),
  );
  writeFileSync(file, `${lines.join("\n")}\n`);
  return file;
}

test("an import that a kill -9 of the server interrupts can be run again, and every event and client is there once", async () => {
  const dataDir = prepareDataDir();
  let server = await TouchpointProcess.start({ dataDir });
  try {
    const app = await server.createApp();
    const args = ["import", historyIn(dataDir), "--app", String(app.appId)];
    const interrupted = cli(dataDir, args);
    await eventually(async () => expect((await server.get("/progress")).data.durable).toBeGreaterThan(1_000_000));
    await server.kill();
    const { code, stderr } = await interrupted;
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringMatching(/Run the import again/) });
    // Without a server the command would start one itself, in this process.
    server = await TouchpointProcess.start({ dataDir });
    const { registered, ...result } = await cliJson(dataDir, args);
    expect(result).toEqual({ events: EVENTS, rejected: 0, reasons: {} });
    expect(registered, "some clients were registered by the first attempt").toBeLessThan(CLIENTS);
    const pool = server.database();
    const { rows } = await pool.query(
      `select (select count(*)::int from event where app_id = $1) as events,
        (select count(distinct properties_text::json->>'index')::int from event where app_id = $1) as different,
        (select count(*)::int from user_account where app_id = $1 and is_history and registered_at_ms < $2) as users,
        (select sum(events)::int from ledger_minute where app_id = $1 and outcome = 'stored') as stored,
        (select sum(case outcome when 'received' then events else -events end)::int from ledger_minute where app_id = $1) as difference`,
      [app.appId, START + CLIENTS * 1_000],
    );
    await pool.end();
    expect(rows).toEqual([{ events: EVENTS, different: EVENTS, users: CLIENTS, stored: EVENTS, difference: 0 }]);
    expectFailure(await cli(dataDir, [...args, "--url", "http://127.0.0.1:9"]), /lost at line 1 \(.+\)/);
  } finally {
    await server.kill();
    await cleanUp(dataDir);
  }
});
