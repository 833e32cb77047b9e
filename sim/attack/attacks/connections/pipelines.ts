import { setTimeout as sleep } from "node:timers/promises";
import type { Attack } from "../../attack.ts";

const REQUESTS = [
  "GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n",
  "GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n",
  "GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n",
  "POST /event_center/api/v1/event/collect/?access_token=none HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}",
];
const AT_ONCE = 500;
const STAY_MS = 300;

export const pipelines: Attack = {
  name: "pipelines",
  point: "8",
  by: "an outsider",
  what: `${AT_ONCE} requests on one connection at a time without waiting, whose answers nobody reads`,
  holds: "who has too many under way is cut off",
  isCrowd: true,
  async strike({ caller, repeat }) {
    await repeat(16, async (number) => {
      const socket = await caller.socket();
      if (!socket) return;
      socket.pause();
      const bytes = REQUESTS[number % REQUESTS.length]!.repeat(AT_ONCE);
      socket.write(bytes);
      caller.bytesSent += bytes.length;
      await sleep(STAY_MS);
      socket.destroy();
    });
  },
};
