import { afterAll, beforeAll, expect, test } from "vitest";
import { fuzz, oneOfEach } from "../../sim/fuzz/fuzz.ts";
import { FUZZ_CLIENTS, fuzzWorld } from "../../sim/fuzz/world.ts";
import { REJECTIONS } from "../../src/errors.ts";
import { Reports } from "../http/report/reports.ts";
import { adminTokenOf } from "../support/admin-caller.ts";
import { cleanUp, TouchpointProcess } from "../support/touchpoint.ts";

const SEED = Number(process.env.FUZZ_SEED ?? 20_261_115);
/** By default each operation with each damage once; FUZZ_SECONDS runs it for longer. */
const SECONDS = Number(process.env.FUZZ_SECONDS ?? 0);
const MEMORY_BYTES_MAX = 900 * 1024 * 1024;

let server: TouchpointProcess;
let reports: Reports;
beforeAll(async () => {
  server = await TouchpointProcess.start({ env: { LOG_LEVEL: "info" } });
  reports = new Reports(server);
});
afterAll(async () => {
  await server.stop();
  await cleanUp(server.dataDir);
});

async function expectLedgersToAddUp(): Promise<void> {
  await server.settle();
  const pool = server.database();
  const { rows } = await pool.query(
    `select app_id, minute_ms, sum(events) filter (where outcome = 'received')::int as received,
       sum(events) filter (where outcome <> 'received')::int as told, array_agg(distinct outcome) as outcomes
     from ledger_minute group by 1, 2`,
  );
  expect(rows.length).toBeGreaterThan(0);
  const known = ["received", "stored", "duplicate", ...REJECTIONS];
  for (const row of rows) {
    expect(row.told).toBe(row.received);
    expect(row.outcomes.filter((outcome: string) => !known.includes(outcome))).toEqual([]);
  }
  const touches = await pool.query(
    "select sum(case when outcome = 'received' then events else -events end)::int as rest from touch_minute",
  );
  expect(touches.rows).toEqual([{ rest: 0 }]);
  const aside = await pool.query("select reason, encode(payload, 'escape') as payload from set_aside limit 5");
  expect(aside.rows, "what was acknowledged is understood").toEqual([]);
  await pool.end();
}

test("whatever is sent, the answer is HTTP with an envelope and no internal error, and the ledger adds up", async () => {
  const app = await server.createApp();
  const developer = await reports.developer();
  const spare = [await reports.developer(), await reports.developer()].map(({ developerId }) => developerId);
  for (const clientId of FUZZ_CLIENTS) await server.register(app, clientId);
  const admin = adminTokenOf(server);
  const world = fuzzWorld({ app, appKey: developer.appKey, adminToken: admin, developers: spare });
  const { operations, faults, codes } = await fuzz({
    url: server.url,
    world,
    seed: SEED,
    seconds: SECONDS,
    requestsMin: "each",
  });
  expect(operations).toBeGreaterThan(40);
  expect(oneOfEach(faults)).toEqual([]);
  // Otherwise the generator would only meet refusals.
  for (const code of [0, 1001, 1004, 1404, 1405, 1413]) expect(codes.get(code) ?? 0, `code ${code}`).toBeGreaterThan(0);
  expect(codes.get(0)!).toBeGreaterThan(100);
  expect(await server.get("/healthz")).toMatchObject({ code: 0 });
  expect(await server.register(app, "afterwards")).toMatchObject({ code: 0 });
  const figures = await (await fetch(`${server.url}/metrics`)).text();
  expect(Number(/^touchpoint_resident_memory_bytes (\S+)/m.exec(figures)?.[1])).toBeLessThan(MEMORY_BYTES_MAX);
  await expectLedgersToAddUp();
  expect(server.output).not.toContain('"level":"error"');
  // The last line may be incomplete.
  const lines = server.output.split("\n").slice(0, -1);
  for (const line of lines.filter((text) => text.startsWith("{"))) {
    expect(() => JSON.parse(line)).not.toThrow();
  }
});
