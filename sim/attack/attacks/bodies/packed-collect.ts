import type { Attack } from "../../attack.ts";
import { PACKED } from "../../caller.ts";
import { collectBombs } from "./bombs.ts";

const CLIENT = "bomber";

export const packedCollect: Attack = {
  name: "packed_collect",
  point: "1",
  by: "the owner of another app",
  what: "bodies that may be packed, with 16 MiB of empty events, nested or wide properties, to event collect",
  holds: "read beside the event loop, or refused before anything is made of it",
  async strike({ target, caller, repeat }) {
    const { accessToken } = target.own;
    await caller.register(accessToken, CLIENT);
    const all = collectBombs(CLIENT);
    await repeat(4, async (number) => {
      await caller.collect(accessToken, "event/collect/", all[number % all.length]!.bytes, { headers: PACKED });
    });
  },
};
