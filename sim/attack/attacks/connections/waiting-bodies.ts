import type { Attack } from "../../attack.ts";

const CLIENTS = 300;
const BYTES = 1_900_000;

export const waitingBodies: Attack = {
  name: "waiting_bodies",
  point: "8",
  by: "the owner of another app",
  what: `${CLIENTS} connections send bodies of 1.9 MB but for the last byte, and stay`,
  holds: "memory stays bounded: bodies in flight have a budget, all together",
  isCrowd: true,
  async strike({ target, caller, repeat, over }) {
    const path = `/event_center/api/v1/event/collect/?access_token=${target.own.accessToken}`;
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${BYTES + 1}\r\n\r\n`;
    const body = Buffer.alloc(BYTES, "{");
    await repeat(CLIENTS, async () => {
      const socket = await caller.socket();
      if (!socket) return;
      socket.on("data", (piece) => caller.count(String(piece).slice(9, 12)));
      const closed = new Promise<void>((resolve) => socket.once("close", resolve));
      socket.write(head);
      socket.write(body);
      caller.bytesSent += BYTES;
      await Promise.race([over, closed]);
      socket.destroy();
    });
  },
};
