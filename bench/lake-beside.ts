import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { adminToken } from "../src/admin/session/admin-token.ts";
import type { EventsQuestion } from "../src/contract/analysis/events.ts";
import { SETTINGS } from "../src/settings.ts";
import { openVault } from "../src/vault.ts";
import { type Child, residentMb, type Setup, startServer } from "./children.ts";
import { CONNECTIONS, ROUNDS } from "./comparison.ts";
import { type Figure, median } from "./figures.ts";
import { acceptedLoad } from "./generator.ts";
import { collectRequests } from "./intake.ts";
import { familyOf } from "./processor-time.ts";

const EVENTS_PER_BODY = 20;
const TRY_AGAIN_MS = 1_000;

type Asking = { server: Child; token: string; appId: number; question: EventsQuestion };

/**
 * Requests per second while questions are asked one after the other, beside the same requests alone, and the memory that
 * the questions take. The server is started as users start it.
 */
export async function measureBeside(setup: Setup, question: EventsQuestion): Promise<Figure[]> {
  const { sizes, generator, dataDir, app } = setup;
  const server = await startServer(setup.env);
  const token = adminToken(openVault({ dataDir, secretKey: "" }));
  const asking: Asking = { server, token, appId: app.appId, question };
  const requests = collectRequests(setup, "beside questions", EVENTS_PER_BODY);
  const load = async (seconds: number) =>
    (await acceptedLoad({ generator, server, requests, connections: CONNECTIONS, seconds })).perSecond;
  await untilAnswered(asking);
  await load(sizes.warmUpSeconds);
  let memoryMb = 0;
  const rounds: { alone: number; beside: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const alone = await load(sizes.seconds / ROUNDS);
    const questions = askOn(asking);
    const beside = await load(sizes.seconds / ROUNDS);
    memoryMb = Math.max(memoryMb, ...enginesBelow(server.process.pid!).map(residentMb));
    await questions.end();
    rounds.push({ alone, beside });
  }
  await server.stop();
  return [
    besideFigure(rounds),
    {
      name: "lake_memory",
      what: "resident memory of the process that answers questions",
      unit: "MB",
      ours: memoryMb,
      bare: SETTINGS.LAKE_MEMORY_BYTES.read(SETTINGS.LAKE_MEMORY_BYTES.fallback) / 1e6,
      beside: "the limit of its memory, without the program itself",
      target: "",
    },
  ];
}

function besideFigure(rounds: readonly { alone: number; beside: number }[]): Figure {
  const ratios = rounds.map(({ alone, beside }) => beside / alone);
  const typical = rounds[ratios.indexOf(median(ratios))]!;
  return {
    name: "lake_beside",
    what: `requests of ${EVENTS_PER_BODY} events while questions are asked`,
    unit: "requests/s",
    ours: typical.beside,
    bare: typical.alone,
    beside: "the same requests alone",
    target: "≥ 0.85",
    spread: { least: Math.min(...ratios), most: Math.max(...ratios) },
  };
}

/** Asks until it is told to end. A question that is refused fails the measurement. */
function askOn(asking: Asking): { end: () => Promise<void> } {
  let isOver = false;
  const asked = (async () => {
    while (!isOver) {
      const answer = await ask(asking);
      if (answer.code !== 0) throw new Error(`A question was refused: ${answer.msg}`);
    }
  })();
  // It is awaited in the end.
  asked.catch(() => {});
  return {
    end: () => {
      isOver = true;
      return asked;
    },
  };
}

/** Events that are not in files yet are no part of the answer, so this waits only for the first files. */
async function untilAnswered(asking: Asking): Promise<void> {
  while ((await ask(asking)).code !== 0) await sleep(TRY_AGAIN_MS);
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
