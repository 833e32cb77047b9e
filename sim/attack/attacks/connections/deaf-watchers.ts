import type { Attack } from "../../attack.ts";

const WATCHERS = 150;

export const deafWatchers: Attack = {
  name: "deaf_watchers",
  point: "8",
  by: "somebody inside",
  what: `${WATCHERS} watch the live stream and read nothing, while large calls are shown in it`,
  holds: "what waits for a watcher is bounded, and so is their number",
  async strike({ target, caller, repeat, isOver }) {
    const { accessToken, appId } = target.own;
    const path = `/admin/api/v1/live/stream?app_id=${appId}`;
    const head = `GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${target.inside.adminToken}\r\n\r\n`;
    const sockets = await Promise.all(Array.from({ length: WATCHERS }, () => caller.socket()));
    for (const socket of sockets) {
      socket?.pause();
      socket?.write(head);
    }
    await caller.register(accessToken, "watched");
    const event = { type: "track", event: "e", time: Date.now(), properties: { text: "x".repeat(2_000) } };
    const body = { client_id: "watched", event_list: Array.from({ length: 100 }, () => event) };
    await repeat(4, async () => {
      if (!isOver())
        await caller.collect(accessToken, "event/collect/", body, { headers: { "turbo-debug-mode": "1" } });
    });
    for (const socket of sockets) socket?.destroy();
  },
};
