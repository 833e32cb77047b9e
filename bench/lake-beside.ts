import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { adminToken } from "../src/admin/session/admin-token.ts";
import type { EventsQuestion } from "../src/contract/analysis/events.ts";
import { SETTINGS } from "../src/settings.ts";
import { openVault } from "../src/vault.ts";
import { measureBeside } from "./beside.ts";
import { type Child, residentMb, type Setup, startServer } from "./children.ts";
import type { Figure } from "./figures.ts";
import { familyOf } from "./processor-time.ts";

const TRY_AGAIN_MS = 1_000;

type Asking = { server: Child; token: string; appId: number; question: EventsQuestion };

/** Collection while questions are asked one after the other, and the memory of the processes that answer them and write files. */
export async function measureQuestionsBeside(setup: Setup, question: EventsQuestion): Promise<Figure[]> {
  const { dataDir, app } = setup;
  const server = await startServer(setup.env);
  const token = adminToken(openVault({ dataDir, secretKey: "" }));
  const asking: Asking = { server, token, appId: app.appId, question };
  // The first files of a lake take a moment.
  while ((await ask(asking)).code !== 0) await sleep(TRY_AGAIN_MS);
  let memoryMb = 0;
  const work = async () => {
    const { code, msg } = await ask(asking);
    if (code !== 0) throw new Error(`A question was refused: ${msg}`);
    memoryMb = Math.max(memoryMb, ...enginesBelow(server.process.pid!).map(residentMb));
  };
  const rates = await measureBeside(setup, server, { sender: "beside questions", work });
  await server.stop();
  return [
    {
      name: "collection_beside_questions",
      what: "requests of 20 events beside questions",
      unit: "requests/s",
      ...rates,
      beside: "the same server without questions",
      target: "≥ 0.85",
    },
    {
      name: "lake_memory",
      what: "resident memory of the larger process of the lake",
      unit: "MB",
      ours: memoryMb,
      bare: SETTINGS.LAKE_MEMORY_BYTES.read(SETTINGS.LAKE_MEMORY_BYTES.fallback) / 1e6,
      beside: "the limit of its memory; the program itself takes 100 MB more",
      target: "",
    },
  ];
}

async function ask({ server, token, appId, question }: Asking): Promise<{ code: number; msg: string }> {
  const response = await fetch(`http://127.0.0.1:${server.port}/admin/api/v1/analysis/events`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ app_id: appId, question }),
  });
  return (await response.json()) as { code: number; msg: string };
}

/** The processes of the engine below a server. */
function enginesBelow(pid: number): number[] {
  return familyOf(pid)
    .map((one) => one.pid)
    .filter((one) => readFileSync(`/proc/${one}/cmdline`, "utf8").includes("engine-worker"));
}
