import type { Attack } from "../../attack.ts";

const METHODS = ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "PROPFIND"];
const METRICS_BYTES_MAX = 200_000;

export const unknownPaths: Attack = {
  name: "unknown_paths",
  point: "8",
  by: "an outsider",
  what: "paths that do not exist, folders upwards, strange methods and escapes",
  holds: "1404 or 1405, nothing outside the console's folder is ever read, and the figures do not grow with every path",
  async strike({ caller, random, repeat, hold }) {
    const up = [
      "/console/..%2f..%2f..%2fetc/passwd",
      "/console/../../package.json",
      "/console/%2e%2e/%2e%2e/etc/passwd",
      "/..;/x",
    ];
    await repeat(32, async (number) => {
      const path =
        number % 5 === 0 ? up[number % up.length]! : `/${random.hex(12)}/${random.hex(random.whole(1, 400))}`;
      const reply = await caller.send({ method: random.pick(METHODS), path, from: "198.51.100.40" });
      hold(!/root:x:|"scripts"/.test(reply.text), `${path} shows a file`);
    });
  },
  async check({ stage }) {
    const { length } = await (await fetch(`${stage.target.url}/metrics`)).text();
    return length < METRICS_BYTES_MAX ? [] : [`the figures have grown to ${length} bytes`];
  },
};
