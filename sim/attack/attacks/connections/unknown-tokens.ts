import { setTimeout as sleep } from "node:timers/promises";
import type { Attack } from "../../attack.ts";

const PATHS = ["event/collect/", "user/register/", "user/get/"];
const SENT_BYTES = 1_024;
const ANSWER_MS_MAX = 5_000;

export const unknownTokens: Attack = {
  name: "unknown_tokens",
  point: "8",
  by: "an outsider",
  what: "bodies of 2 MB for tokens that nobody has, of which only the first kilobyte ever comes",
  holds: "refused before the body is there",
  async strike({ caller, random, repeat, isOver, hold }) {
    await repeat(64, async (number) => {
      const socket = await caller.socket();
      if (!socket) return;
      let heard = "";
      socket.on("data", (piece) => (heard += String(piece)));
      const path = `/event_center/api/v1/${PATHS[number % PATHS.length]}?access_token=${random.hex(32)}`;
      socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 2000000\r\n\r\n${"{".padEnd(SENT_BYTES, " ")}`);
      caller.bytesSent += SENT_BYTES;
      for (let waitedMs = 0; heard === "" && !socket.destroyed && waitedMs < ANSWER_MS_MAX; waitedMs += 50) {
        if (isOver() && waitedMs > ANSWER_MS_MAX / 2) break;
        await sleep(50);
      }
      const isAnswered = heard !== "" || socket.destroyed;
      caller.count(isAnswered ? heard.slice(9, 12) || "closed" : "none");
      hold(isAnswered, `${PATHS[number % PATHS.length]} waits for a body whose token nobody has`);
      socket.destroy();
    });
  },
};
