import { fuzz, oneOfEach } from "../../../fuzz/fuzz.ts";
import { FUZZ_CLIENTS, fuzzWorld } from "../../../fuzz/world.ts";
import type { Attack } from "../../attack.ts";

const ROUND_S = 2;
const REQUESTS = 20;

export const fuzzer: Attack = {
  name: "fuzz",
  point: "all",
  by: "somebody inside",
  what: "requests with one thing wrong, and random bytes, at every endpoint of the OpenAPI file, with every credential",
  holds: "each answer is the envelope with a code of the list, and none is the server's fault",
  async strike({ target, caller, random, repeat, hold }) {
    const { own, inside, developers, url } = target;
    await Promise.all(FUZZ_CLIENTS.map((clientId) => caller.register(own.accessToken, clientId)));
    const keys = await caller.send({
      path: "/admin/api/v1/apps/keys",
      body: { app_id: own.appId },
      headers: { authorization: `Bearer ${inside.adminToken}` },
    });
    const { app_key } = (JSON.parse(keys.text) as { data: { app_key: string } }).data;
    const app = { ...own, appKey: app_key, timeZone: "Asia/Shanghai" };
    const world = fuzzWorld({ app, appKey: own.developerKey, adminToken: inside.adminToken, developers });
    await repeat(1, async () => {
      const seed = random.whole(1, 2 ** 31);
      const { requests, faults, codes } = await fuzz({ url, world, seed, seconds: ROUND_S, requestsMin: REQUESTS });
      caller.calls += requests;
      for (const [code, count] of codes) for (let one = 0; one < count; one += 1) caller.count(`- ${code}`);
      for (const { call, fault } of oneOfEach(faults))
        hold(false, `seed ${seed}: ${call.slice(0, 120)}: ${fault.slice(0, 200)}`);
    });
  },
};
