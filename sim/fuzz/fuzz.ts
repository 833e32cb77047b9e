import { elapsedMs } from "../../src/clock.ts";
import { CODES } from "../../src/errors.ts";
import { type FuzzAnswer, FuzzClient, faultOf } from "./answer.ts";
import { type OpenApi, type Operation, operationsOf } from "./operation.ts";
import { Random } from "./random.ts";
import { DAMAGES, type FuzzRequest, fuzzRequest, type World } from "./request.ts";

const AT_ONCE = 4;
const ALL_CODES: ReadonlySet<number> = new Set(Object.values(CODES).map(({ code }) => code));

export type FuzzFault = { call: string; damage: string; fault: string; sent: string };
export type Fuzzed = { operations: number; requests: number; faults: FuzzFault[]; codes: Map<number, number> };

export type FuzzOptions = {
  url: string;
  world: World;
  seed: number;
  /** Runs this long, and until this many requests were made: a number, or each operation with each damage. */
  seconds: number;
  requestsMin: "each" | number;
};

/** Sends every operation of the OpenAPI file with every damage, over and over, until the time is up. */
export async function fuzz(options: FuzzOptions): Promise<Fuzzed> {
  const openApi = (await (await fetch(`${options.url}/openapi.json`)).json()) as OpenApi;
  const operations = operationsOf(openApi);
  const fuzzed: Fuzzed = { operations: operations.length, requests: 0, faults: [], codes: new Map() };
  const client = new FuzzClient(options.url, AT_ONCE);
  const requests = requestsOf(operations, options);
  const worker = async () => {
    for (const request of requests) {
      const answer = await client.send(request).catch((error: Error) => error);
      judge(fuzzed, request, answer);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  client.close();
  return fuzzed;
}

function* requestsOf(operations: readonly Operation[], options: FuzzOptions): Generator<FuzzRequest> {
  const { world, seed, seconds } = options;
  const requestsMin = options.requestsMin === "each" ? operations.length * DAMAGES.length : options.requestsMin;
  const random = new Random(seed);
  const startedMs = elapsedMs();
  for (let made = 0; ; ) {
    for (const damage of DAMAGES) {
      for (const operation of operations) {
        made += 1;
        if (made > requestsMin && elapsedMs() - startedMs > seconds * 1000) return;
        // Bombs cost our time rather than the server's, so a few are enough.
        if (damage === "gzip_bomb" && random.chance(0.7)) continue;
        yield fuzzRequest(operation, damage, random, world);
      }
    }
  }
}

function judge(fuzzed: Fuzzed, request: FuzzRequest, answer: FuzzAnswer | Error): void {
  fuzzed.requests += 1;
  const fault = answer instanceof Error ? `no answer: ${answer.message}` : faultOf(request, answer, ALL_CODES);
  if (!(answer instanceof Error)) {
    const code = Number(/^\{[^{]*"code":(\d+)/.exec(answer.body)?.[1] ?? Number.NaN);
    if (!Number.isNaN(code)) fuzzed.codes.set(code, (fuzzed.codes.get(code) ?? 0) + 1);
  }
  if (!fault) return;
  const { method, url, damage, body, headers } = request;
  const sent = `${JSON.stringify(headers)} ${body?.subarray(0, 500).toString("latin1")}`;
  fuzzed.faults.push({ call: `${method} ${url.slice(0, 300)}`, damage, fault, sent });
}

/** One of each fault: many requests find the same one. */
export function oneOfEach(faults: readonly FuzzFault[]): FuzzFault[] {
  const kinds = new Map(faults.map((one) => [`${one.call.split("?")[0]} ${one.fault}`, one]));
  return [...kinds.values()].slice(0, 10);
}
