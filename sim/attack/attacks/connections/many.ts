import type { Attack } from "../../attack.ts";

const CLIENTS = 3_000;

export const manyConnections: Attack = {
  name: "many_connections",
  point: "8",
  by: "an outsider",
  what: `${CLIENTS} connections ask something small and stay open`,
  holds: "others still get in",
  isCrowd: true,
  async strike({ caller, repeat, over }) {
    await repeat(CLIENTS, async () => {
      const socket = await caller.socket();
      if (!socket) return;
      socket.once("data", (piece) => caller.count(String(piece).slice(9, 12)));
      const closed = new Promise<void>((resolve) => socket.once("close", resolve));
      socket.write("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n");
      await Promise.race([over, closed]);
      socket.destroy();
    });
  },
};
