import { setTimeout as sleep } from "node:timers/promises";
import type { Attack } from "../../attack.ts";

const CLIENTS = 400;
const DRIP_MS = 200;
const PATH = "/event_center/api/v1/event/collect/";

const HALVES: readonly string[] = [
  "POST",
  `POST ${PATH} HTTP/1.1\r\nhost: x\r\nx: `,
  `POST ${PATH} HTTP/1.1\r\nhost: x\r\ncontent-length: 100000\r\n\r\n{"client_id":`,
  `POST ${PATH} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"a"`,
];

export const slowHeads: Attack = {
  name: "slow_heads",
  point: "8",
  by: "an outsider",
  what: `${CLIENTS} connections send half a request, then a byte now and then`,
  holds: "they cost nobody anything, and are cut off in the end",
  isCrowd: true,
  async strike({ caller, random, repeat, isOver }) {
    await repeat(CLIENTS, async (number) => {
      const socket = await caller.socket();
      if (!socket) return void (await sleep(DRIP_MS));
      socket.resume();
      socket.write(HALVES[number % HALVES.length]!);
      while (!isOver() && !socket.destroyed) {
        await sleep(DRIP_MS);
        if (random.chance(0.5)) socket.write("x");
      }
      socket.destroy();
    });
  },
};
