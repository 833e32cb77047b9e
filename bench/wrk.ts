import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { LoadResult } from "./load.ts";
import type { Requests, Template } from "./template.ts";

type WrkLoad = { port: number; requests: Requests; connections: number; seconds: number; perSecond?: number };

/** What the script prints at the end. */
type Summary = { requests: number; us: number; failures: number; p50Us: number; p99Us: number };

const MARK = "touchpoint-summary ";

/** Keeps connections busy with wrk, which needs a tenth of the processor time of a generator in Node. */
export async function runWrk({ port, requests, connections, seconds, perSecond }: WrkLoad): Promise<LoadResult> {
  const folder = mkdtempSync(join(tmpdir(), "touchpoint-wrk-"));
  try {
    const script = join(folder, "load.lua");
    // Each connection waits between an answer and its next request, so the rate is a little lower than asked for.
    const delayMs = perSecond === undefined ? undefined : (connections * 1000) / perSecond;
    writeFileSync(script, scriptOf(requests.template, { first: requests.take(0), delayMs }));
    const wholeSeconds = Math.max(1, Math.round(seconds));
    const { stdout } = await promisify(execFile)("wrk", [
      ...["--threads", "1", "--connections", String(connections), "--duration", `${wholeSeconds}s`],
      ...["--timeout", "60s", "--script", script, `http://127.0.0.1:${port}`],
    ]);
    const summary = readSummary(stdout);
    // Those still on their way at the end were made too.
    requests.take(summary.requests + connections);
    const took = summary.us / 1e6;
    return {
      requests: summary.requests,
      failures: summary.failures,
      seconds: took,
      perSecond: summary.requests / took,
      p50Ms: summary.p50Us / 1000,
      p99Ms: summary.p99Us / 1000,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function readSummary(output: string): Summary {
  const line = output.split("\n").find((one) => one.startsWith(MARK));
  if (!line) throw new Error(`wrk did not finish:\n${output}`);
  return JSON.parse(line.slice(MARK.length)) as Summary;
}

/** A script that makes the same requests as `Requests`. */
export function scriptOf({ pieces, slots }: Template, how: { first: number; delayMs: number | undefined }): string {
  const numbers = slots.map(
    ({ digits, perRequest, index, divide, modulo, offset }) =>
      `{"%0${digits}.0f",${[perRequest, index, divide, modulo, offset].join(",")}}`,
  );
  return `local text = {${pieces.map((piece) => `${luaText(piece)},"",`).join("")}}
local slots = {${numbers.join(",")}}
local number = ${how.first}
local floor, format, concat = math.floor, string.format, table.concat
function request()
  for at = 1, #slots do
    local slot = slots[at]
    text[at * 2] = format(slot[1], slot[6] + floor((number * slot[2] + slot[3]) / slot[4]) % slot[5])
  end
  number = number + 1
  return concat(text)
end
${how.delayMs === undefined ? "" : `function delay() return math.random(0, ${Math.round(2 * how.delayMs)}) end\n`}function done(summary, latency)
  local e = summary.errors
  local failures = e.connect + e.read + e.write + e.status + e.timeout
  io.write(format('${MARK}{"requests":%d,"us":%d,"failures":%d,"p50Us":%d,"p99Us":%d}\\n', summary.requests, summary.duration, failures, latency:percentile(50), latency:percentile(99)))
end
`;
}

function luaText(text: string): string {
  return `"${text.replace(/[\\"]/g, "\\$&").replaceAll("\r", "\\r").replaceAll("\n", "\\n")}"`;
}
